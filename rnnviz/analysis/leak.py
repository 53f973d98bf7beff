"""A forgotten reset: the same sequence twice, and what the state that was carried over still does."""

import math

import torch
from torch import Tensor

from rnnviz.analysis.norms import log_norm
from rnnviz.cells import Cell, build
from rnnviz.config import CellConfig, InputConfig
from rnnviz.inputs import sequence
from rnnviz.results import Array, Leaked
from rnnviz.trace import Trace, unroll


def leaked(cell: CellConfig, inputs: InputConfig) -> Leaked:
    """Read a seeded sequence, then again: once from zeros, once from the state s_T in which the first pass ended.

    apart = ‖s_t carried - s_t reset‖, t = 0..T, [T+1]; s is (h, c) for the LSTM. The pass from zeros is the first one
    over again, so two passes are enough. ValueError names a wrong argument, or a first pass that left the range of
    floats. Source: stored states, Kapturowski et al. (2019); a state's influence, Bengio et al. (1994).
    """
    network = build(cell)
    x = sequence(inputs, cell.inputs)
    reset = unroll(network, x)
    if reset.first_nonfinite is not None:
        raise ValueError(
            f"the state is not finite from step {reset.first_nonfinite}: there is none to carry over, lower gain"
        )
    end = tuple(reset[name][-1] for name in network.state_names)
    carried = unroll(network, x, end if len(end) > 1 else end[0])
    states = _whole(network, reset)
    largest = float(states.abs().max())
    floor = 4 * torch.finfo(network.dtype).eps * math.sqrt(states.shape[1]) * largest
    apart = _apart(_whole(network, carried), states)
    return Leaked(cell.cell, apart, _apart(carried["h"][:, 0], reset["h"][:, 0]), floor)


def _whole(network: Cell, trace: Trace) -> Tensor:
    return torch.cat([trace[name] for name in network.state_names], -1)[:, 0]


def _apart(carried: Tensor, reset: Tensor) -> Array:
    """‖carried - reset‖ after each step; infinite where a state is: it has not lost what was carried over."""
    norms = log_norm(carried - reset).exp()
    found: Array = torch.where(carried.isfinite().all(-1), norms, math.inf).numpy()
    return found
