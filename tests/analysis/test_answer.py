"""What an answer hears, against autograd through the whole map and against the definition of the reach."""

import numpy as np
import pytest
import torch

from rnnviz.analysis.answer import answer
from rnnviz.cells import Elman
from rnnviz.results import Answer
from rnnviz.trace import unroll
from tests.making import KINDS, make, noise, parts


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lengths", [None, [5, 3]])
def test_it_is_the_derivative_of_the_answer(kind, lengths):
    cell, _ = make(kind, seed=2)
    W_y, x = noise(3, seed=8), noise(5, 2, 2, seed=1)
    found = answer(cell, unroll(cell, x, lengths=lengths), W_y, b_y=0.5)
    for row in range(2):
        steps = 5 if lengths is None else lengths[row]
        leaf = x[:steps, row].clone().requires_grad_()
        zero = torch.zeros(3, dtype=torch.float64)
        s = (zero, zero) if kind == "lstm" else zero
        flat = [torch.cat(parts(s)).requires_grad_()]
        for t in range(steps):
            s = tuple(flat[-1].chunk(len(parts(s)))) if kind == "lstm" else flat[-1]
            s = cell.step(leaf[t], s)
            flat.append(torch.cat(parts(s)))
        y = flat[-1][:3] @ W_y + 0.5
        by_x, *by_s = torch.autograd.grad(y, [leaf, *flat])
        assert found.value[row] == pytest.approx(y.item(), abs=1e-14)
        assert found.by_input[:steps, row] == pytest.approx(by_x.numpy(), abs=1e-13)
        assert (found.by_input[steps:, row] == 0).all()
        sizes = torch.stack(by_s).norm(dim=-1).log().numpy()
        assert found.log_by_state[: steps + 1, row] == pytest.approx(sizes, abs=1e-11)
        assert found.log_by_state[steps:, row] == pytest.approx(sizes[-1], abs=1e-11)


def test_the_reach_is_of_the_middle_sequence():
    log = np.log(np.array([[0.1, 1e-3, 1e-4], [0.5, 0.5, 0.005], [1, 1, 1]]))
    found = Answer(np.zeros(3), np.zeros((2, 3, 1)), log)
    assert np.exp(found.heard) == pytest.approx([1e-3, 0.5, 1])
    assert found.reach == 2
    even = Answer(np.zeros(2), np.zeros((2, 2, 1)), log[:, :2])
    assert np.exp(even.heard[0]) == pytest.approx(1e-3)  # the lower of two, never a mean with an exact zero


def test_an_answer_that_hears_nothing_has_no_reach():
    cell, _ = make("tanh")
    found = answer(cell, unroll(cell, noise(4, 1, 2)), torch.zeros(3, dtype=torch.float64))
    assert np.isneginf(found.log_by_state).all()
    assert found.reach == 0


@pytest.mark.parametrize(
    ("W_y", "b_y", "says"),
    [
        (np.zeros(3), 0.0, "W_y is a ndarray: it takes a tensor"),
        (noise(2), 0.0, r"W_y is \(2,\), torch.float64: it takes a tensor \[hidden\], here \[3\]"),
        (noise(3).float(), 0.0, r"W_y is \(3,\), torch.float32"),
        (noise(3), float("nan"), "b_y is nan: it takes a finite number"),
        (noise(3) / 0, 0.0, "W_y holds NaN or infinity"),
    ],
)
def test_what_does_not_fit_is_refused(W_y, b_y, says):
    cell, _ = make("tanh")
    with pytest.raises(ValueError, match=says):
        answer(cell, unroll(cell, noise(4, 1, 2)), W_y, b_y)


def one(weight, activation="linear", dtype=torch.float64):
    ones = torch.ones(1, 1, dtype=dtype)
    return Elman(W_x=ones, W_h=weight * ones, b=torch.zeros(1, dtype=dtype), activation=activation)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("weight", [0.5, 3.0])
@pytest.mark.parametrize("activation", ["linear", "tanh"])
def test_what_it_hears_is_right_far_outside_the_range_of_floats(dtype, weight, activation):
    cell = one(weight, activation, dtype)
    found = answer(cell, unroll(cell, torch.zeros(2000, 1, 1, dtype=dtype)), torch.ones(1, dtype=dtype))
    lags = np.arange(2000, -1, -1)
    assert found.log_by_state[:, 0] == pytest.approx(lags * np.log(weight), rel=1e-5, abs=1e-6)
    assert found.reach == (7 if weight < 1 else None)
    # dy/dx itself is a plain number: beyond the range it is 0 or infinite
    assert found.by_input[0, 0, 0] == (0 if weight < 1 else np.inf)


def test_a_trace_that_broke_hears_nothing():
    cell = one(3.0)
    trace = unroll(cell, torch.ones(1000, 1, 1, dtype=torch.float64))
    with pytest.raises(ValueError, match="the trace is not finite from step 6"):
        answer(cell, trace, torch.ones(1, dtype=torch.float64))
