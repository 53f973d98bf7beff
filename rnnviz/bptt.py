"""backward(): back-propagation through time, written out, with two kinds of truncation."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from rnnviz import arguments
from rnnviz.arguments import Network, Unrolled, Whole
from rnnviz.axes import Steps
from rnnviz.cells import Cell, Factors, State
from rnnviz.trace import Trace, check_trace


@dataclass(frozen=True, slots=True, eq=False)
class Backward:
    """What one backward pass found.

    grads: like cell.parameters(). delta [time+1, batch, hidden]: the whole dL/dh_t, by every way; row 0 is the initial
    state. delta_c: likewise dL/dc_t for the LSTM (carried back, and through h_t), else None. carried_c: of that, the
    part
    that came back from later steps, so that (delta, carried_c) is dL/ds_t with h and c as coordinates of their own.
    pre: gate -> [time, batch, hidden], the gradient at its pre-activation; step t gives outer(pre[t-1], h_{t-1}) to a
    recurrent matrix. inputs [time, batch, inputs]: dL/dx.
    """

    grads: dict[str, Tensor]
    delta: Tensor
    delta_c: Tensor | None
    carried_c: Tensor | None
    pre: dict[str, Tensor]
    inputs: Tensor


def backward(
    cell: Network, trace: Unrolled, grad_h: Any, *, chunk: Whole | None = None, window: Whole | None = None
) -> Backward:
    """The gradient of a loss whose direct part by each h_t is given: delta_t = dL_t/dh_t + J_{t+1}^T delta_{t+1}.

    grad_h [time, batch, hidden] is dL_t/dh_t, zero where a step has no loss. chunk=k: no gradient crosses a border
    every k steps, counted from step 1, though the state does. window=k: the loss at step t reaches the weights' use at
    steps t, t-1, ..., t-k+1. ValueError names what does not fit. Sources: Werbos (1990), Williams and Peng (1990).
    """
    g = check_grad(cell, trace, grad_h)
    time = g.shape[0]
    if chunk is not None and window is not None:
        raise ValueError("chunk and window are both given: truncation takes one of them")
    chunk = None if chunk is None else arguments.integer("chunk", chunk)
    window = None if window is None else arguments.integer("window", window)
    with torch.no_grad():
        factors = cell.factors(trace)
        if window is not None and window < time:
            whole = _windowed(cell, trace, factors, g, window)
        else:
            whole = _carried(cell, trace, factors, g, chunk)
        states = tuple(s[1:] for s in whole)
        pre = cell.preactivations(factors, states)
        if trace.valid is not None:
            pre = pre * trace.valid
        delta_c = None
        if len(whole) == 2:
            delta_c = whole[1].clone()
            through = whole[0][1:] * factors[1]
            delta_c[1:] += through if trace.valid is None else through * trace.valid
        return Backward(
            grads=cell.gradients(trace, pre),
            delta=whole[0],
            delta_c=delta_c,
            carried_c=whole[1] if len(whole) == 2 else None,
            pre=dict(zip(cell.pre_names, pre.chunk(len(cell.pre_names), -1), strict=True)),
            inputs=pre @ cell.reading(),
        )


def _carried(cell: Cell, trace: Trace, factors: Factors, g: Steps, chunk: int | None) -> State:
    """dL/ds_t for all t, from the last step to the first; O(time)."""
    time = g.shape[0]
    U = cell.recurrence()
    steps = list(zip(*(f.unbind(0) for f in factors), strict=True))
    state: State = tuple(torch.zeros_like(g[0]) for _ in cell.state_names)
    history: list[State] = []
    for t in range(time, 0, -1):
        state = (state[0] + g[t - 1], *state[1:])
        history.append(state)
        before = cell.retreat(steps[t - 1], state, U)
        if trace.valid is not None:
            before = tuple(torch.where(trace.valid[t - 1], new, old) for new, old in zip(before, state, strict=True))
        if chunk is not None and t > 1 and (t - 1) % chunk == 0:
            before = tuple(torch.zeros_like(part) for part in before)
        state = before
    history.append(state)
    return tuple(torch.stack([s[k] for s in reversed(history)]) for k in range(len(state)))


def _windowed(cell: Cell, trace: Trace, factors: Factors, g: Steps, window: int) -> State:
    """The same with each loss carried back through its own window of steps; all losses one step at a time,
    O(time*window)."""
    time = g.shape[0]
    U = cell.recurrence()
    carried: State = (g, *(torch.zeros_like(g) for _ in cell.state_names[1:]))
    total: State = tuple(torch.zeros(time + 1, *g.shape[1:], dtype=g.dtype) for _ in carried)
    for lag in range(window):
        # carried[s - 1] is what the loss at step s + lag sends to the state after step s
        last = time - lag
        for whole, part in zip(total, carried, strict=True):
            whole[1 : last + 1] += part
        before = cell.retreat(tuple(f[:last] for f in factors), carried, U)
        if trace.valid is not None:
            before = tuple(torch.where(trace.valid[:last], new, old) for new, old in zip(before, carried, strict=True))
        for whole, part in zip(total, before, strict=True):
            whole[0] += part[0]
        carried = tuple(part[1:] for part in before)
    return total


def check_grad(cell: Network, trace: Unrolled, grad_h: Any) -> Tensor:
    """grad_h, detached; ValueError unless trace and grad_h fit the cell and are finite."""
    check_trace(cell, trace)
    if trace.first_nonfinite is not None:
        raise ValueError(
            f"the trace is not finite from step {trace.first_nonfinite}: there is no gradient to take back"
        )
    takes = tuple(trace["h"][1:].shape)
    if not isinstance(grad_h, Tensor) or tuple(grad_h.shape) != takes:
        got = tuple(grad_h.shape) if isinstance(grad_h, Tensor) else type(grad_h).__name__
        raise ValueError(f"grad_h is {got}: it takes a tensor [time, batch, hidden], here {takes}")
    if grad_h.dtype != cell.dtype:
        raise ValueError(f"grad_h is {grad_h.dtype}: it takes the cell's dtype, {cell.dtype}")
    if not bool(torch.isfinite(grad_h).all()):
        raise ValueError("grad_h holds NaN or infinity: it takes finite numbers")
    return grad_h.detach()
