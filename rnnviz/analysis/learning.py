"""Curves of a training: the smoothed loss, the escape from the plateau. Numpy only."""

from typing import Any

import numpy as np

from rnnviz.results import BASELINE_MSE, Array, Progress

KEPT = 0.95


def smoothed(loss: Array, level: float = np.nan) -> Array:
    """The exponential average of a loss, s_n = 0.95 s_{n-1} + 0.05 L_n with s_0 = L_0; a value that is not finite is
    passed over. level: s before the first of these, where they go on from earlier ones; NaN if there was none."""
    result = np.empty(len(loss))
    for n, value in enumerate(np.asarray(loss, dtype=float)):
        if np.isfinite(value):
            level = value if np.isnan(level) else KEPT * level + (1 - KEPT) * value
        result[n] = level
    return result


def escape(step: Array, loss: Array) -> int | None:
    """The first step whose smoothed loss is below half the baseline of 1/6; None if there is none.

    The average starts at the first loss, which may lie low by chance: its first 20 steps do not count.
    """
    low = np.flatnonzero((loss < BASELINE_MSE / 2) & (np.asarray(step) >= 20))
    return int(step[low[0]]) if low.size else None


def thinned(progress: Progress, most: int = 600) -> Progress:
    """The same curve with at most so many points, evenly spread, the last one always among them."""
    if len(progress.step) <= most:
        return progress
    rows = np.unique(np.linspace(0, len(progress.step) - 1, most).astype(int))
    return Progress(
        progress.name,
        progress.cell,
        progress.length,
        progress.step[rows],
        progress.loss[rows],
        progress.probe_step,
        progress.reach,
        progress.listening,
    )


def at(steps: Array, values: Array, step: int) -> Any:
    """values at the last of steps that is not after step; the first one if all are."""
    row = max(int(np.searchsorted(steps, step, side="right")) - 1, 0)
    return np.asarray(values)[row]
