"""backward(): back-propagation through time, written out, with two kinds of truncation."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from rnnviz import arguments
from rnnviz.arguments import Network, Unrolled, Whole
from rnnviz.axes import Steps
from rnnviz.cells import Cell, Factors, State, slope
from rnnviz.trace import Trace, check_finite, check_trace, finite, stretches


@dataclass(frozen=True, slots=True, eq=False)
class Backward:
    """What one backward pass found.

    grads: like cell.parameters(). delta [time+1, batch, hidden]: the whole dL/dh_t, by every way; row 0 is the initial
    state. delta_c: likewise dL/dc_t for the LSTM (carried back, and through h_t), else None. carried_c: of that, the
    part that came back from later steps, so that (delta, carried_c) is dL/ds_t with h and c as coordinates of their
    own. pre: gate -> [time, batch, hidden], the gradient at its pre-activation; step t gives outer(pre[t-1], h_{t-1})
    to a recurrent matrix. inputs [time, batch, inputs]: dL/dx.
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
    steps t, t-1, ..., t-k+1, padded steps counted. ValueError names what does not fit, and says where a gradient leaves
    the range of floats. Sources: Werbos (1990), Williams and Peng (1990).
    """
    g = check_grad(cell, trace, grad_h)
    if chunk is not None and window is not None:
        raise ValueError("chunk and window are both given: truncation takes one of them")
    chunk = None if chunk is None else arguments.integer("chunk", chunk)
    window = None if window is None else arguments.integer("window", window)
    with torch.no_grad():
        states, pre = deltas(cell, trace, g, chunk, window)
        grads = cell.gradients(trace, pre)
        if not all(finite(part) for part in (*states, *grads.values())):
            broken = [t for t in range(len(g), -1, -1) if not all(finite(part[t]) for part in states)]
            where = f"from step {broken[0]} back" if broken else "summed over the steps"
            raise ValueError(
                f"the gradient is beyond the range of floats {where}: shorten the sequence or lower the weights, "
                "or measure it with transport() and answer(), which carry logarithms"
            )
        delta_c = None
        if len(states) == 2:
            through = states[0][1:] * trace["o"] * slope("tanh", trace["c"][1:])
            delta_c = states[1].clone()
            delta_c[1:] += through if trace.valid is None else through * trace.valid
        return Backward(
            grads=grads,
            delta=states[0],
            delta_c=delta_c,
            carried_c=states[1] if len(states) == 2 else None,
            pre=dict(zip(cell.pre_names, pre.unbind(0), strict=True)),
            inputs=by_inputs(cell, pre),
        )


def deltas(
    cell: Cell, trace: Trace, g: Steps, chunk: int | None = None, window: int | None = None
) -> tuple[State, Tensor]:
    """dL/ds_t [time+1, ...] for all t, and the gradient at the pre-activations [blocks, time, batch, hidden]."""
    time = g.shape[0]
    U = cell.recurrence()
    window = None if window is None or window >= time else window
    if window is not None:
        states = _windowed(cell, trace, g, U, window)
    else:  # what comes back from later steps is added to what a state has of its own
        states = (torch.cat((torch.zeros_like(g[:1]), g)), *(torch.zeros_like(trace[k]) for k in cell.state_names[1:]))
    pre = torch.empty(len(cell.pre_names), *g.shape, dtype=g.dtype)
    for first, last in reversed(stretches(time, g[0].numel())):
        part = trace.between(first, last)
        factors = cell.factors(part)
        if window is None:
            _carry(cell, part, factors, tuple(s[first : last + 1] for s in states), U, first, chunk)
        cell.preactivations(factors, tuple(s[first + 1 : last + 1] for s in states), pre[:, first:last])
    if trace.valid is not None:
        pre *= trace.valid
    return states, pre


def by_inputs(cell: Cell, pre: Tensor) -> Tensor:
    """dL/dx_t: the sum over gates of W_k^T dL/da_k."""
    return pre.movedim(0, -2).flatten(-2) @ cell.reading()


def _carry(cell: Cell, part: Trace, factors: Factors, states: State, U: Tensor, first: int, chunk: int | None) -> None:
    """dL/ds_t for a stretch of steps, the last of which is complete; step 1 of the stretch is first+1 of the trace."""
    rows = list(zip(*(s.unbind(0) for s in states), strict=True))
    steps = list(zip(*(f.unbind(-3) for f in factors), strict=True))
    for t in range(len(steps), 0, -1):
        before = first + t - 1
        if chunk is None or before == 0 or before % chunk:
            valid = None if part.valid is None else part.valid[t - 1]
            carry_back(cell, steps[t - 1], rows[t], U, rows[t - 1], valid)


def _windowed(cell: Cell, trace: Trace, g: Steps, U: Tensor, window: int) -> State:
    """dL/ds_t with each loss carried back through its own window of steps; all losses one step at a time,
    O(time*window)."""
    time = g.shape[0]
    factors = cell.factors(trace)
    carried: State = (g, *(torch.zeros_like(g) for _ in cell.state_names[1:]))
    total: State = tuple(torch.zeros(time + 1, *g.shape[1:], dtype=g.dtype) for _ in carried)
    for lag in range(window):
        # carried[s - 1] is what the loss at step s + lag sends to the state after step s
        last = time - lag
        for whole, part in zip(total, carried, strict=True):
            whole[1 : last + 1] += part
        before = tuple(torch.zeros_like(part) for part in carried)
        valid = None if trace.valid is None else trace.valid[:last]
        carry_back(cell, tuple(f.narrow(-3, 0, last) for f in factors), carried, U, before, valid)
        for whole, part in zip(total, before, strict=True):
            whole[0] += part[0]
        carried = tuple(part[1:] for part in before)
    return total


def carry_back(cell: Cell, factors: Factors, grad: State, U: Tensor, into: State, valid: Tensor | None) -> None:
    """Add J_t^T dL/ds_t to dL/ds_{t-1}, one step or many side by side; a padded step is the identity."""
    if valid is None:
        cell.retreat(factors, grad, U, into)
        return
    through = tuple(torch.zeros_like(part) for part in grad)
    cell.retreat(factors, grad, U, through)
    for part, new, old in zip(into, through, grad, strict=True):
        part += torch.where(valid, new, old)


def check_grad(cell: Network, trace: Unrolled, grad_h: Any) -> Tensor:
    """grad_h, detached; ValueError unless trace and grad_h fit the cell and are finite."""
    check_trace(cell, trace)
    check_finite(trace, "there is no gradient to take back")
    takes = tuple(trace["h"][1:].shape)
    if not isinstance(grad_h, Tensor) or tuple(grad_h.shape) != takes:
        got = tuple(grad_h.shape) if isinstance(grad_h, Tensor) else type(grad_h).__name__
        raise ValueError(f"grad_h is {got}: it takes a tensor [time, batch, hidden], here {takes}")
    if grad_h.dtype != cell.dtype:
        raise ValueError(f"grad_h is {grad_h.dtype}: it takes the cell's dtype, {cell.dtype}")
    if not finite(grad_h):
        raise ValueError("grad_h holds NaN or infinity: it takes finite numbers")
    return grad_h.detach()
