"""backward() against autograd: all cells, both truncations, clamps, lengths; and against special cases."""

import math
import re
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnviz import trace
from rnnviz.bptt import backward
from rnnviz.cells import LSTM, Elman
from rnnviz.trace import Clamp, unroll
from tests import reference
from tests.making import KINDS, make, noise, parts, state

CLAMPS = {
    "lstm": [("f", 1.0, None, 2, 3), ("i", 0.0, (1,), 1, None), ("o", 0.5, (0,), 3, 3), ("g", -0.25, (0,), 2, None)],
    "before": [("z", 0.25, (0,), 2, 3), ("r", 1.0, None, 1, 2), ("n", 0.5, (1,), 3, None)],
    "after": [("z", 1.0, None, 2, 2), ("r", 0.25, (1,), 1, None), ("n", -0.5, (0,), 3, 3)],
}


def both(kind, weights, ours, x, s, g, *, held=(), **options):
    """What backward finds and what autograd finds, by name."""
    lengths = options.get("lengths")
    cuts = {name: value for name, value in options.items() if name != "lengths"}
    trace = unroll(ours, x, s, lengths=lengths, clamps=[Clamp(*c) for c in held])
    found = backward(ours, trace, g, **cuts)
    grads, delta, inputs = reference.backward(kind, weights, x, parts(s), g, clamps=held, **options)
    got = {**found.grads, "delta": found.delta, "inputs": found.inputs}
    right = {**grads, "delta": delta[0], "inputs": inputs}
    if kind == "lstm":
        got["delta_c"], right["delta_c"] = found.delta_c, delta[1]
    return got, right


def agree(got, right, rtol=1e-10, atol=1e-11):
    # Both sum the same products of at most 6 factors in another order; entries are of order 1 to 1000.
    assert set(got) == set(right)
    for name, value in right.items():
        torch.testing.assert_close(
            got[name], value, rtol=rtol, atol=atol, msg=lambda text, name=name: f"{name}: {text}"
        )


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12)
@given(
    inputs=st.integers(1, 3),
    hidden=st.integers(2, 4),
    time=st.integers(1, 6),
    batch=st.integers(1, 2),
    seed=st.integers(0, 2**31),
    cut=st.sampled_from(["chunk", "window", None]),
    k=st.integers(1, 7),
    padded=st.booleans(),
    clamped=st.booleans(),
)
def test_every_gradient_is_autograds(kind, inputs, hidden, time, batch, seed, cut, k, padded, clamped):
    ours, weights = make(kind, inputs, hidden, seed, scale=0.7)
    x, s = noise(time, batch, inputs, seed=seed + 1), state(kind, batch, hidden, seed + 2)
    g = noise(time, batch, hidden, seed=seed + 3)
    options = {} if cut is None else {cut: k}
    if padded:
        options["lengths"] = [1 + (seed + b) % time for b in range(batch)]
    held = [c for c in CLAMPS.get(kind, []) if clamped and c[3] <= time and (c[4] or 0) <= time]
    agree(*both(kind, weights, ours, x, s, g, held=held, **options))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options", [{}, {"chunk": 2}, {"window": 2}, {"window": 1}, {"chunk": 1}, {"lengths": [4, 2]}], ids=str
)
@pytest.mark.parametrize("clamped", [False, True])
def test_each_truncation_clamp_and_length_by_itself(kind, options, clamped):
    ours, weights = make(kind, scale=0.7)
    x, s, g = noise(4, 2, 2), state(kind, 2, 3), noise(4, 2, 3, seed=5)
    agree(*both(kind, weights, ours, x, s, g, held=CLAMPS.get(kind, []) if clamped else [], **options))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"chunk": 3}, {"window": 4}, {"lengths": [7, 4]}], ids=str)
@pytest.mark.parametrize("numbers", [1, 12, 18])
def test_a_long_trace_is_taken_back_in_stretches(monkeypatch, kind, options, numbers):
    """1, 2 or 3 steps of 6 numbers at a time; borders of chunks fall inside stretches and on their ends."""
    monkeypatch.setattr(trace, "CACHE", numbers)
    ours, weights = make(kind, scale=0.7)
    x, s, g = noise(7, 2, 2), state(kind, 2, 3), noise(7, 2, 3, seed=5)
    agree(*both(kind, weights, ours, x, s, g, held=CLAMPS.get(kind, []), **options))


