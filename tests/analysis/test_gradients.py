"""The gradient by lag, against autograd through a copy of every weight at every use, and its sum against backward()."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnviz.analysis.gradients import by_lag
from rnnviz.bptt import backward
from rnnviz.cells import Elman
from rnnviz.trace import Clamp, unroll
from tests.making import KINDS, make, noise, parts, state

TIME, BATCH, HIDDEN = 6, 2, 3


def slowly(cell, x, start, g, lengths=None):
    """Lag -> name -> dL/dW, each use of a weight a copy of its own: T backward passes over one graph."""
    copies = [{n: v.clone().requires_grad_() for n, v in cell.parameters().items()} for _ in range(len(x))]
    s, states = start, []
    for t, (row, named) in enumerate(zip(x, copies, strict=True)):
        new = replace(cell, **named).step(row, s)
        if lengths is not None:
            going = (t < torch.tensor(lengths)).unsqueeze(-1)
            kept = tuple(torch.where(going, n, o) for n, o in zip(parts(new), parts(s), strict=True))
            new = kept if len(kept) > 1 else kept[0]
        s = new
        states.append(parts(s)[0])
    found = [{n: torch.zeros_like(v) for n, v in cell.parameters().items()} for _ in range(len(x))]
    for t in range(len(x)):
        for use in range(t + 1):
            leaves = copies[use]
            grads = torch.autograd.grad(
                (g[t] * states[t]).sum(), list(leaves.values()), retain_graph=True, allow_unused=True
            )
            for name, value in zip(leaves, grads, strict=True):
                found[t - use][name] += 0 if value is None else value
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lengths", [None, [6, 4]])
def test_each_lag_is_the_gradient_through_the_uses_that_far_back(kind, lengths):
    cell, _ = make(kind, hidden=HIDDEN, seed=3)
    x, start, g = noise(TIME, BATCH, 2), state(kind, BATCH, HIDDEN), noise(TIME, BATCH, HIDDEN, seed=5)
    found = by_lag(cell, unroll(cell, x, start, lengths=lengths), g)
    right = slowly(cell, x, start, g, lengths)
    for name, whole in backward(cell, unroll(cell, x, start, lengths=lengths), g).grads.items():
        for lag in range(TIME):
            part = right[lag][name]
            # float64, sums of a few dozen terms
            assert math.exp(found.log_norm[name][lag]) == pytest.approx(float(part.norm()), rel=1e-11, abs=1e-13)
            share = float((part * whole).sum() / whole.square().sum())
            assert found.share[name][lag] == pytest.approx(share, abs=1e-12)
        assert found.share[name].sum() == pytest.approx(1, abs=1e-12)


@settings(max_examples=30)
@given(
    kind=st.sampled_from(KINDS),
    time=st.integers(1, 12),
    batch=st.integers(1, 3),
    hidden=st.integers(1, 5),
    seed=st.integers(0, 2**31),
    losses=st.sets(st.integers(0, 11), max_size=3),
)
def test_shares_add_up_to_one_wherever_the_losses_are(kind, time, batch, hidden, seed, losses):
    cell, _ = make(kind, hidden=hidden, seed=seed)
    g = torch.zeros(time, batch, hidden, dtype=torch.float64)
    for t in losses:
        g[min(t, time - 1)] = noise(batch, hidden, seed=seed + t)
    trace = unroll(cell, noise(time, batch, 2, seed=seed))
    found, grads = by_lag(cell, trace, g), backward(cell, trace, g).grads
    for name, grad in grads.items():
        assert found.share[name].shape == found.log_norm[name].shape == (time,)
        if grad.abs().max() > 1e-12:
            assert found.share[name].sum() == pytest.approx(1, abs=1e-9)
        if not losses:
            assert np.isnan(found.share[name]).all()
            assert np.isneginf(found.log_norm[name]).all()


def test_a_clamped_gate_collects_nothing_at_any_lag():
    cell, _ = make("lstm")
    trace = unroll(cell, noise(8, 1, 2), clamps=[Clamp("f", 1.0)])
    found = by_lag(cell, trace, noise(8, 1, 3, seed=1))
    assert np.isneginf(found.log_norm["U_f"]).all()
    assert found.share["U_i"].sum() == pytest.approx(1)


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_lags_far_outside_the_range_of_floats_keep_their_size(factor):
    """A linear unit with one weight: the use k steps back gets factor^k times the state before it, 1."""
    one = torch.ones(1, 1, dtype=torch.float64)
    cell = Elman(W_x=one, W_h=factor * one, b=torch.zeros(1, dtype=torch.float64), activation="linear")
    trace = unroll(cell, torch.ones(100, 1, 1, dtype=torch.float64)) if factor < 1 else None
    g = torch.zeros(200, 1, 1, dtype=torch.float64)
    g[-1] = 1.0
    if trace is None:  # states that stay 0, so that only b hears anything, and by more than a float can hold
        trace = unroll(cell, torch.zeros(200, 1, 1, dtype=torch.float64))
    else:
        g = g[100:]
    found = by_lag(cell, trace, g)
    assert found.log_norm["b"] == pytest.approx(np.arange(len(g)) * math.log(factor), abs=1e-9)
    assert found.share["b"].sum() == pytest.approx(1)


def test_what_does_not_fit_is_refused():
    cell, _ = make("tanh")
    trace = unroll(cell, noise(5, 1, 2))
    with pytest.raises(ValueError, match=r"grad_h is \(4, 1, 3\): it takes a tensor \[time, batch, hidden\]"):
        by_lag(cell, trace, noise(4, 1, 3))
    with pytest.raises(ValueError, match="trace is a list"):
        by_lag(cell, [], noise(5, 1, 3))


def test_inputs_of_almost_no_size_still_have_their_shares():
    """A float of 1e-310 has no full digits, and its square none at all."""
    for tiny, dtype in ((1e-310, torch.float64), (1e-42, torch.float32)):
        eye = torch.eye(2, dtype=dtype)
        cell = Elman(W_x=eye[:, :1], W_h=0.5 * eye, b=torch.zeros(2, dtype=dtype), activation="linear")
        found = by_lag(cell, unroll(cell, torch.full((4, 1, 1), tiny, dtype=dtype)), torch.ones(4, 1, 2, dtype=dtype))
        # lag k: (4 - k) losses, each halved k times
        right = np.array([4, 3 / 2, 2 / 4, 1 / 8])
        assert found.share["W_x"] == pytest.approx(right / right.sum(), rel=1e-2)
