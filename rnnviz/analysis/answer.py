"""What an answer hears: the derivative of a linear read-out of the last state by every state and every input."""

from typing import Any

import torch
from torch import Tensor

from rnnviz import arguments
from rnnviz.analysis.norms import log_norm
from rnnviz.arguments import Given, Network, Number, Unrolled
from rnnviz.bptt import by_inputs, check_grad, deltas
from rnnviz.results import Answer
from rnnviz.trace import check_trace


def answer(cell: Network, trace: Unrolled, W_y: Given, b_y: Number = 0.0) -> Answer:
    """The answer y = W_y . h_T + b_y of each sequence, with dy/dx_t at every step and the size of dy/ds_t.

    W_y [hidden] of the cell's dtype. dy/ds_T = (W_y, 0), dy/ds_{t-1} = J_t^T dy/ds_t, one backward pass for all steps;
    h_T is a sequence's last real state, so the padded steps of a shorter one add lags at which nothing is lost.
    ValueError names what does not fit. Source: saliency of Simonyan et al. (2014), through time by Werbos (1990).
    """
    check_trace(cell, trace)
    takes = f"it takes a tensor [hidden], here [{cell.hidden}], {cell.dtype}"
    if not isinstance(W_y, Tensor) or tuple(W_y.shape) != (cell.hidden,) or W_y.dtype != cell.dtype:
        got = f"{tuple(W_y.shape)}, {W_y.dtype}" if isinstance(W_y, Tensor) else f"a {type(W_y).__name__}"
        raise ValueError(f"W_y is {got}: {takes}")
    if not bool(torch.isfinite(W_y).all()):
        raise ValueError("W_y holds NaN or infinity: it takes finite numbers")
    bias = arguments.number("b_y", b_y)
    read: Any = W_y.detach()
    grad_h = torch.zeros_like(trace["h"][1:])
    grad_h[-1] = read
    with torch.no_grad():
        states, pre = deltas(cell, trace, check_grad(cell, trace, grad_h))
        value = trace["h"][-1] @ read + bias
        return Answer(value.numpy(), by_inputs(cell, pre).numpy(), log_norm(torch.cat(states, -1)).numpy())
