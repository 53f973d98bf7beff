"""unroll(): shapes and names, lengths, clamps, what is not finite, refusals; nothing of the caller's changes."""

import math
import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnviz.analysis.jacobians import step_jacobians
from rnnviz.bptt import backward
from rnnviz.cells import GRU, LSTM, Elman
from rnnviz.trace import Clamp, unroll, unroll_stack
from tests import reference
from tests.making import KINDS, make, noise, parts, state

CLAMPS = {
    "lstm": [("f", 1.0, None, 2, 3), ("i", 0.0, (1,), 1, None), ("o", 0.5, (0,), 3, 3), ("g", -0.25, (0, 1), 4, None)],
    "before": [("z", 0.0, (0,), 2, 3), ("r", 1.0, None, 1, 2), ("n", 0.5, (1,), 3, None)],
    "after": [("z", 1.0, None, 2, 2), ("r", 0.25, (1,), 1, None), ("n", -0.5, (0,), 4, 5)],
}
STATES = {"lstm": ("h", "c")}
MADE = {"lstm": "ifgo", "before": "zrn", "after": "zrn"}


def clamps(kind, on):
    return [Clamp(*given_) for given_ in CLAMPS.get(kind, [])] if on else []


def slow(kind, weights, x, s, **options):
    rows = [torch.cat([part[b] for part in parts(s)]).numpy() for b in range(x.shape[1])]
    return reference.run(kind, weights, x, rows, **options)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(
    inputs=st.integers(1, 3), hidden=st.integers(2, 4), time=st.integers(1, 6), batch=st.integers(1, 3),
    seed=st.integers(0, 2**31), clamped=st.booleans(), padded=st.booleans(),
)  # fmt: skip
def test_a_trace_is_the_slow_loop(kind, inputs, hidden, time, batch, seed, clamped, padded):
    ours, weights = make(kind, inputs, hidden, seed, scale=0.7)
    x, s = noise(time, batch, inputs, seed=seed + 1), state(kind, batch, hidden, seed + 2)
    lengths = [1 + (seed + b) % time for b in range(batch)] if padded else None
    held = [c for c in CLAMPS.get(kind, []) if clamped and c[3] <= time]
    held = [(g, v, u, a, None if b is None else min(b, time)) for g, v, u, a, b in held]
    trace = unroll(ours, x, s, lengths=lengths, clamps=[Clamp(*c) for c in held])
    expected = slow(kind, weights, x, s, lengths=lengths, clamps=held)
    named = {"h": expected["s"][..., :hidden], **expected}
    if kind == "lstm":
        named["c"] = expected["s"][..., hidden:]
    del named["s"]
    assert set(trace.values) == set(named)
    for name, value in named.items():
        # at most 6 steps of a map that stretches rounding by less than 10 a step
        np.testing.assert_allclose(trace[name], value, rtol=1e-9, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("time", "batch", "hidden"), [(1, 1, 1), (4, 2, 3)])
def test_axes_dtype_and_row_0(kind, dtype, time, batch, hidden):
    ours, _ = make(kind, hidden=hidden, dtype=dtype)
    s = state(kind, batch, hidden, dtype=dtype)
    for given_, start in ((s, parts(s)), (None, [torch.zeros(batch, hidden, dtype=dtype)] * 2)):
        trace = unroll(ours, noise(time, batch, 2, dtype=dtype), given_)
        for name in trace.values:
            states = name in STATES.get(kind, ("h",))
            assert tuple(trace[name].shape) == (time + states, batch, hidden), name
            assert trace[name].dtype == dtype, name
        for name, part in zip(STATES.get(kind, ("h",)), start, strict=False):
            assert torch.equal(trace[name][0], part)
        assert trace.first_nonfinite is None
        assert trace.valid is None


