"""Cells with known weights, and sequences to feed them, for the tests."""

import torch

from rnnviz.cells import GRU, LSTM, Elman
from tests import reference

KINDS = reference.KINDS


def make(kind, inputs=2, hidden=3, seed=0, dtype=torch.float64, scale=1.0):
    """A cell of the kind, and its weights by name as the slow code takes them."""
    weights = reference.random_weights(kind, inputs, hidden, seed, dtype, scale)
    return cell(kind, weights), weights


def cell(kind, weights):
    if kind == "lstm":
        return LSTM(**weights)
    return GRU(**weights, reset=kind) if kind in ("before", "after") else Elman(**weights, activation=kind)


def noise(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def state(kind, batch, hidden, seed=9, dtype=torch.float64):
    """A random initial state as unroll takes it: h, or the pair (h, c)."""
    h, c = noise(2, batch, hidden, seed=seed, dtype=dtype)
    return (h, c) if kind == "lstm" else h


def parts(s):
    """A state as a tuple of its parts."""
    return s if isinstance(s, tuple) else (s,)
