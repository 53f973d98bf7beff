"""step_jacobians(): against autograd, complex step and differences, by every cell, clamp and length."""

import math
import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnviz.analysis.jacobians import step_jacobians, transport
from rnnviz.bptt import backward
from rnnviz.cells import Elman
from rnnviz.trace import Clamp, unroll
from tests import reference
from tests.making import KINDS, make, noise, parts, state

SMOOTH = [kind for kind in KINDS if kind != "relu"]
CLAMPS = {
    "lstm": [("f", 1.0, None, 2, 2), ("i", 0.0, (1,), 1, None), ("o", 0.5, (0,), 3, 3), ("g", -0.25, (0,), 2, None)],
    "before": [("z", 0.25, (0,), 2, 3), ("r", 1.0, None, 1, 2), ("n", 0.5, (1,), 3, None)],
    "after": [("z", 1.0, None, 2, 2), ("r", 0.25, (1,), 1, None), ("n", -0.5, (0,), 3, 3)],
}


def states(trace, b=0):
    """s_t of one sequence, [time+1, state]."""
    return torch.cat([trace[name][:, b] for name in ("h", "c") if name in trace.values], -1)


def slow(kind, weights, trace, b, held, method):
    s = states(trace, b).numpy()
    x = trace.inputs[:, b].numpy()
    return np.stack([reference.jacobian(kind, weights, x[t], s[t], t + 1, held, method) for t in range(len(x))])


def by_autograd(ours, trace, b=0):
    rows = []
    for x, s in zip(trace.inputs[:, b], states(trace, b)[:-1], strict=True):

        def step(s, x=x):
            new = ours.step(x, s.chunk(2) if len(ours.state_names) == 2 else s)
            return torch.cat(parts(new), -1)

        rows.append(torch.autograd.functional.jacobian(step, s))
    return torch.stack(rows)


def close(got, right, tolerance=1e-12):
    # entries are sums of a few products of numbers of order 1 to 10
    np.testing.assert_allclose(got, right, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12)
@given(
    inputs=st.integers(1, 3),
    hidden=st.integers(2, 4),
    time=st.integers(1, 4),
    seed=st.integers(0, 2**31),
    clamped=st.booleans(),
)
def test_closed_forms_are_autograds_and_the_complex_steps(kind, inputs, hidden, time, seed, clamped):
    ours, weights = make(kind, inputs, hidden, seed)
    held = [c for c in CLAMPS.get(kind, []) if clamped and c[3] <= time and (c[4] or 0) <= time]
    clamps = [Clamp(*c) for c in held]
    trace = unroll(ours, noise(time, 2, inputs, seed=seed + 1), state(kind, 2, hidden, seed + 2), clamps=clamps)
    for b in (0, 1):
        J = step_jacobians(ours, trace, b)
        assert J.shape == (time, states(trace).shape[1], states(trace).shape[1])
        if kind in SMOOTH:
            close(J, slow(kind, weights, trace, b, held, "complex"))
        if not held:
            close(J, by_autograd(ours, trace, b))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("clamped", [False, True])
def test_closed_forms_are_central_differences(kind, clamped):
    """Differences of 1e-5 are good to 1e-10 of the third derivative and 1e-11 of rounding."""
    ours, weights = make(kind, seed=4)
    held = CLAMPS.get(kind, []) if clamped else []
    trace = unroll(ours, noise(4, 1, 2), state(kind, 1, 3), clamps=[Clamp(*c) for c in held])
    close(step_jacobians(ours, trace), slow(kind, weights, trace, 0, held, "difference"), 1e-8)


def test_a_wrong_derivative_is_seen():
    """JA-01: diag(slope) W, not its transpose, not diag(slope) W^T; and nothing that is off by a millionth."""
    ours, weights = make("tanh", seed=4)
    trace = unroll(ours, noise(4, 1, 2), state("tanh", 1, 3))
    J, right = step_jacobians(ours, trace), slow("tanh", weights, trace, 0, [], "complex")
    close(J, right)
    slopes = 1 / torch.cosh(trace["a"][:, 0]) ** 2
    for wrong in (J.mT, slopes[..., None] * ours.W_h.T, J * (1 + 1e-6), J.flip(0), J + 1e-9):
        with pytest.raises(AssertionError, match="Not equal to tolerance"):
            close(wrong, right)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12)
