"""A nudge of the state, against the slow definition of what is left of it, and the two pages' ways to ask for one."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from rnnviz.analysis.jacobians import step_jacobians
from rnnviz.analysis.push import carry, nudge, push
from rnnviz.cells import Elman, build
from rnnviz.config import ACTIVATIONS, CellConfig, InputConfig
from rnnviz.inputs import sequence
from rnnviz.results import Push
from rnnviz.trace import Clamp, unroll
from tests import reference
from tests.making import KINDS, make, noise

STEPS, STEP = 12, 3


def direction(width, seed):
    """The unit vector that a nudge draws."""
    v = torch.empty(width, 1, dtype=torch.float64)
    v.normal_(generator=torch.Generator().manual_seed(seed + 1))
    return (v / v.norm())[:, 0].numpy()


def slowly(kind, weights, x, size, seed):
    """‖s'_t - s_t‖/size, two sequences run step by step by the slow cell."""
    p = {name: value.numpy() for name, value in weights.items()}
    s = np.zeros(len(weights["U_i"]) * 2 if kind == "lstm" else len(weights["W_h" if "W_h" in weights else "U_z"]))
    for t in range(STEP):
        s, _ = reference.step(kind, p, x[t, 0].numpy(), s)
    pushed = s + size * direction(len(s), seed)
    left = [np.linalg.norm(pushed - s) / size]
    for t in range(STEP, STEPS):
        s, _ = reference.step(kind, p, x[t, 0].numpy(), s)
        pushed, _ = reference.step(kind, p, x[t, 0].numpy(), pushed)
        left.append(np.linalg.norm(pushed - s) / size)
    return np.array(left)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_left_is_the_difference_of_two_runs(kind):
    cell, weights = make(kind)
    x = noise(STEPS, 1, 2)
    found = nudge(cell, unroll(cell, x), STEP, 0.1, seed=4)
    # the difference of two states of size 1 loses 16 - 1 digits to rounding: 1e-12 of what was pushed by 0.1
    assert found.left == pytest.approx(slowly(kind, weights, x, 0.1, 4), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_derivative_is_the_limit_of_small_nudges(kind):
    cell, _ = make(kind, scale=0.5)
    trace = unroll(cell, noise(STEPS, 1, 2))
    small = nudge(cell, trace, STEP, 1e-6)
    seen = small.left > 1e-6
    # the next term of Taylor's series is of the order of the nudge
    assert np.exp(small.predicted)[seen] == pytest.approx(small.left[seen], rel=1e-4)
    # no push keeps more than the norm, no norm is above its bound; a part in 1e12 is rounding
    assert (small.predicted <= small.log_norm + 1e-12).all()
    assert (small.log_norm <= small.log_bound + 1e-12).all()


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
def test_a_push_of_two_configs_is_a_nudge_of_what_they_describe(cell):
    config, inputs = CellConfig(cell=cell, inputs=4, hidden=5, seed=3), InputConfig(length=STEPS, seed=3)
    network = build(config)
    parts = nudge(network, unroll(network, sequence(inputs, 4)), STEP, 1e-3, 3)
    whole = push(config, inputs, STEP, 1e-3)
    for name in ("left", "predicted", "log_norm", "log_bound"):
        assert getattr(whole, name).tolist() == getattr(parts, name).tolist()
    assert whole.floor.tolist() == parts.floor.tolist()


def test_the_first_step_with_less_than_one_percent_left_is_marked():
    def of(left, floor=0.0):
        flat = np.zeros(len(left))
        return Push(1, 0.1, np.array(left), flat, flat, flat, None, np.full(len(left), floor)).gone

    assert of([1.0, 0.5, 0.009, 0.02]) == 2
    assert of([1.0, 0.5, 0.011]) is None
    assert of([1.0, 0.5, 0.02], floor=0.1) == 2  # what rounding alone could be is not heard
    assert of([1.0]) is None


@pytest.mark.parametrize(
    ("step", "size", "says"), [(-1, 0.1, "step is -1"), (STEPS, 0.1, f"from 0 to {STEPS - 1}"), (1, 0.0, "size is 0.0")]
)
def test_a_push_that_cannot_be_is_refused(step, size, says):
    cell, _ = make("tanh")
    with pytest.raises(ValueError, match=says):
        nudge(cell, unroll(cell, noise(STEPS, 1, 2)), step, size)


def test_a_trace_that_would_not_run_the_same_again_is_refused():
    cell, _ = make("lstm")
    for trace in (
        unroll(cell, noise(STEPS, 2, 2)),
        unroll(cell, noise(STEPS, 1, 2), lengths=torch.tensor([5])),
        unroll(cell, noise(STEPS, 1, 2), clamps=[Clamp("f", 1.0)]),
    ):
        with pytest.raises(ValueError, match="one sequence read freely"):
            nudge(cell, trace, STEP, 0.1)


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_carried_back_split_exactly_into_slopes_and_weights(kind):
    cell, weights = make(kind, seed=2)
    trace = unroll(cell, noise(STEPS, 2, 2))
    J = step_jacobians(cell, trace, batch=1)
    u = noise(J.shape[1], 5, seed=6)
    found = carry(cell, trace, u, batch=1)
    total, slopes = [0.0], [0.0]
    for t in range(STEPS - 1, -1, -1):
        before = u
        u = J[t].mT @ u
        total.append(total[-1] + float((u.norm(dim=0) / before.norm(dim=0)).log().mean()))
        if kind in ACTIVATIONS:
            W = weights["W_h"]
            through = torch.linalg.solve(W.mT, u)  # D u, by another way than the slopes
            slopes.append(slopes[-1] + float((through.norm(dim=0) / before.norm(dim=0)).log().mean()))
    assert found.total == pytest.approx(np.array(total), abs=1e-9)
    assert found.living == 5
    if kind in ACTIVATIONS:
        assert found.slopes == pytest.approx(np.array(slopes), abs=1e-9)
        finite = np.isfinite(found.total)
        assert (found.slopes + found.weights)[finite] == pytest.approx(found.total[finite], abs=1e-12)
    else:
        assert found.slopes is None
        assert found.weights is None


def test_what_ended_all_vectors_is_named():
    cell, _ = make("relu")
    dead = replace(cell, b=torch.full((3,), -100.0, dtype=torch.float64))
    found = carry(dead, unroll(dead, noise(4, 1, 2)), noise(3, 2))
    assert np.isneginf(found.total[1:]).all()
    assert np.isneginf(found.slopes[1:]).all()
    assert np.isnan(found.weights[1:]).all()
    cut = replace(cell, W_h=torch.zeros(3, 3, dtype=torch.float64), b=torch.full((3,), 100.0, dtype=torch.float64))
    found = carry(cut, unroll(cut, noise(4, 1, 2)), noise(3, 2))
    assert np.isneginf(found.weights[1:]).all()
    assert np.isnan(found.slopes[1:]).all()


@pytest.mark.parametrize(
    ("vectors", "says"),
    [
        (noise(2, 4), r"vectors is \(2, 4\): it takes a tensor \[state, number\], here \[3"),
        (np.ones((3, 1)), "vectors is array"),
        (torch.zeros(3, 1, dtype=torch.float64), "each vector finite and not zero"),
        (noise(3, 0), "each vector finite and not zero"),
        (noise(3, 1).float(), "vectors is torch.float32"),
    ],
)
def test_vectors_that_cannot_be_carried_are_refused(vectors, says):
    cell, _ = make("tanh")
    with pytest.raises(ValueError, match=says):
        carry(cell, unroll(cell, noise(4, 1, 2)), vectors)


def test_padding_has_no_slope():
    cell, _ = make("tanh")
    with pytest.raises(ValueError, match="without padding"):
        carry(cell, unroll(cell, noise(4, 1, 2), lengths=[2]), noise(3, 1))
    gated, _ = make("after")
    short, cut = unroll(gated, noise(4, 1, 2), lengths=[2]), unroll(gated, noise(4, 1, 2)[:2])
    u = noise(3, 4, seed=1)
    assert carry(gated, short, u).total[2:] == pytest.approx(carry(gated, cut, u).total)


def linear(weight, hidden=2):
    eye = torch.eye(hidden, dtype=torch.float64)
    return Elman(W_x=eye[:, :1], W_h=weight * eye, b=torch.zeros(hidden, dtype=torch.float64), activation="linear")


@pytest.mark.parametrize("weight", [1e-200, 0.5, 1e200])
@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_steps_and_vectors_at_the_ends_of_the_range(weight, size):
    cell = linear(weight)
    trace = unroll(cell, torch.zeros(5, 1, 1, dtype=torch.float64))
    right = np.arange(6) * np.log(weight)
    assert nudge(cell, trace, 0, 1.0).predicted == pytest.approx(right, abs=1e-9)
    found = carry(cell, trace, size * torch.ones(2, 3, dtype=torch.float64))
    assert found.total == pytest.approx(right, abs=1e-9)
    assert found.weights == pytest.approx(right, abs=1e-9)
    assert found.slopes == pytest.approx(np.zeros(6), abs=1e-9)


def test_a_push_that_overflows_is_not_gone():
    cell = linear(3.0, hidden=1)
    found = nudge(cell, unroll(cell, torch.zeros(1000, 1, 1, dtype=torch.float64)), 0, 1e-3)
    assert found.left[-1] == np.inf
    assert found.gone is None


def test_weights_that_are_trained_and_wholes_that_are_floats_are_taken():
    cell, weights = make("tanh")
    trained = replace(cell, W_h=weights["W_h"].clone().requires_grad_())
    trace = unroll(trained, noise(STEPS, 1, 2))
    u = noise(3, 2, seed=1)
    plain = carry(cell, unroll(cell, noise(STEPS, 1, 2)), u)
    assert carry(trained, trace, u, 0.0).total.tolist() == plain.total.tolist()
    assert nudge(trained, trace, 2.0, 1e-3).step == 2
    with pytest.raises(ValueError, match="seed is 'a': it takes a whole number"):
        nudge(cell, trace, 2, 1e-3, seed="a")


def test_a_float32_cell_is_nudged_in_float32():
    cell, _ = make("after", dtype=torch.float32)
    found = nudge(cell, unroll(cell, noise(STEPS, 1, 2, dtype=torch.float32)), STEP, 0.1)
    assert found.left[:4] == pytest.approx(np.exp(found.predicted[:4]), rel=0.2)
    assert found.floor[0] > 1e-7
