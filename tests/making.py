"""Cells with known weights, sequences to feed them, and the fixtures' numbers as tensors."""

import numpy as np
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


# ---------------------------------------------------------------- the fixtures


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def close(got, right, tolerance=1e-12):
    """The tolerance that the fixtures name for float64."""
    np.testing.assert_allclose(np.asarray(got), np.asarray(right), rtol=0, atol=tolerance)


def far(got, right):
    return float((got - right).abs().max())


def module(kind, case, suffix=""):
    """torch's module with a fixture's weights."""
    d, H = len(case["weight_ih" + suffix][0]), len(case["weight_hh" + suffix][0])
    net = getattr(torch.nn, kind)(d, H, dtype=torch.float64)
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    net.load_state_dict({f"{name}_l0": tensor(case[name + suffix]) for name in names})
    return net


def start(case):
    return tensor(case["x"])[:, None], tensor([case["h0"]]), tensor([case["c0"]])