@pytest.mark.parametrize("kind", ["tanh", "lstm", "after"])
def test_a_wrong_derivative_is_seen(kind):
    """The comparison fails for a sign, a factor, a transposed matrix and a row that is one step off."""
    ours, weights = make(kind)
    got, right = both(kind, weights, ours, noise(4, 1, 2), state(kind, 1, 3), noise(4, 1, 3, seed=5))
    agree(got, right)
    matrix = next(name for name in right if name == "W_h" or name[0] == "U")
    wrong = [
        got | {matrix: -got[matrix]},
        got | {matrix: got[matrix].mT.contiguous()},
        got | {matrix: got[matrix] * (1 + 1e-6)},
        got | {"delta": got["delta"].roll(1, 0)},
        got | {"inputs": got["inputs"] + 1e-8},
    ]
    for broken in wrong:
        with pytest.raises(AssertionError, match="Tensor-likes are not close"):
            agree(broken, right)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("time", "batch", "hidden"), [(1, 1, 1), (5, 2, 3)])
def test_shapes_names_and_dtype(kind, dtype, time, batch, hidden):
    ours, weights = make(kind, hidden=hidden, dtype=dtype)
    found = backward(ours, unroll(ours, noise(time, batch, 2, dtype=dtype)), noise(time, batch, hidden, dtype=dtype))
    assert {name: (g.shape, g.dtype) for name, g in found.grads.items()} == {
        name: (w.shape, dtype) for name, w in weights.items()
    }
    assert found.delta.shape == (time + 1, batch, hidden)
    assert found.inputs.shape == (time, batch, 2)
    assert (found.delta.dtype, found.inputs.dtype) == (dtype, dtype)
    assert (found.delta_c is None) == (kind != "lstm")
    if kind == "lstm":
        assert (found.delta_c.shape, found.carried_c.shape) == ((time + 1, batch, hidden),) * 2
    assert set(found.pre) == {"a"} if isinstance(ours, Elman) else {f"a_{k}" for k in ours.gate_names}


@pytest.mark.parametrize("kind", KINDS)
def test_the_gradients_at_the_preactivations_make_all_others(kind):
    """BP-06: step t adds outer(pre_t, h_{t-1}) to a recurrent matrix, pre_t to a bias, W^T pre_t is dL/dx_t."""
    ours, _ = make(kind, scale=0.7)
    trace = unroll(ours, noise(5, 2, 2), state(kind, 2, 3))
    found = backward(ours, trace, noise(5, 2, 3, seed=5))
    names = {"a": ("W_x", "W_h", "b")} | {f"a_{k}": (f"W_{k}", f"U_{k}", f"b_{k}") for k in "ifgozrn"}
    x = torch.zeros_like(found.inputs)
    for name, pre in found.pre.items():
        W, U, b = names[name]
        torch.testing.assert_close(found.grads[W], torch.einsum("tbi,tbj->ij", pre, trace.inputs))
        torch.testing.assert_close(found.grads[b], pre.sum((0, 1)))
        if name != "a_n":  # there r stands between U_n and h
            torch.testing.assert_close(found.grads[U], torch.einsum("tbi,tbj->ij", pre, trace["h"][:-1]))
        x += pre @ ours.parameters()[W]
    torch.testing.assert_close(found.inputs, x)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cut", ["chunk", "window"])
def test_no_truncation_is_left_where_the_cut_is_as_long_as_the_sequence(kind, cut):
    ours, _ = make(kind, seed=3, scale=0.7)
    trace, g = unroll(ours, noise(4, 1, 2)), noise(4, 1, 3, seed=5)
    whole = backward(ours, trace, g)
    for k, same in ((4, True), (9, True), (3, False)):
        cutted = backward(ours, trace, g, **{cut: k})
        assert torch.allclose(cutted.inputs, whole.inputs, rtol=1e-12, atol=1e-14) == same


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10)
@given(seed=st.integers(0, 2**31))
def test_gradients_add_up_over_the_batch_and_over_the_losses(kind, seed):
    ours, _ = make(kind, seed=seed, scale=0.7)
    x, s, g = noise(4, 2, 2, seed=seed), state(kind, 2, 3, seed + 1), noise(4, 2, 3, seed=seed + 2)
    trace = unroll(ours, x, s)
    whole = backward(ours, trace, g)
    steps = [backward(ours, trace, g * (torch.arange(4) == t).double()[:, None, None]) for t in range(4)]
    torch.testing.assert_close(sum(one.delta for one in steps), whole.delta, rtol=1e-10, atol=1e-11)
    alone = []
    for b in range(2):
        start = tuple(part[b : b + 1] for part in parts(s))
        one = unroll(ours, x[:, b : b + 1], start if kind == "lstm" else start[0])
        alone.append(backward(ours, one, g[:, b : b + 1]))
    torch.testing.assert_close(torch.cat([one.delta for one in alone], 1), whole.delta, rtol=1e-10, atol=1e-11)
    for name, value in whole.grads.items():
        torch.testing.assert_close(sum(one.grads[name] for one in alone), value, rtol=1e-10, atol=1e-11)
        torch.testing.assert_close(sum(one.grads[name] for one in steps), value, rtol=1e-10, atol=1e-11)


