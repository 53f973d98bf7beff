"""Norms of numbers near the ends of the range of floats."""

import torch
from torch import Tensor


def log_norm(values: Tensor, dim: int = -1) -> Tensor:
    """ln of the 2-norm along dim, ln m + ln ‖values/m‖ with m the largest entry: -inf for zeros alone, not for 1e-200.

    A plain norm squares first, and so calls everything below 1e-162 zero and everything above 1e154 infinite.
    """
    part, scale = scaled(values, dim)
    result: Tensor = torch.linalg.vector_norm(part, dim=dim).log() + scale.squeeze(dim).log()
    return result


def scaled(values: Tensor, dim: int = -1) -> tuple[Tensor, Tensor]:
    """values with 1 as their largest size along dim, and what they were divided by; zeros stay, divided by 1."""
    largest = values.abs().amax(dim, keepdim=True)
    scale = torch.where(largest > 0, largest, 1.0)
    return values / scale, scale
