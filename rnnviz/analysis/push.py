"""A push of the state: what is left of it later, what the derivative predicts, and which part made it so."""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnviz import arguments
from rnnviz.analysis.jacobians import step_jacobians, transport
from rnnviz.analysis.norms import log_norm, scaled
from rnnviz.arguments import Given, Network, Number, Unrolled, Whole
from rnnviz.cells import Cell, Elman, build
from rnnviz.config import CellConfig, InputConfig
from rnnviz.inputs import sequence
from rnnviz.results import Carried, Push
from rnnviz.trace import check_trace, unroll

VECTORS = 32


def push(cell: CellConfig, inputs: InputConfig, step: Whole, size: Number) -> Push:
    """Push the state of a seeded cell that reads a seeded sequence: nudge() of what the two configs describe.

    s' = s + size*v after `step`; curves [time-step+1]. ValueError names a wrong argument. Source: as nudge(), Bengio et
    al. (1994).
    """
    network = build(cell)
    return nudge(network, unroll(network, sequence(inputs, cell.inputs)), step, size, cell.seed)


def nudge(network: Network, trace: Unrolled, step: Whole, size: Number, seed: Whole = 0) -> Push:
    """Push the state after `step` by size*v and watch ‖s'_t - s_t‖/size beside ‖J_t ... J_{step+1} v‖, v a unit vector.

    trace: one sequence that the cell read, no gate held. step is 0..time-1; size is positive; seed draws v. Every curve
    is [time-step+1]. ValueError names what does not fit. Source: the definition of the derivative; its decay is Bengio
    et al. (1994).
    """
    check_trace(network, trace)
    x = trace.inputs
    if x.shape[1] != 1 or trace.valid is not None or trace.masks:
        raise ValueError(f"trace has {x.shape[1]} sequences, lengths or clamps: a nudge takes one sequence read freely")
    step = arguments.integer("step", step, 0, x.shape[0] - 1)
    size = arguments.number("size", size, above=0.0)
    seed = arguments.integer("seed", seed, 0, 2**63 - 1)
    states = torch.cat([trace[name] for name in network.state_names], -1)[step:, 0]  # [later+1, state]
    v = directions(states.shape[1], 1, seed)[:, 0].to(network.dtype)
    start = states[0] + size * v
    moved = start.unsqueeze(0).split(network.hidden, -1)
    again = unroll(network, x[step:], moved if len(moved) > 1 else moved[0])
    pushed = torch.cat([again[name] for name in network.state_names], -1)[:, 0]
    # A pushed run that leaves the range of floats has not lost its push.
    apart = torch.where(pushed.isfinite().all(-1), log_norm(pushed - states), math.inf)
    left = (apart.double() - math.log(size)).exp()

    J = step_jacobians(network, trace)[step:]
    predicted = np.zeros(len(J) + 1)
    for n, jacobian in enumerate(J, 1):
        v = jacobian @ v
        predicted[n] = predicted[n - 1] + float(log_norm(v))
        v, _ = scaled(v, 0)
        v = v / v.norm().clamp_min(1.0)  # a unit vector again, or still zero
    # The transposed product in reverse order has the same norms, and grows by one step at a time as this one does.
    forward = transport(J.flip(0).mT, exponents=False)
    simple = _simple_bound(network, len(J))
    # Two states this close differ by rounding alone: an error is as large as the states were when it was made.
    largest = states.abs().amax(-1).cummax(0).values
    floor = (4 * torch.finfo(network.dtype).eps * math.sqrt(states.shape[1]) / size * largest.double()).numpy()
    return Push(step, size, left.numpy(), predicted, forward.log_norm[::-1], forward.log_bound[::-1], simple, floor)


def carried(cell: CellConfig, inputs: InputConfig) -> Carried:
    """What arrives from the end in a seeded cell that reads a seeded sequence: carry() of 32 random unit vectors.

    u_{t-1} = J_t^T u_t; curves by lag [time+1]. ValueError names what does not fit. Source: as carry(), Pascanu et al.
    (2013).
    """
    network = build(cell)
    trace = unroll(network, sequence(inputs, cell.inputs))
    return carry(network, trace, directions(cell.hidden * len(network.state_names), VECTORS, cell.seed))


