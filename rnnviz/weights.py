"""Where weights come from: drawn, checked, read from and written to torch's modules."""

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import torch
from torch import Tensor, nn

from rnnviz import arguments
from rnnviz.config import RECURRENT


def check(cell: Any, W: Any, U: Any) -> None:
    for name in (field.name for field in fields(cell)):
        value = getattr(cell, name)
        if name in ("activation", "reset") or (name == "c_n" and value is None):
            continue
        if not isinstance(value, Tensor) or value.dtype not in (torch.float32, torch.float64):
            got = value.dtype if isinstance(value, Tensor) else type(value).__name__
            raise ValueError(f"{name} is {got}: it takes a float32 or float64 tensor")
        if value.layout != torch.strided or value.device.type != "cpu":
            raise ValueError(f"{name} is {value.layout} on {value.device}: it takes a dense tensor on the CPU")
        if value.dtype != W.dtype:
            raise ValueError(f"{name} is {value.dtype}: all weights take one dtype, here {W.dtype}")
        if (value is W or value is U) and (value.dim() != 2 or 0 in value.shape):
            axes = "[hidden, inputs]" if value is W else "[hidden, hidden]"
            raise ValueError(f"{name} has shape {tuple(value.shape)}: it takes {axes}, each at least 1")
    hidden, inputs = U.shape[0], W.shape[1]
    shapes = {"W": (hidden, inputs), "U": (hidden, hidden), "b": (hidden,), "c": (hidden,)}
    for name, value in cell.parameters().items():
        takes = shapes["U" if name == "W_h" else name[0]]
        if tuple(value.shape) != takes:
            raise ValueError(
                f"{name} has shape {tuple(value.shape)}: it takes {takes} with {hidden} units and {inputs} inputs"
            )
        if not bool(torch.isfinite(value).all()):
            raise ValueError(f"{name} holds NaN or infinity: weights take finite numbers")


def draw(
    inputs: object, hidden: object, blocks: int, recurrent: str, gain: object, generator: Any, dtype: Any
) -> tuple[list[Tensor], list[Tensor], Tensor, Tensor]:
    """W, U and torch's two biases, block by block, drawn in torch's order: the same seed gives torch's numbers."""
    inputs, hidden = arguments.integer("inputs", inputs), arguments.integer("hidden", hidden)
    arguments.choice("recurrent", recurrent, RECURRENT)
    scale = arguments.number("gain", gain)
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if dtype not in (torch.float32, torch.float64):
        raise ValueError(f"dtype is {dtype}: it takes torch.float32 or torch.float64")
    if generator is not None and not isinstance(generator, torch.Generator):
        raise ValueError(f"generator is {arguments.shown(generator)}: it takes a torch.Generator or None")
    bound = 1 / math.sqrt(hidden)

    def uniform(*shape: int) -> Tensor:
        return torch.empty(*shape, dtype=dtype).uniform_(-bound, bound, generator=generator)

    W, U = uniform(blocks * hidden, inputs), uniform(blocks * hidden, hidden)
    b_ih, b_hh = uniform(blocks, hidden), uniform(blocks, hidden)
    matrices = list(U.chunk(blocks))
    if recurrent == "orthogonal":
        matrices = [_orthogonal(hidden, dtype, generator) for _ in range(blocks)]
    elif recurrent == "normal":
        matrices = [
            torch.empty(hidden, hidden, dtype=dtype).normal_(0, bound, generator=generator) for _ in range(blocks)
        ]
    elif recurrent == "identity":
        matrices = [torch.eye(hidden, dtype=dtype) for _ in range(blocks)]
        b_ih, b_hh = torch.zeros_like(b_ih), torch.zeros_like(b_hh)
    return [w.clone() for w in W.chunk(blocks)], [scale * u for u in matrices], b_ih, b_hh


def _orthogonal(hidden: int, dtype: torch.dtype, generator: Any) -> Tensor:
    """Uniform over the orthogonal matrices: Q of a Gaussian matrix, its signs fixed by R (Mezzadri 2007)."""
    Q, R = torch.linalg.qr(torch.empty(hidden, hidden, dtype=dtype).normal_(generator=generator))
    signed: Tensor = Q * torch.where(R.diagonal() < 0, -1.0, 1.0).to(dtype)
    return signed


def read(module: Any, kind: type[nn.RNNBase], layer: object, reverse: object) -> Sequence[Tensor]:
    """W, U, b_ih, b_hh of one layer and direction, detached; what is not covered is refused by name."""
    if not isinstance(module, kind):
        raise ValueError(f"module is a {type(module).__name__}: it takes an nn.{kind.__name__}")
    number = arguments.integer("layer", layer, 0, module.num_layers - 1)
    if not isinstance(reverse, bool):
        raise ValueError(f"reverse is {arguments.shown(reverse)}: it takes True or False")
    if reverse and not module.bidirectional:
        raise ValueError("reverse is True: this module has one direction only")
    if getattr(module, "proj_size", 0):
        raise ValueError(
            f"proj_size is {module.proj_size}: an LSTM with a projection is not covered, it takes proj_size=0"
        )
    suffix = f"l{number}_reverse" if reverse else f"l{number}"
    W, U = (getattr(module, f"weight_{part}_{suffix}").detach() for part in ("ih", "hh"))
    if not module.bias:
        return W, U, W.new_zeros(W.shape[0]), W.new_zeros(W.shape[0])
    return W, U, *(getattr(module, f"bias_{part}_{suffix}").detach() for part in ("ih", "hh"))


def write(module: nn.Module, W: Tensor, U: Tensor, b_ih: Tensor, b_hh: Tensor) -> nn.Module:
    module = module.to_empty(device="cpu")  # made on "meta", so that torch's global stream draws nothing
    with torch.no_grad():
        for name, value in (("weight_ih", W), ("weight_hh", U), ("bias_ih", b_ih), ("bias_hh", b_hh)):
            getattr(module, f"{name}_l0").copy_(value)
    return module