@pytest.mark.parametrize("kind", KINDS)
def test_unroll_is_step_in_a_loop_detached(kind):
    ours, weights = make(kind)
    for value in weights.values():
        value.requires_grad_()
    x, s = noise(5, 2, 2).requires_grad_(), state(kind, 2, 3)
    copies = x.detach().clone(), *(part.clone() for part in parts(s))
    trace = unroll(ours, x, s)
    for t in range(5):
        s = ours.step(x[t], s)
        for name, part in zip(STATES.get(kind, ("h",)), parts(s), strict=True):
            # a product of one row may be summed in another order than that of many
            torch.testing.assert_close(trace[name][t + 1], part.detach(), rtol=1e-13, atol=1e-14)
    assert not any(value.requires_grad for value in (*trace.values.values(), trace.inputs))
    # nothing of the caller's is changed
    assert x.requires_grad
    assert all(value.requires_grad and value.grad is None for value in weights.values())
    assert all(torch.equal(a, b) for a, b in zip(copies, (x, *parts(state(kind, 2, 3))), strict=True))
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**31), batch=st.integers(2, 4))
def test_a_sequence_does_not_see_its_neighbours(kind, seed, batch):
    ours, _ = make(kind, seed=seed, scale=0.7)
    x, s = noise(4, batch, 2, seed=seed), state(kind, batch, 3, seed + 1)
    lengths = [1 + (seed + b) % 4 for b in range(batch)]
    together = unroll(ours, x, s, lengths=lengths)
    for b in range(batch):
        alone = parts(tuple(part[b : b + 1] for part in parts(s)))
        trace = unroll(ours, x[: lengths[b], b : b + 1], alone if kind == "lstm" else alone[0])
        for name in STATES.get(kind, ("h",)):
            # a product of one row may be summed in another order than that of many
            torch.testing.assert_close(together[name][: lengths[b] + 1, b], trace[name][:, 0], rtol=1e-11, atol=1e-12)
            assert (together[name][lengths[b] :, b] == together[name][lengths[b], b]).all()


@pytest.mark.parametrize("lengths", [[4, 1, 3], (4, 1, 3), torch.tensor([4, 1, 3]), np.array([4, 1, 3])])
def test_lengths_mark_what_is_real(lengths):
    trace = unroll(make("lstm")[0], noise(4, 3, 2), lengths=lengths)
    assert trace.valid.squeeze(-1).sum(0).tolist() == [4, 1, 3]
    assert torch.equal(trace["c"][4, 1], trace["c"][1, 1])


@pytest.mark.parametrize("kind", ["lstm", "before", "after"])
def test_a_clamp_holds_its_units_over_its_steps_and_only_these(kind):
    ours, _ = make(kind)
    x = noise(5, 2, 2)
    for gate, value, units, first, last in CLAMPS[kind]:
        trace = unroll(ours, x, clamps=[Clamp(gate, value, units, first, last)])
        mask = torch.zeros(5, 3, dtype=torch.bool)
        mask[first - 1 : last, list(range(3)) if units is None else list(units)] = True
        held = trace[gate].transpose(0, 1)
        assert (held[:, mask] == value).all()
        assert not (held[:, ~mask] == value).any()
        assert torch.equal(trace.held(gate).squeeze(1), mask)
        assert trace.held("i" if gate != "i" else "f") is None
        assert not torch.equal(trace["h"], unroll(ours, x)["h"])


def test_of_two_clamps_the_later_counts():
    trace = unroll(make("lstm")[0], noise(3, 1, 2), clamps=[Clamp("f", 0), Clamp("f", 1, units=[2])])
    assert trace["f"][:, 0].tolist() == [[0.0, 0.0, 1.0]] * 3


def test_f_at_1_and_i_at_0_keep_the_cell_exactly():
    """The latch: c does not move by a bit while it is held."""
    latch = [Clamp("f", 1.0, first=21), Clamp("i", 0.0, first=21)]
    trace = unroll(make("lstm", hidden=16)[0], noise(60, 2, 2), clamps=latch)
    assert torch.equal(trace["c"][20], trace["c"][60])
    assert not torch.equal(trace["h"][20], trace["h"][60])


@pytest.mark.parametrize(
    ("kind", "names"),
    [("tanh", "h, a"), ("lstm", "h, c, i, f, g, o, a_i, a_f, a_g, a_o"), ("before", "h, z, r, n, a_z, a_r, a_n")],
)
def test_a_name_that_the_cell_has_not_lists_its_names(kind, names):
    trace = unroll(make(kind)[0], noise(1, 1, 2))
    with pytest.raises(KeyError, match=f"'q': this trace has {names}"):
        trace["q"]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_first_step_that_is_not_finite_is_named(dtype):
    """h doubles twenty times a step: 2**(20t) leaves float32 after 2**127, float64 after 2**1023."""
    one = torch.ones(1, 1, dtype=dtype)
    trace = unroll(Elman(W_x=one, W_h=2.0**20 * one, b=one[0], activation="linear"), torch.zeros(60, 2, 1, dtype=dtype))
    assert trace.first_nonfinite == {torch.float32: 8, torch.float64: 53}[dtype]
    assert torch.isfinite(trace["h"][trace.first_nonfinite - 1]).all()
    assert not torch.isfinite(trace["h"][trace.first_nonfinite]).any()


