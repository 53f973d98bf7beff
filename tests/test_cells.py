"""One step of every cell: against slow loops, differentiable, and in the conventions that are said."""

import dataclasses
import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnviz.cells import GRU, LSTM, Cell, Elman
from tests import reference
from tests.making import KINDS, cell, make, noise, parts, state


def row(kind, s, b=0):
    """The state of one sequence as the slow code takes it."""
    return torch.cat([part[b] for part in parts(s)]).numpy()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(inputs=st.integers(1, 3), hidden=st.integers(1, 4), seed=st.integers(0, 2**31))
def test_a_step_is_the_equation_number_by_number(kind, inputs, hidden, seed):
    ours, weights = make(kind, inputs, hidden, seed)
    x, s = noise(1, inputs, seed=seed + 1), state(kind, 1, hidden, seed=seed + 2)
    got = torch.cat(parts(ours.step(x, s)), -1)[0]
    p = {name: value.numpy() for name, value in weights.items()}
    expected, _ = reference.step(kind, p, x[0].numpy(), row(kind, s))
    # sums of at most 8 products of numbers of order 10
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_step_takes_any_batch_shape_and_keeps_the_dtype(kind, shape, dtype):
    ours, _ = make(kind, dtype=dtype)
    x = noise(*shape, 2, dtype=dtype)
    s = noise(*shape, 3, seed=1, dtype=dtype)
    new = parts(ours.step(x, (s, s) if kind == "lstm" else s))
    assert [(tuple(part.shape), part.dtype) for part in new] == [((*shape, 3), dtype)] * len(new)
    flat = parts(ours.step(x.reshape(-1, 2), (s.reshape(-1, 3),) * 2 if kind == "lstm" else s.reshape(-1, 3)))
    for part, other in zip(new, flat, strict=True):
        torch.testing.assert_close(part.reshape(-1, 3), other)


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_is_differentiable_in_input_state_and_weights(kind):
    ours, weights = make(kind)
    weights = {name: value.requires_grad_() for name, value in weights.items()}
    ours = cell(kind, weights)
    x, s = noise(1, 2).requires_grad_(), tuple(part.requires_grad_() for part in parts(state(kind, 1, 3)))
    sum(part.sum() for part in parts(ours.step(x, s if kind == "lstm" else s[0]))).backward()
    for name, value in {"x": x, **{str(k): part for k, part in enumerate(s)}, **weights}.items():
        assert value.grad is not None, name
        assert value.grad.abs().sum() > 0, name


NAMES = {
    "tanh": ["W_x", "W_h", "b"],
    "lstm": [f"{m}_{k}" for k in "ifgo" for m in "WUb"],
    "before": [f"{m}_{k}" for k in "zrn" for m in "WUb"],
    "after": [*(f"{m}_{k}" for k in "zrn" for m in "WUb"), "c_n"],
}


@pytest.mark.parametrize("kind", NAMES)
def test_the_parameters_are_the_named_tensors_themselves(kind):
    ours, weights = make(kind)
    assert list(ours.parameters()) == NAMES[kind]
    assert all(value is weights[name] for name, value in ours.parameters().items())
    assert (ours.inputs, ours.hidden, ours.dtype) == (2, 3, torch.float64)


@pytest.mark.parametrize("kind", KINDS)
def test_a_cell_is_frozen_and_answers_the_protocol(kind):
    ours, _ = make(kind)
    assert isinstance(ours, Cell)
    with pytest.raises(dataclasses.FrozenInstanceError):
        ours.W_x = None


def count(ours):
    return sum(value.numel() for value in ours.parameters().values())


def test_parameter_counts(fixtures):
    """GR-05: one bias a block as the books, and torch's two; GRU has exactly 3/4 of the LSTM."""
    for case in fixtures("numerics")["param_counts"]:
        d, H, books, torchs = case["d"], case["H"], case["textbook_one_bias"], case["torch"]
        cells = {"RNN": Elman.init(d, H), "LSTM": LSTM.init(d, H), "GRU": GRU.init(d, H, reset="before")}
        assert {name: count(ours) for name, ours in cells.items()} == books
        assert count(cells["GRU"]) / count(cells["LSTM"]) == case["torch_gru_over_lstm"]
        after = GRU.init(d, H)
        assert count(after) == books["GRU"] + H
        modules = {"RNN": cells["RNN"], "LSTM": cells["LSTM"], "GRU": after}
        assert {name: sum(p.numel() for p in c.to_torch().parameters()) for name, c in modules.items()} == torchs


# ---------------------------------------------------------------- conventions


def zeros(kind, **biases):
    weights = {name: torch.zeros_like(value) for name, value in make(kind, 1, 1)[1].items()}
    return cell(kind, weights | {name: torch.full((1,), value, dtype=torch.float64) for name, value in biases.items()})


