"""What an answer hears: the derivative of a linear read-out of the last state by every state and every input."""

from typing import Any

import torch
from torch import Tensor

from rnnviz import arguments
from rnnviz.analysis.norms import log_norm, scaled
from rnnviz.arguments import Given, Network, Number, Unrolled
from rnnviz.bptt import by_inputs, carry_back
from rnnviz.cells import Cell, State
from rnnviz.results import Answer
from rnnviz.trace import Trace, check_finite, check_trace, finite, stretches


def answer(cell: Network, trace: Unrolled, W_y: Given, b_y: Number = 0.0) -> Answer:
    """The answer y = W_y . h_T + b_y of each sequence, with dy/dx_t at every step and the size of dy/ds_t.

    W_y [hidden] of the cell's dtype. dy/ds_T = (W_y, 0), dy/ds_{t-1} = J_t^T dy/ds_t, one backward pass for all steps,
    rescaled at each, so sizes far outside the range of floats are right; dy/dx_t itself is 0 or infinite there. h_T
    is a sequence's last real state, so the padded steps of a shorter one add lags at which nothing is lost.
    ValueError names what does not fit. Source: saliency of Simonyan et al. (2014), through time by Werbos (1990).
    """
    check_trace(cell, trace)
    takes = f"it takes a tensor [hidden], here [{cell.hidden}], {cell.dtype}"
    if not isinstance(W_y, Tensor) or tuple(W_y.shape) != (cell.hidden,) or W_y.dtype != cell.dtype:
        got = f"{tuple(W_y.shape)}, {W_y.dtype}" if isinstance(W_y, Tensor) else f"a {type(W_y).__name__}"
        raise ValueError(f"W_y is {got}: {takes}")
    if not finite(W_y):
        raise ValueError("W_y holds NaN or infinity: it takes finite numbers")
    bias = arguments.number("b_y", b_y)
    read: Any = W_y.detach()
    check_finite(trace, "its answer hears nothing")
    with torch.no_grad():
        value = trace["h"][-1] @ read + bias
        states, pre, log_scale = _carried(cell, trace, read)
        by_input = by_inputs(cell, pre) * log_scale[1:].exp().to(pre.dtype)
        return Answer(value.numpy(), by_input.numpy(), (log_norm(states).double() + log_scale.squeeze(-1)).numpy())


def _carried(cell: Cell, trace: Trace, W_y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """dy/ds_t [time+1, batch, state], the gradient at the pre-activations, and for each step and sequence the ln of the
    scale that was taken out of both: what is carried over many steps need not be a float."""
    time, batch, hidden = trace["h"][1:].shape
    U, names = cell.recurrence(), cell.state_names
    whole = torch.empty(time + 1, batch, hidden * len(names), dtype=cell.dtype)
    pre = torch.empty(len(cell.pre_names), time, batch, hidden, dtype=cell.dtype)
    log_scale = torch.zeros(time + 1, batch, 1, dtype=torch.float64)
    states: State = (W_y.expand(batch, -1), *(torch.zeros(batch, hidden, dtype=cell.dtype) for _ in names[1:]))
    whole[time] = torch.cat(states, -1)
    for first, last in reversed(stretches(time, batch * hidden)):
        part = trace.between(first, last)
        steps = list(zip(*(f.unbind(-3) for f in cell.factors(part)), strict=True))
        for t in range(last, first, -1):
            row, valid = steps[t - first - 1], None if part.valid is None else part.valid[t - first - 1]
            cell.preactivations(row, states, pre[:, t - 1])
            before = tuple(torch.zeros_like(s) for s in states)
            carry_back(cell, row, states, U, before, valid)
            whole[t - 1], taken = scaled(torch.cat(before, -1))
            states = whole[t - 1].split(hidden, -1)
            log_scale[t - 1] = log_scale[t] + taken.double().log()
    if trace.valid is not None:
        pre *= trace.valid
    return whole, pre, log_scale