def test_the_derivative_of_a_power():
    """BP-01: x_t = w x_{t-1}, dx_t/dw = t w**(t-1) x_0; each call starts from nothing."""
    one = torch.ones(1, 1, dtype=torch.float64)
    ours = Elman(W_x=0 * one, W_h=0.2 * one, b=0 * one[0], activation="linear")
    trace = unroll(ours, torch.zeros(3, 1, 1, dtype=torch.float64), 0.9 * one)
    for t, expected in ((1, 0.9), (2, 0.36), (3, 0.108), (3, 0.108)):
        g = torch.zeros(3, 1, 1, dtype=torch.float64)
        g[t - 1] = 1
        assert float(backward(ours, trace, g).grads["W_h"]) == pytest.approx(expected, rel=1e-14)


def test_window_counts_the_uses_of_the_weights():
    """h_t = sum of x: with every loss 1 the input at step s is heard by the losses at s ... s+k-1."""
    one = torch.ones(1, 1, dtype=torch.float64)
    ours = Elman(W_x=one, W_h=one, b=0 * one[0], activation="linear")
    trace = unroll(ours, torch.ones(6, 1, 1, dtype=torch.float64))
    g = torch.ones(6, 1, 1, dtype=torch.float64)
    assert backward(ours, trace, g, window=3).inputs.flatten().tolist() == [3, 3, 3, 3, 2, 1]
    assert backward(ours, trace, g, chunk=4).inputs.flatten().tolist() == [4, 3, 2, 1, 2, 1]
    assert backward(ours, trace, g).inputs.flatten().tolist() == [6, 5, 4, 3, 2, 1]


def test_a_held_cell_passes_the_gradient_exactly():
    """The latch: with f = 1, i = 0 held and the output shut, dL/dc does not change by a bit."""
    ours, _ = make("lstm", hidden=4)
    held = [Clamp("f", 1.0, first=3, last=8), Clamp("i", 0.0, first=3, last=8), Clamp("o", 0.0, first=3, last=8)]
    trace = unroll(ours, noise(10, 1, 2), clamps=held)
    g = torch.zeros(10, 1, 4, dtype=torch.float64)
    g[-1] = 1
    delta_c = backward(ours, trace, g).delta_c
    assert torch.equal(delta_c[2], delta_c[8])
    assert delta_c[8].abs().min() > 0


@pytest.mark.parametrize("kind", ["before", "after"])
def test_what_a_gru_keeps_survives_saturation(kind):
    """1 - z = 1/(1 + e^40) a step, where 1 - z is 0; with no other way back the gradient is its power."""
    ours, _ = make(kind, hidden=1)
    ours = replace(ours, **{name: 0 * value for name, value in ours.parameters().items()})
    ours = replace(ours, b_z=0 * ours.b_z + 40)
    trace = unroll(ours, noise(4, 1, 2))
    g = torch.zeros(4, 1, 1, dtype=torch.float64)
    g[-1] = 1
    assert (1 - trace["z"] == 0).all()
    assert backward(ours, trace, g).delta[0].item() == pytest.approx(math.exp(-160), rel=1e-13)
    # a clamp's z is what it says
    held = unroll(ours, noise(4, 1, 2), clamps=[Clamp("z", 1.0, first=2, last=2)])
    assert backward(ours, held, g).delta.flatten()[:2].tolist() == [0.0, 0.0]


def test_the_slope_survives_saturation():
    """NU-03: at a = 20 the slope of tanh is 1.7e-17, where 1 - h**2 is 0."""
    one = torch.ones(1, 1, dtype=torch.float64)
    ours = Elman(W_x=one, W_h=one, b=0 * one[0])
    found = backward(ours, unroll(ours, 20 * one[None]), one[None])
    assert float(found.inputs) == pytest.approx(1.6993417021166355e-17, rel=1e-14)
    zero = 0 * one
    gates = {f"{m}_{k}": zero for k in "ifgo" for m in "WU"} | {f"b_{k}": zero[0] for k in "ifgo"}
    lstm = LSTM(**(gates | {"W_f": one}))
    trace = unroll(lstm, 40 * one[None], (zero, one))
    # dL/da_f = dh * o * sech²(c) * c_0 * σ(40)σ(-40), c = 1 to 17 digits
    expected = 0.5 * 0.41997434161402614 * 4.248354255291589e-18
    assert float(backward(lstm, trace, one[None]).grads["b_f"]) == pytest.approx(expected, rel=1e-13)


