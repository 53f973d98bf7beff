"""The adding problem: two numbers are marked in a long sequence, and the answer is their sum."""

from typing import Any

import torch
from torch import Tensor

from rnnviz import arguments
from rnnviz.results import BASELINE_MSE, HALF_MSE

__all__ = ["BASELINE_MSE", "HALF_MSE", "memory_floor", "sample"]


def sample(length: Any, batch: Any, generator: Any, dtype: Any = torch.float32) -> tuple[Tensor, Tensor]:
    """Draw sequences: x_t = (v_t, m_t) with v uniform on [0, 1], m = 1 at one step of each half and 0 elsewhere; y =
    sum of m_t v_t.

    Returns inputs [length, batch, 2] (value, mark) and targets [batch]; the first half is length // 2 steps.
    ValueError names a wrong argument; length is at least 2. Source: Hochreiter and Schmidhuber (1997), in the form
    of Le et al. (2015) and Arjovsky et al. (2016), with values on [0, 1].
    """
    length, batch = arguments.integer("length", length, 2), arguments.integer("batch", batch)
    if not isinstance(generator, torch.Generator):
        raise ValueError(f"generator is {arguments.shown(generator)}: it takes a torch.Generator")
    if dtype not in (torch.float32, torch.float64):
        raise ValueError(f"dtype is {dtype}: it takes torch.float32 or torch.float64")
    half = length // 2
    values = torch.rand(length, batch, generator=generator, dtype=dtype)
    first = torch.randint(0, half, (batch,), generator=generator)
    second = torch.randint(half, length, (batch,), generator=generator)
    marks = torch.zeros(length, batch, dtype=dtype)
    rows = torch.arange(batch)
    marks[first, rows] = 1
    marks[second, rows] = 1
    return torch.stack((values, marks), -1), (values * marks).sum(0)


def memory_floor(length: Any, memory: Any) -> float:
    """The least mean squared error that an answer can reach which sees only the last `memory` steps.

    A marked value that lies further back can only be guessed, by its mean 1/2, and costs its variance 1/12; the first
    mark is uniform on the first half's h = length // 2 steps, the second on the other l = length - h, so

        floor = (max(0, min(h, length - memory)) / h + max(0, l - memory) / l) / 12,

    1/6 without memory (BASELINE_MSE), 1/12 for a memory of the second half (HALF_MSE), 0 for one of the whole length.
    ValueError names a wrong argument. Source: the conditional mean is the best answer (Hastie et al. 2009, 2.4).
    """
    length, memory = arguments.integer("length", length, 2), arguments.integer("memory", memory, 0)
    half = length // 2
    later = length - half
    first: float = min(half, max(0, length - memory)) / half
    second: float = max(0, later - memory) / later
    return (first + second) / 12
