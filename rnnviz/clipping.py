"""clip(): three ways to bound a gradient; only the first keeps its direction."""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from rnnviz import arguments
from rnnviz.config import CLIP_MODES


def clip(grads: Any, threshold: Any, mode: Any = "global") -> tuple[dict[str, Tensor], float]:
    """Bound gradients: "global" g * threshold/norm with one norm of all, "each" the same tensor by tensor, "value"
    entry by entry.

    grads: name -> tensor. Returns (clipped, norm before): the global norm in every mode; what is not above the
    threshold
    is returned as it is, the same tensor. Errors: FloatingPointError naming the parameter that holds NaN or infinity
    (nothing
    is changed), ValueError naming a wrong argument. Source: Pascanu et al. (2013); unlike torch's clip_grad_norm_,
    nothing is added to the norm.
    """
    limit = arguments.number("threshold", threshold, above=0.0)
    mode = arguments.choice("mode", mode, CLIP_MODES)
    if not isinstance(grads, Mapping) or not all(isinstance(g, Tensor) for g in grads.values()):
        raise ValueError(f"grads is a {type(grads).__name__}: it takes a dict of named tensors")
    for name, g in grads.items():
        if not g.is_floating_point():
            raise ValueError(f"grads[{name!r}] is {g.dtype}: it takes tensors of real floating numbers")
    total = norm(grads)
    if mode == "value":
        over = {name: g for name, g in grads.items() if bool((g.abs() > limit).any())}
        return {name: g.clamp(-limit, limit) if name in over else g for name, g in grads.items()}, total
    if mode == "each":
        return {name: _scaled(g, limit, norm({name: g})) for name, g in grads.items()}, total
    return {name: _scaled(g, limit, total) for name, g in grads.items()}, total


def norm(grads: Mapping[str, Tensor]) -> float:
    """The 2-norm of all entries of all tensors; scaled by the largest entry, so that finite gradients have a finite
    norm.

    FloatingPointError names the first parameter that holds NaN or infinity.
    """
    if not grads:
        return 0.0
    sizes = torch.stack([g.detach().abs().max() if g.numel() else torch.zeros(()) for g in grads.values()]).tolist()
    for name, size in zip(grads, sizes, strict=True):
        if not math.isfinite(size):
            raise FloatingPointError(f"the gradient of {name} is not finite: nothing was clipped")
    largest: float = max(sizes)
    if largest == 0.0:
        return 0.0
    squares = torch.stack([(g.detach().double() / largest).square().sum() for g in grads.values()])
    return largest * math.sqrt(float(squares.sum()))


def _scaled(g: Tensor, limit: float, size: float) -> Tensor:
    if size <= limit:
        return g
    if math.isinf(size):  # finite entries whose norm is beyond floats: nothing is left of them at this scale
        raise FloatingPointError("the norm of the gradient is beyond the range of floats: nothing was clipped")
    return (g.double() * (limit / size)).to(g.dtype)