def test_ten_thousand_steps_of_an_orthogonal_cell_keep_the_norm():
    ours = Elman.init(
        2,
        4,
        activation="linear",
        recurrent="orthogonal",
        generator=torch.Generator().manual_seed(0),
        dtype=torch.float64,
    )
    g = torch.zeros(10_000, 1, 4, dtype=torch.float64)
    g[-1, 0, 0] = 1
    norms = backward(ours, unroll(ours, torch.zeros(10_000, 1, 2, dtype=torch.float64)), g).delta.norm(dim=-1)
    torch.testing.assert_close(norms, torch.ones_like(norms), rtol=0, atol=1e-11)  # 10 000 roundings of 1e-16 each


def test_nothing_of_the_callers_is_changed():
    ours, weights = make("lstm")
    for value in weights.values():
        value.requires_grad_()
    trace = unroll(ours, noise(4, 1, 2))
    kept = {name: value.clone() for name, value in trace.values.items()}
    g = noise(4, 1, 3).requires_grad_()
    copy = g.detach().clone()
    found = backward(ours, trace, g, chunk=2)
    assert all(torch.equal(trace[name], value) for name, value in kept.items())
    assert torch.equal(g.detach(), copy)
    assert g.requires_grad
    assert g.grad is None
    assert all(value.requires_grad and value.grad is None for value in weights.values())
    assert not any(value.requires_grad for value in (*found.grads.values(), found.delta, found.inputs))


G = noise(4, 1, 3)
WRONG = [
    ({"grad_h": None}, "grad_h is NoneType: it takes a tensor [time, batch, hidden], here (4, 1, 3)"),
    ({"grad_h": G[:3]}, "grad_h is (3, 1, 3): it takes a tensor [time, batch, hidden], here (4, 1, 3)"),
    ({"grad_h": G.float()}, "grad_h is torch.float32: it takes the cell's dtype, torch.float64"),
    ({"grad_h": G * math.nan}, "grad_h holds NaN or infinity: it takes finite numbers"),
    ({"chunk": 0}, "chunk is 0: it takes a whole number of at least 1"),
    ({"chunk": 2.5}, "chunk is 2.5: it takes a whole number of at least 1"),
    ({"window": "2"}, "window is '2': it takes a whole number of at least 1"),
    ({"window": True}, "window is True: it takes a whole number of at least 1"),
    ({"chunk": 2, "window": 2}, "chunk and window are both given: truncation takes one of them"),
    ({"cell": make("lstm")[0]}, "trace has h, a: it takes a trace of the same kind of cell"),
    ({"cell": make("tanh", hidden=4)[0]}, "trace has 2 inputs and 3 units: it takes 2 and 4, as the cell has"),
    ({"cell": make("tanh", inputs=5)[0]}, "trace has 2 inputs and 3 units: it takes 5 and 3, as the cell has"),
    (
        {"cell": make("tanh", dtype=torch.float32)[0]},
        "trace is torch.float64: it takes the cell's dtype, torch.float32",
    ),
]


@pytest.mark.parametrize(("change", "sentence"), WRONG, ids=[str(n) for n in range(len(WRONG))])
def test_what_does_not_fit_is_refused_in_words(change, sentence):
    ours, _ = make("tanh")
    arguments = {"cell": ours, "trace": unroll(ours, noise(4, 1, 2)), "grad_h": G}
    with pytest.raises(ValueError, match=re.escape(sentence)):
        backward(**(arguments | change))


def test_a_trace_that_is_not_finite_has_no_gradient():
    one = torch.ones(1, 1, dtype=torch.float64)
    ours = Elman(W_x=one, W_h=2.0**600 * one, b=one[0], activation="linear")
    trace = unroll(ours, torch.zeros(4, 1, 1, dtype=torch.float64))
    with pytest.raises(ValueError, match="the trace is not finite from step 3: there is no gradient to take back"):
        backward(ours, trace, torch.ones(4, 1, 1, dtype=torch.float64))


def test_a_gradient_beyond_the_range_of_floats_is_refused_where_it_leaves_it():
    one = torch.ones(1, 1, dtype=torch.float64)
    ours = Elman(W_x=one, W_h=3 * one, b=0 * one[0], activation="tanh")
    g = torch.zeros(1000, 1, 1, dtype=torch.float64)
    g[-1] = 1
    # 3^646 is a float, 3^647 is not
    with pytest.raises(ValueError, match="beyond the range of floats from step 353 back: shorten"):
        backward(ours, unroll(ours, torch.zeros(1000, 1, 1, dtype=torch.float64)), g)