@pytest.mark.parametrize("kind", ["before", "after"])
def test_z_is_the_share_of_the_new_state(kind):
    """GR-01: with all weights 0, h = 1 and b_z = 2 the candidate is 0, so 1 - sigma(2) of the old state is left."""
    x, h = torch.zeros(1, 1, dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)
    assert float(zeros(kind, b_z=2.0).step(x, h)) == pytest.approx(0.11920292202211755, rel=1e-15)
    assert float(zeros(kind, b_z=-2.0).step(x, h)) == pytest.approx(0.8807970779778823, rel=1e-15)


def test_torchs_z_is_the_share_of_the_old_state():
    """GR-01: our cell with b_z = 2 goes to torch with -2, and both keep the same share."""
    module = zeros("after", b_z=2.0).to_torch()
    assert module.bias_ih_l0.tolist() == [0.0, -2.0, 0.0]
    one = torch.ones(1, 1, 1, dtype=torch.float64)
    assert module(0 * one, one)[0].item() == pytest.approx(0.11920292202211755, rel=1e-15)


@settings(max_examples=15)
@given(seed=st.integers(0, 2**31))
def test_the_two_resets_are_one_function_where_u_n_is_diagonal_and_two_elsewhere(seed):
    """GR-02. h bounded by 1 and weights of order 1: rounding stays below 1e-14."""
    _, weights = make("before", 2, 3, seed)
    x, h = noise(1, 2, seed=seed + 1), torch.tanh(noise(1, 3, seed=seed + 2))
    no_c = torch.zeros(3, dtype=torch.float64)

    def both(w):
        return cell("before", w).step(x, h), cell("after", w | {"c_n": no_c}).step(x, h)

    torch.testing.assert_close(*both(weights | {"U_n": torch.diag(weights["U_n"].diagonal())}), atol=1e-14, rtol=0)
    before, after = both(weights | {"U_n": torch.ones(3, 3, dtype=torch.float64)})
    assert (before - after).abs().max() > 1e-9 or float(h.abs().max()) < 1e-3


def test_a_closed_reset_forgets_the_second_bias_too():
    """With r = 0 the candidate of reset="after" has neither U_n h nor c_n."""
    ours = zeros("after", b_z=100.0, b_r=-800.0, b_n=0.5, c_n=3.0)
    x, h = torch.zeros(1, 1, dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)
    assert float(ours.step(x, h)) == pytest.approx(np.tanh(0.5), rel=1e-15)


@pytest.mark.parametrize("b", [0.0, 1.0, 2.0])
def test_the_forget_gate_keeps_its_share_of_the_cell(b):
    x, s = torch.zeros(1, 1, dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)
    h, c = zeros("lstm", b_f=b).step(x, (s, s))
    assert float(c) == pytest.approx(1 / (1 + np.exp(-b)), rel=1e-15)
    assert float(h) == pytest.approx(0.5 * np.tanh(float(c)), rel=1e-15)


def test_sigmoid_is_not_half_of_tanh_plus_one():
    """½(tanh a + 1) is σ(2a)."""
    one = torch.ones(1, 1, dtype=torch.float64)
    ours = Elman(W_x=one, W_h=0 * one, b=0 * one[0], activation="sigmoid")
    assert float(ours.step(one, one)) == pytest.approx(0.7310585786300049, rel=1e-15)


X, H = noise(4, 2), noise(4, 3)
WRONG = [
    ("tanh", noise(4, 5), H, "x has shape (4, 5), torch.float64: it takes a tensor [..., 2], torch.float64"),
    ("after", X.float(), H, "x has shape (4, 2), torch.float32: it takes a tensor [..., 2], torch.float64"),
    ("before", [0.0, 0.0], H, "x is a list: it takes a tensor [..., 2]"),
    ("tanh", torch.tensor(1.0, dtype=torch.float64), H, "x has shape (), torch.float64: it takes a tensor [..., 2]"),
    ("tanh", X, noise(4, 2), "h has shape (4, 2), torch.float64: it takes a tensor [..., 3], torch.float64"),
    ("after", X, None, "h is a NoneType: it takes a tensor [..., 3]"),
    ("tanh", X, H[:3], "h has shape (3, 3): it takes (4, 3), as x has"),
    ("lstm", X, H, "state is not the pair (h, c): it takes two tensors [..., hidden]"),
    ("lstm", X, (H, noise(4, 4)), "c has shape (4, 4), torch.float64: it takes a tensor [..., 3]"),
]


@pytest.mark.parametrize(("kind", "x", "s", "sentence"), WRONG, ids=[str(n) for n in range(len(WRONG))])
def test_what_a_step_cannot_take_is_refused_in_words(kind, x, s, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        make(kind)[0].step(x, s)
