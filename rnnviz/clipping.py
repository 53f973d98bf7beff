"""clip(): three ways to bound a gradient; only the first keeps its direction."""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from rnnviz import arguments
from rnnviz.config import CLIP_MODES

SAFE = (1e-140, 1e150)
"""Norms between these come from squares that neither vanish nor overflow in float64."""


def clip(grads: Any, threshold: Any, mode: Any = "global") -> tuple[dict[str, Tensor], float]:
    """Bound gradients: "global" g * threshold/norm with one norm of all, "each" the same tensor by tensor, "value"
    entry by entry.

    grads: name -> tensor of any shape. Returns (clipped, norm before): the global norm in every mode; what is not
    above the threshold is returned as it is, the same tensor. Errors: FloatingPointError naming the parameter that
    holds NaN or infinity (nothing is changed), ValueError naming a wrong argument. Source: Pascanu et al. (2013);
    unlike torch's clip_grad_norm_, nothing is added to the norm.
    """
    limit = arguments.number("threshold", threshold, above=0.0)
    mode = arguments.choice("mode", mode, CLIP_MODES)
    if not isinstance(grads, Mapping) or not all(isinstance(g, Tensor) for g in grads.values()):
        raise ValueError(f"grads is a {type(grads).__name__}: it takes a dict of named tensors")
    for name, g in grads.items():
        if not g.is_floating_point() or g.layout != torch.strided:
            layout = "" if g.layout == torch.strided else f", {g.layout}"
            raise ValueError(f"grads[{name!r}] is {g.dtype}{layout}: it takes dense tensors of real floating numbers")
    sizes = norms(grads)
    return bounded(grads, sizes, limit, mode), math.hypot(*sizes.values())


def bounded(
    grads: Mapping[str, Tensor], sizes: Mapping[str, float], limit: float | int, mode: str
) -> dict[str, Tensor]:
    """What clip() does, of gradients whose norms are known."""
    if mode == "value":
        return {name: g.clamp(-limit, limit) if bool((g.abs() > limit).any()) else g for name, g in grads.items()}
    if mode == "each":
        return {name: _scaled(g, limit, sizes[name]) for name, g in grads.items()}
    total = math.hypot(*sizes.values())
    return {name: _scaled(g, limit, total) for name, g in grads.items()}


def norms(grads: Mapping[str, Tensor]) -> dict[str, float]:
    """The 2-norm of each tensor, sqrt(sum of g^2), by name; their math.hypot is the global norm.

    Finite tensors have a finite norm unless it is beyond the range of floats itself: near the ends of the range they
    are scaled by their largest entry. FloatingPointError names the first tensor that holds NaN or infinity.
    """
    if not grads:
        return {}
    sizes = torch.stack([torch.linalg.vector_norm(g.detach(), dtype=torch.float64) for g in grads.values()]).tolist()
    return {
        name: size if SAFE[0] < size < SAFE[1] else _careful(name, g)
        for (name, g), size in zip(grads.items(), sizes, strict=True)
    }


def _careful(name: str, g: Tensor) -> float:
    largest = float(g.detach().abs().max()) if g.numel() else 0.0
    if not math.isfinite(largest):
        raise FloatingPointError(f"the gradient of {name} is not finite: nothing was clipped")
    return largest * float((g.detach().double() / largest).norm()) if largest > 0 else 0.0


def _scaled(g: Tensor, limit: float, size: float) -> Tensor:
    if size <= limit:
        return g
    if math.isinf(size):  # finite entries whose norm is beyond floats: nothing is left of them at this scale
        raise FloatingPointError("the norm of the gradient is beyond the range of floats: nothing was clipped")
    return (g.double() / size * limit).to(g.dtype)