@given(seed=st.integers(0, 2**31), padded=st.booleans())
def test_backward_carries_by_the_transposed_product(kind, seed, padded):
    """BP-10: with a loss on the last step alone (delta, carried_c) at t is J_{t+1}^T ... J_T^T of it."""
    ours, _ = make(kind, seed=seed, scale=0.7)
    lengths = [5, 1 + seed % 5] if padded else None
    trace = unroll(ours, noise(5, 2, 2, seed=seed), state(kind, 2, 3, seed + 1), lengths=lengths)
    g = torch.zeros(5, 2, 3, dtype=torch.float64)
    g[-1] = noise(2, 3, seed=seed + 2)
    found = backward(ours, trace, g)
    carried = (found.delta, found.carried_c) if kind == "lstm" else (found.delta,)
    for b in (0, 1):
        delta = torch.cat([part[:, b] for part in carried], -1)
        for t, J in reversed(list(enumerate(step_jacobians(ours, trace, b)))):
            close(delta[t], J.T @ delta[t + 1], 1e-11)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12)
@given(seed=st.integers(0, 2**31))
def test_forward_and_backward_products_are_adjoint(kind, seed):
    """⟨u, J_T ... J_1 v⟩ = ⟨J_1^T ... J_T^T u, v⟩, the left by a forward difference of the states' own map."""
    ours, _ = make(kind, seed=seed, scale=0.7)
    x, s = noise(4, 1, 2, seed=seed), state(kind, 1, 3, seed + 1)
    trace = unroll(ours, x, s)
    n = 3 * len(parts(s))
    u, v = noise(2, n, seed=seed + 2)
    forth, back = v, u
    for J in step_jacobians(ours, trace):
        forth = J @ forth
    for J in step_jacobians(ours, trace).flip(0):
        back = J.T @ back
    scale = float(forth.norm() * u.norm()) + 1e-9
    assert abs(float(u @ forth - back @ v)) < 1e-13 * scale
    if kind != "relu":  # which has kinks
        ends = []
        for sign in (1e-6, -1e-6):
            moved = tuple(part + sign * dv for part, dv in zip(parts(s), v.reshape(len(parts(s)), 1, 3), strict=True))
            ends.append(states(unroll(ours, x, moved if kind == "lstm" else moved[0]))[-1])
        difference = (ends[0] - ends[1]) / 2e-6
        # rounding 1e-16 / 1e-6 and the third derivative times 1e-12, of a map that stretches at most 1e3 fold
        assert abs(float(u @ difference - back @ v)) < 1e-6 * max(scale, 1.0)


def test_the_cell_block_of_one_step_is_the_forget_gate():
    """JA-10: the state of an LSTM is (h, c), and dc_t/dc_{t-1} is diag(f_t) exactly."""
    ours, _ = make("lstm")
    trace = unroll(ours, noise(4, 1, 2))
    J = step_jacobians(ours, trace)
    assert J.shape == (4, 6, 6)
    assert torch.equal(J[:, 3:, 3:], torch.diag_embed(trace["f"][:, 0]))


def test_a_latch_is_the_identity_on_the_cell():
    """With f = 1 and i = 0 held from step 21 to 60, dc_60/dc_20 is the identity, exactly."""
    ours, _ = make("lstm", hidden=16)
    trace = unroll(ours, noise(60, 1, 2), clamps=[Clamp("f", 1.0, first=21), Clamp("i", 0.0, first=21)])
    product = torch.eye(32, dtype=torch.float64)
    for J in step_jacobians(ours, trace)[20:]:
        product = J @ product
    assert torch.equal(product[16:, 16:], torch.eye(16, dtype=torch.float64))


@pytest.mark.parametrize("kind", ["tanh", "lstm", "after"])
def test_a_padded_step_is_the_identity(kind):
    ours, _ = make(kind)
    x = noise(5, 2, 2)
    J = step_jacobians(ours, unroll(ours, x, lengths=[5, 2]), 1)
    assert torch.equal(J[2:], torch.eye(J.shape[-1], dtype=J.dtype).expand(3, -1, -1))
    torch.testing.assert_close(J[:2], step_jacobians(ours, unroll(ours, x[:2, 1:])))


SLOPES = {
    "tanh": lambda a: 1 / math.cosh(a) ** 2,
    "sigmoid": lambda a: math.exp(-abs(a)) / (1 + math.exp(-abs(a))) ** 2,
    "relu": lambda a: float(a > 0),
    "linear": lambda a: 1.0,
}