@pytest.mark.parametrize("kind", ["tanh", "lstm"])
def test_ten_thousand_steps(kind):
    """A long trace goes on from its middle as a new one does."""
    ours, _ = make(kind, hidden=4, scale=0.4)
    x = noise(10_000, 1, 2)
    whole = unroll(ours, x)
    names = STATES.get(kind, ("h",))
    s = tuple(whole[name][9_000] for name in names)
    rest = unroll(ours, x[9_000:], s if kind == "lstm" else s[0])
    assert whole.first_nonfinite is None
    for name in names:
        torch.testing.assert_close(rest[name][1:], whole[name][9_001:], rtol=1e-12, atol=1e-13)


def test_a_linear_cell_sums_powers(fixtures):
    """SC-03: h_100 of h' = a h + 1 from 0 is the sum of a**k, k < 100."""
    one = torch.ones(1, 1, dtype=torch.float64)
    for a, expected in fixtures("numerics")["diag_stability"]["final"].items():
        trace = unroll(Elman(W_x=one, W_h=float(a) * one, b=0 * one[0], activation="linear"), one.expand(100, 1, 1))
        assert float(trace["h"][-1]) == pytest.approx(expected, rel=1e-12)


# ---------------------------------------------------------------- refusals

X = noise(3, 2, 2)
NAN, INF = X.clone(), X.clone()
NAN[1, 0, 1], INF[2, 1, 0] = math.nan, -math.inf
Z = torch.zeros(2, 3, dtype=torch.float64)
WRONG = [
    ("tanh", [[0.0]], {}, "inputs is a list: it takes a tensor [time, batch, 2]"),
    ("tanh", noise(5, 2), {}, "inputs has shape (5, 2): it takes a tensor [time, batch, 2]; one sequence of 5 steps"),
    ("tanh", noise(2), {}, "inputs has shape (2,): it takes a tensor [time, batch, 2]"),
    ("tanh", noise(3, 2, 4), {}, "inputs has shape (3, 2, 4): it takes a tensor [time, batch, 2]"),
    ("tanh", noise(1, 3, 2, 2), {}, "inputs has shape (1, 3, 2, 2): it takes"),
    ("tanh", X[:0], {}, "inputs has shape (0, 2, 2): it takes a tensor [time, batch, 2] with at least one step"),
    ("tanh", X[:, :0], {}, "inputs has shape (3, 0, 2): it takes a tensor [time, batch, 2] with at least one step"),
    ("tanh", X.float(), {}, "inputs is torch.float32: it takes the cell's dtype, torch.float64"),
    ("tanh", X.long(), {}, "inputs is torch.int64: it takes the cell's dtype"),
    ("tanh", NAN, {}, "inputs[1, 0, 1] is nan: it takes finite numbers"),
    ("tanh", INF, {}, "inputs[2, 1, 0] is -inf: it takes finite numbers"),
    ("tanh", X, {"state": (Z, Z)}, "state is not a tensor h, each [batch, hidden]"),
    ("lstm", X, {"state": Z}, "state is not the pair (h, c), each [batch, hidden]"),
    ("lstm", X, {"state": (Z, [[0.0]])}, "state is not the pair (h, c)"),
    ("lstm", X, {"state": (Z, Z[:1])}, "state c has shape (1, 3), torch.float64: it takes (2, 3), torch.float64"),
    ("tanh", X, {"state": Z.float()}, "state h has shape (2, 3), torch.float32: it takes (2, 3), torch.float64"),
    ("tanh", X, {"state": Z + math.nan}, "state h holds NaN or infinity: it takes finite numbers"),
    ("tanh", X, {"lengths": [3]}, "lengths has 1 entries: it takes one for each of the 2 sequences"),
    ("tanh", X, {"lengths": [3, 0]}, "lengths is 0: it takes a whole number from 1 to 3"),
    ("tanh", X, {"lengths": [4, 1]}, "lengths is 4: it takes a whole number from 1 to 3"),
    ("tanh", X, {"lengths": [1.5, 1]}, "lengths is 1.5: it takes a whole number from 1 to 3"),
    ("tanh", X, {"lengths": 3}, "lengths is 3: it takes one whole number for each of the 2 sequences"),
    ("tanh", X, {"lengths": "31"}, "lengths is '31': it takes one whole number"),
    ("tanh", X, {"clamps": [Clamp("f", 1.0)]}, "clamp gate is 'f': this cell has no gate"),
    ("lstm", X, {"clamps": [Clamp("z", 1.0)]}, "clamp gate is 'z': this cell has i, f, g, o"),
    ("lstm", X, {"clamps": [Clamp("f", math.nan)]}, "clamp value is nan: it takes a finite number"),
    ("lstm", X, {"clamps": [Clamp("f", "high")]}, "clamp value is 'high': it takes a finite number"),
    ("lstm", X, {"clamps": [Clamp("f", 1.0, units=(3,))]}, "clamp units is 3: it takes a whole number from 0 to 2"),
    (
        "lstm",
        X,
        {"clamps": [Clamp("f", 1.0, units=1)]},
        "clamp units is 1: it takes a list of indices, or None for all",
    ),
    ("lstm", X, {"clamps": None}, "clamps is None: it takes a list of Clamp"),
    (
        "lstm",
        X,
        {"clamps": Clamp("f", 1.0)},
        "clamps is Clamp(gate='f', value=1.0, units=None, first=1, last=None): it",
    ),
    ("lstm", X, {"clamps": [("f", 1.0)]}, "clamps is [('f', 1.0)]: it takes a list of Clamp"),
    ("lstm", X, {"clamps": [Clamp("f", 1.0, first=0)]}, "clamp first is 0: it takes a whole number from 1 to 3"),
    ("lstm", X, {"clamps": [Clamp("f", 1.0, first=3, last=2)]}, "clamp last is 2: it takes a whole number from 3 to 3"),
]


