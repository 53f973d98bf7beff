"""unroll_stack(): layers and directions as torch orders them, packed sequences, reversed time."""

import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from rnnviz.cells import Cell
from rnnviz.trace import flip, unroll, unroll_stack
from tests.making import make, noise

MODULES = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}


def cells(module):
    directions = (False, True) if module.bidirectional else (False,)
    return [tuple(Cell.from_torch(module, k, reverse) for reverse in directions) for k in range(module.num_layers)]


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("lengths", [None, [2, 5, 1]])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_stack_is_torchs_module_packed_or_not(kind, both, lengths, dtype):
    """SH-05: a packed sequence ends at its last real step."""
    net = MODULES[kind](3, 4, num_layers=3, bidirectional=both, dtype=dtype)
    x = noise(5, 3, 3, dtype=dtype)
    given_ = x if lengths is None else nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
    with torch.no_grad():
        out, last = net(given_)
    states = dict(zip("hc", last if kind == "lstm" else (last,), strict=False))
    traces = unroll_stack(cells(net), x, lengths=lengths)
    assert len(traces) == 3 * (1 + both)
    close = {"atol": 2e-6 if dtype == torch.float32 else 1e-14, "rtol": 0}
    for k, trace in enumerate(traces):
        for name, value in states.items():
            torch.testing.assert_close(trace[name][-1], value[k], **close)
    top = [traces[-2]["h"][1:], flip(traces[-1]["h"][1:], lengths)] if both else [traces[-1]["h"][1:]]
    got = torch.cat(top, -1)
    if lengths is not None:
        out, _ = nn.utils.rnn.pad_packed_sequence(out)
        got = got * traces[0].valid
    torch.testing.assert_close(got, out, **close)


def test_h_n_of_both_directions(fixtures):
    """SH-02: the backward direction ends at the first step."""
    case = fixtures("shapes")["bidirectional_ones"]
    net = nn.RNN(1, 1, nonlinearity="relu", bidirectional=True, bias=False, dtype=torch.float64)
    with torch.no_grad():
        for p in net.parameters():
            p.fill_(1.0)
    forward, backward = unroll_stack(cells(net), torch.tensor(case["x"], dtype=torch.float64).reshape(4, 1, 1))
    assert forward["h"][1:].flatten().tolist() == case["forward"]
    assert flip(backward["h"][1:]).flatten().tolist() == case["backward_by_time"]
    assert [float(forward["h"][-1]), float(backward["h"][-1])] == case["h_n"]
    assert [float(forward["h"][-1]), float(flip(backward["h"][1:])[-1])] == case["output_last_step"]


@pytest.mark.parametrize("kind", ["tanh", "lstm", "before", "after"])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**31), time=st.integers(1, 5), padded=st.booleans())
def test_the_backward_direction_is_the_forward_one_of_reversed_time(kind, seed, time, padded):
    forth, back = make(kind, seed=seed)[0], make(kind, seed=seed + 1)[0]
    x = noise(time, 2, 2, seed=seed)
    lengths = [time, 1 + seed % time] if padded else None
    mirrored = flip(x, lengths)
    a, b = unroll_stack([(forth, back)], x, lengths=lengths), unroll_stack([(back, forth)], mirrored, lengths=lengths)
    for one, other in ((a[0], b[1]), (a[1], b[0])):
        assert torch.equal(one["h"], other["h"])
    assert torch.equal(flip(mirrored, lengths), x)


@pytest.mark.parametrize("lengths", [None, [4, 2], [4.0, 2.0], torch.tensor([4.0, 2.0])])
def test_a_flip_turns_each_sequence_within_its_length(lengths):
    steps = torch.arange(4.0).reshape(4, 1, 1).expand(4, 2, 1)
    expected = [[3, 3], [2, 2], [1, 1], [0, 0]] if lengths is None else [[3, 1], [2, 0], [1, 2], [0, 3]]
    assert flip(steps, lengths).squeeze(-1).tolist() == expected


def test_lengths_may_be_whole_floats_in_both_directions():
    ours, x = make("tanh")[0], noise(3, 2, 2)
    floats, whole = (unroll_stack([(ours, ours)], x, lengths=lengths) for lengths in ([3.0, 2.0], [3, 2]))
    assert all(torch.equal(a["h"], b["h"]) for a, b in zip(floats, whole, strict=True))
    with pytest.raises(ValueError, match=re.escape("lengths is 1.5: it takes a whole number from 1 to 3")):
        flip(x, [3, 1.5])


def test_one_layer_is_unroll():
    ours, _ = make("lstm")
    x = noise(4, 2, 2)
    (trace,) = unroll_stack([(ours,)], x)
    assert torch.equal(trace["c"], unroll(ours, x)["c"])


ONE = make("tanh")[0]
SENTENCE = "layers is a list of (forward,) or (forward, backward): it takes at least one layer"
WRONG = [
    ([], noise(3, 1, 2), SENTENCE),
    (None, noise(3, 1, 2), SENTENCE),
    ([ONE], noise(3, 1, 2), SENTENCE),
    ([()], noise(3, 1, 2), SENTENCE),
    ([(ONE, ONE, ONE)], noise(3, 1, 2), SENTENCE),
    ([(ONE,), (ONE,)], noise(3, 1, 2), "inputs has shape (3, 1, 3): it takes a tensor [time, batch, 2]"),
    ([(ONE,)], noise(3, 2), "one sequence of 3 steps is inputs[:, None, :]"),
]


@pytest.mark.parametrize(("layers", "inputs", "sentence"), WRONG, ids=[str(n) for n in range(len(WRONG))])
def test_what_does_not_fit_is_refused_in_words(layers, inputs, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        unroll_stack(layers, inputs)
