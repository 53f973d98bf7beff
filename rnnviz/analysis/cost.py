"""What a sequence costs, counted while it runs: the multiply-adds of matrix products, and the bytes of a trace."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from rnnviz.bptt import backward
from rnnviz.cells import build
from rnnviz.config import CellConfig, InputConfig
from rnnviz.inputs import sequence
from rnnviz.results import Cost
from rnnviz.trace import unroll

FACTORS = {"matmul": 0, "linear": 0, "addmm": 1, "baddbmm": 1, "addbmm": 1}
"""The products that cells are made of, and the place of their two factors among the arguments. torch's FlopCounterMode
does not see those that add in place, of which a backward pass consists."""
OTHERS = ("mm", "bmm", "mv", "addmv", "addr", "dot", "einsum", "tensordot", "conv1d")
"""Products that nobody uses here: one that is not counted is a fault."""


def counted(cell: CellConfig, inputs: InputConfig) -> Cost:
    """Read a seeded sequence with a seeded cell and take a gradient back, counting every matrix product as it happens.

    forward = T * gates * (n^2 + n d) multiply-adds for n units and d inputs; the backward pass has each product twice,
    once for the way back and once for the weights, and a GRU one or two of its own. bytes: of all values of the trace,
    [T+1, 1, n] states, [T, 1, n] gates and pre-activations. The gradient is that of the sum of all h_t. ValueError
    names a wrong argument, or where states or gradients leave the range of floats. Source: O(T n^2), Williams and
    Zipser (1995).
    """
    network = build(cell)
    x = sequence(inputs, cell.inputs)
    with Products() as reading:
        trace = unroll(network, x)
    with Products() as going_back:
        backward(network, trace, torch.ones_like(trace["h"][1:]))
    gates = len(network.pre_names)
    return Cost(
        cell=cell.cell,
        steps=len(x),
        inputs=cell.inputs,
        hidden=cell.hidden,
        gates=gates,
        parameters=sum(value.numel() for value in network.parameters().values()),
        parameters_torch=gates * cell.hidden * (cell.inputs + cell.hidden + 2),
        forward=reading.total,
        backward=going_back.total,
        bytes=sum(value.nbytes for value in trace.values.values()),
    )


class Products(TorchFunctionMode):
    """Counts the multiply-adds of the matrix products that are called while it is active: total."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run what was asked for; a product [.., m, k] times [.., k, n] is m k n multiply-adds."""
        name = getattr(func, "__name__", "").strip("_")
        if name in OTHERS:
            raise RuntimeError(f"{name} is a product that is not counted yet")
        if name in FACTORS:
            left, right = args[FACTORS[name] : FACTORS[name] + 2]
            self.total += left.numel() * right.shape[-2 if name == "linear" else -1]  # linear takes [out, in]
        return func(*args, **(kwargs or {}))