def one_unit(activation, a, dtype=torch.float64):
    """The step Jacobian of one unit with W_h = 1 at pre-activation a: its slope."""
    one = torch.ones(1, 1, dtype=dtype)
    cell = Elman(W_x=one, W_h=one, b=0 * one[0], activation=activation)
    return step_jacobians(cell, unroll(cell, torch.full((1, 1, 1), a, dtype=dtype))).item()


@pytest.mark.parametrize("activation", SLOPES)
@pytest.mark.parametrize("a", [-340.0, -37.0, -9.0, -1.0, 0.0, 1.0, 9.0, 20.0, 37.0, 100.0, 340.0])
def test_slopes_are_right_deep_in_saturation(activation, a):
    """NU-03, and relu'(0) = 0 as torch has it."""
    assert one_unit(activation, a) == pytest.approx(SLOPES[activation](a), rel=1e-13)


@pytest.mark.parametrize("activation", ["tanh", "sigmoid"])
@pytest.mark.parametrize(("dtype", "last"), [(torch.float32, 40.0), (torch.float64, 350.0)])
def test_beyond_the_range_a_slope_is_0_and_never_nan(activation, dtype, last):
    """4 exp(-2a) leaves float32 at a = 44 and float64 at a = 354; the sigmoid's exp(-a) at twice that."""
    slopes = [one_unit(activation, a, dtype) for a in (9.0, last, 400.0, 800.0, 1e4, 1e30)]
    assert slopes[0] > slopes[1] > 0
    assert slopes[1] >= slopes[2] >= 0
    assert slopes[3:] == [0.0] * 3


def test_every_slope_of_the_fixture(fixtures):
    """NU-03, checked there with 60 digits."""
    for row in fixtures("numerics")["tanh_slope"]:
        assert one_unit("tanh", row["a"]) == pytest.approx(row["tanh_slope"], rel=1e-12)
        if row["a"] < 40:  # below 1e-38 float32 has no full digits
            # sech² multiplies the 6e-8 of rounding by a
            assert one_unit("tanh", row["a"], torch.float32) == pytest.approx(row["tanh_slope"], rel=2e-6)
        else:
            assert 0 <= one_unit("tanh", row["a"], torch.float32) < 1.2e-38  # its smallest number of full digits


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_the_dtype_is_kept_and_nothing_of_the_callers_changes(kind, dtype):
    ours, weights = make(kind, dtype=dtype)
    for value in weights.values():
        value.requires_grad_()
    trace = unroll(ours, noise(3, 1, 2, dtype=dtype))
    kept = {name: value.clone() for name, value in trace.values.items()}
    J = step_jacobians(ours, trace)
    assert J.dtype == dtype
    assert not J.requires_grad
    assert all(value.requires_grad for value in weights.values())
    copy = J.clone()
    transport(J)
    assert torch.equal(J, copy)
    assert all(torch.equal(trace[name], value) for name, value in kept.items())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"batch": 2}, "batch is 2: it takes a whole number from 0 to 1"),
        ({"batch": -1}, "batch is -1: it takes a whole number from 0 to 1"),
        ({"batch": 0.5}, "batch is 0.5: it takes a whole number from 0 to 1"),
        ({"cell": make("lstm")[0]}, "trace has h, a: it takes a trace of the same kind of cell"),
        ({"cell": make("tanh", hidden=4)[0]}, "trace has 2 inputs and 3 units: it takes 2 and 4, as the cell has"),
        ({"cell": make("tanh", dtype=torch.float32)[0]}, "trace is torch.float64: it takes the cell's dtype"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(change, sentence):
    ours, _ = make("tanh")
    with pytest.raises(ValueError, match=re.escape(sentence)):
        step_jacobians(**({"cell": ours, "trace": unroll(ours, noise(3, 2, 2))} | change))


def test_a_sequence_that_is_not_finite_has_no_derivative_but_its_neighbour_has():
    """Behind an overflow a ReLU's NaN would read as slope 0: a memory lost, where in truth it exploded."""
    one = torch.ones(1, 1, dtype=torch.float64)
    cell = Elman(W_x=one, W_h=2.0**600 * one, b=0 * one[0], activation="relu")
    trace = unroll(cell, torch.tensor([1.0, 0.0], dtype=torch.float64).expand(4, 2).unsqueeze(-1))
    assert trace.first_nonfinite == 3
    with pytest.raises(ValueError, match="the trace is not finite from step 3: there is no derivative"):
        step_jacobians(cell, trace)
    assert step_jacobians(cell, trace, 1).flatten().tolist() == [0.0] * 4
