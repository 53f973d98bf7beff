"""Runs that ship with the project: real ones, recorded by a program in benchmarks/, read with numpy alone."""

from functools import cache
from pathlib import Path

import numpy as np

from rnnviz.results import Lane, Race

FILE = Path(__file__).with_name("race.npz")
BEYOND = -1
"""How the file writes a reach beyond all T steps, and an escape that never came."""


@cache
def race() -> Race:
    """The race of RNN, GRU and LSTM on the adding problem, T = 100: benchmarks/record_race.py made it."""
    with np.load(FILE, allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    for array in arrays.values():
        array.flags.writeable = False  # everybody reads the same arrays
    lanes = {
        cell: Lane(
            **{
                name: arrays[f"{cell}_{name}"]
                for name in ("steps", "loss", "reach", "listening", "log_answer", "answers")
            },
            escape=_known(arrays[f"{cell}_escape"]),
        )
        for cell in ("rnn", "gru", "lstm")
    }
    first, second = (int(step) for step in arrays["marks"])
    return Race(lanes, (first, second), arrays["values"], arrays["sequence"])


def _known(step: np.ndarray) -> int | None:
    return None if step < 0 else int(step)
