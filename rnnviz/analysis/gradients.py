"""The gradient of a shared weight split by lag: how far back each share of it was collected."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnviz.analysis.norms import log_norm
from rnnviz.arguments import Network, Unrolled
from rnnviz.axes import Steps
from rnnviz.bptt import carry_back, check_grad
from rnnviz.cells import Cell, State
from rnnviz.results import ByLag
from rnnviz.trace import Trace


def by_lag(cell: Network, trace: Unrolled, grad_h: Any) -> ByLag:
    """Split dL/dW by the number of steps between a loss and the use of W that it reaches.

    G_k = sum over t of dL_t/dW through its use at step t-k, so that dL/dW = G_0 + ... + G_{T-1}; the share of lag k is
    <G_k, dL/dW> / ‖dL/dW‖^2. Shares add up to 1; one that pulls the other way is negative.
    grad_h [time, batch, hidden] is dL_t/dh_t, as for backward(). One lag of all losses is carried at a time, so the
    work is O(time * steps from the first loss to the last) and no matrix is kept but one a weight. Padded steps count.
    ValueError names what does not fit. Source: the sum of Werbos (1990), ordered as in Pascanu et al. (2013).
    """
    g = check_grad(cell, trace, grad_h)
    time = g.shape[0]
    names = cell.parameters()
    sizes = {name: np.full(time, -np.inf) for name in names}
    shares = {name: np.zeros(time) for name in names}
    with torch.no_grad():
        # The sum in the scale of its largest lag, since no lag need be a float by itself.
        top = dict.fromkeys(names, -math.inf)
        whole = {name: torch.zeros_like(value) for name, value in names.items()}
        for lag, (parts, log_scale) in enumerate(_lags(cell, trace, g)):
            for name, part in parts.items():
                sizes[name][lag] = float(log_norm(part.flatten())) + log_scale
                part, size = _largest_one(part, log_scale)
                if size > top[name]:
                    whole[name] *= math.exp(top[name] - size)
                    top[name] = size
                if size > -math.inf:
                    whole[name] += part * math.exp(size - top[name])
        squares = {name: float(value.square().sum()) for name, value in whole.items()}
        for lag, (parts, log_scale) in enumerate(_lags(cell, trace, g)):
            for name, part in parts.items():
                if squares[name] > 0:
                    part, size = _largest_one(part, log_scale)
                    shares[name][lag] = float((part * whole[name]).sum()) * math.exp(size - top[name]) / squares[name]
    for name, square in squares.items():
        if square == 0:
            shares[name][:] = np.nan
    return ByLag(sizes, shares)


def _largest_one(part: Tensor, log_scale: float) -> tuple[Tensor, float]:
    """The same with 1 as its largest entry, and the ln of the scale with that; -inf for zeros."""
    largest = float(part.abs().max())
    return (part, -math.inf) if largest == 0 else (part / largest, log_scale + math.log(largest))


def _lags(cell: Cell, trace: Trace, g: Steps) -> Iterator[tuple[dict[str, Tensor], float]]:
    """For lag 0, 1, ... the gradient of every weight by that lag alone, and the logarithm of its scale.

    Ends where nothing is left to carry.
    """
    factors, U = cell.factors(trace), cell.recurrence()
    lossy = torch.nonzero(g.abs().amax((1, 2))).flatten().tolist()
    if not lossy:
        return
    first, last = lossy[0], lossy[-1] + 1
    # carried[j] is what the loss `lag` steps later sends to the state after step first+1+j
    carried: State = (g[first:last], *(torch.zeros_like(g[first:last]) for _ in cell.state_names[1:]))
    log_scale = 0.0
    while last > first:
        largest = max(float(part.abs().max()) for part in carried)
        if largest == 0:
            return
        carried = tuple(part / largest for part in carried)
        log_scale += math.log(largest)
        part = trace.between(first, last)
        here = tuple(f.narrow(-3, first, last - first) for f in factors)
        pre = cell.preactivations(here, carried)
        yield cell.gradients(part, pre if part.valid is None else pre * part.valid), log_scale
        before = tuple(torch.zeros_like(value) for value in carried)
        carry_back(cell, here, carried, U, before, part.valid)
        if first == 0:  # what reaches the initial state meets no weight any more
            before = tuple(value[1:] for value in before)
        first, last, carried = max(first - 1, 0), last - 1, before