@pytest.mark.parametrize(("kind", "inputs", "options", "sentence"), WRONG, ids=[str(n) for n in range(len(WRONG))])
def test_what_does_not_fit_is_refused_in_words(kind, inputs, options, sentence):
    """SH-08."""
    with pytest.raises(ValueError, match=re.escape(sentence)):
        unroll(make(kind)[0], inputs, **options)


@pytest.mark.parametrize("cell", [None, torch.nn.RNN(2, 3), Elman, "gru"], ids=["none", "module", "class", "name"])
def test_what_is_no_cell_is_refused_in_words(cell):
    got = re.escape(f"cell is {'Elman' if cell is Elman else f'a {type(cell).__name__}'}: it takes an Elman, an LSTM")
    with pytest.raises(ValueError, match=got):
        unroll(cell, X)
    with pytest.raises(ValueError, match=got):
        unroll_stack([(cell,)], X)


@pytest.mark.parametrize("trace", [None, {"h": Z}], ids=["none", "dict"])
def test_what_is_no_trace_is_refused_in_words(trace):
    ours, _ = make("lstm")
    with pytest.raises(ValueError, match=r"trace is a \w+: it takes what unroll\(\) returns"):
        backward(ours, trace, X)
    with pytest.raises(ValueError, match=r"trace is a \w+: it takes what unroll\(\) returns"):
        step_jacobians(ours, trace)
    with pytest.raises(ValueError, match="cell is a NoneType"):
        backward(None, trace, X)


@pytest.mark.parametrize("cell", [Elman.init(2, 3), LSTM.init(2, 3), GRU.init(2, 3)], ids=["rnn", "lstm", "gru"])
def test_the_default_dtype_goes_with_plain_torch_inputs(cell):
    assert unroll(cell, torch.zeros(2, 1, 2))["h"].dtype == torch.float32


def test_a_trace_stays_when_the_callers_tensor_changes():
    ours, _ = make("after")
    x = noise(4, 1, 2)
    trace = unroll(ours, x)
    before = trace.inputs.clone()
    x.zero_()
    assert torch.equal(trace.inputs, before)


@pytest.mark.parametrize(
    ("clamp", "says"),
    [
        (Clamp("f", 1e39), "clamp value is 1e.39: it takes a finite number of at least -3.4"),
        (Clamp("f", 1, units=torch.tensor(0)), "clamp units is tensor"),
        (Clamp(np.array(["f", "g"]), 1), "clamp gate is array"),
    ],
)
def test_a_clamp_that_cannot_be_is_refused_in_words(clamp, says):
    ours, _ = make("lstm", dtype=torch.float32)
    with pytest.raises(ValueError, match=says):
        unroll(ours, noise(4, 1, 2, dtype=torch.float32), clamps=[clamp])


@pytest.mark.parametrize("x", [noise(4, 1, 2).to_sparse(), torch.zeros(4, 1, 2, dtype=torch.float64, device="meta")])
def test_inputs_that_are_not_there_as_numbers_are_refused(x):
    ours, _ = make("tanh")
    with pytest.raises(ValueError, match="it takes a dense tensor on the CPU"):
        unroll(ours, x)