def carry(network: Network, trace: Unrolled, vectors: Given, batch: Whole = 0) -> Carried:
    """Carry vectors back from the end, u_{t-1} = J_t^T u_t, and split each step's factor ‖u_{t-1}‖ / ‖u_t‖.

    For Elman the factor is (‖D u‖/‖u‖)(‖W_h^T D u‖/‖D u‖), D = diag(phi'(a_t)): slope times weight, exactly, so their
    logarithms add up to the curve's. vectors [state, any number], not zero, of the cell's dtype. A vector that comes to
    an exact zero is left out from there on; if all do, the part that did it is -inf and the other unknown.
    ValueError names what does not fit. Source: the factors of Pascanu et al. (2013), along a vector, not as a bound.
    """
    J = step_jacobians(network, trace, batch)
    row = arguments.integer("batch", batch, 0, trace.inputs.shape[1] - 1)
    u, _ = scaled(_check_vectors(vectors, J), 0)
    with torch.no_grad():
        slopes_of = network.factors(trace)[0][:, row] if isinstance(network, Elman) else None
        W = network.recurrence().detach()[0]
    if trace.valid is not None and slopes_of is not None:
        raise ValueError("trace has lengths: the split into slope and weight takes sequences without padding")
    parts = np.zeros((2, len(J) + 1))  # ln of slopes and of weights; a gated cell's whole factor stands in the second
    for lag in range(1, len(J) + 1):
        t = len(J) - lag
        middle = u if slopes_of is None else slopes_of[t].unsqueeze(1) * u
        through = J[t].mT @ u if slopes_of is None else W.mT @ middle
        before, between, after = (log_norm(part, 0) for part in (u, middle, through))
        living = after > -math.inf
        if not bool(living.any()):
            # What ends them all is named; the other part is not known from here on.
            slopes_did = bool((between == -math.inf).all())
            parts[:, lag:] = np.array([[-np.inf], [np.nan]] if slopes_did else [[np.nan], [-np.inf]])
            break
        logs = torch.stack((between - before, after - between))[:, living]
        parts[:, lag] = parts[:, lag - 1] + logs.mean(1).numpy()
        u, _ = scaled(through[:, living], 0)
    gone = np.isneginf(parts).any(0)
    total = np.where(gone, -np.inf, parts.sum(0))
    slopes, weights = (None, None) if slopes_of is None else parts
    return Carried(transport(J), total, slopes, weights, u.shape[1])


def _check_vectors(vectors: Any, J: Tensor) -> Tensor:
    takes = f"it takes a tensor [state, number], here [{J.shape[1]}, ...], {J.dtype}, each vector finite and not zero"
    if not isinstance(vectors, Tensor) or vectors.dim() != 2 or vectors.shape[0] != J.shape[1]:
        got = tuple(vectors.shape) if isinstance(vectors, Tensor) else arguments.shown(vectors)
        raise ValueError(f"vectors is {got}: {takes}")
    sizes = log_norm(vectors, 0)
    if vectors.dtype != J.dtype or not vectors.shape[1] or not bool(sizes.isfinite().all()):
        raise ValueError(f"vectors is {vectors.dtype}, with norms {arguments.shown(sizes.exp().tolist())}: {takes}")
    return vectors.detach()


def _simple_bound(network: Cell, steps: int) -> np.ndarray | None:
    """n ln(gamma sigma_max(W_h)), gamma the largest slope there is; Elman only."""
    if not isinstance(network, Elman):
        return None
    gamma = 0.25 if network.activation == "sigmoid" else 1.0
    factor = gamma * float(torch.linalg.matrix_norm(network.W_h.detach(), 2))
    # written so that a factor of zero is 1 after no step: 0 times infinity is nothing
    return np.concatenate(([0.0], np.arange(1, steps + 1) * (math.log(factor) if factor > 0 else -math.inf)))


def directions(state: int, vectors: int, seed: int) -> Tensor:
    """Random unit vectors, [state, vectors], float64: the same for the same seed."""
    u = torch.empty(state, vectors, dtype=torch.float64)
    u.normal_(generator=torch.Generator().manual_seed(seed + 1))
    lengths: Tensor = torch.linalg.vector_norm(u, dim=0)
    return u / lengths
