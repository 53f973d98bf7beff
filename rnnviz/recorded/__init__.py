"""Runs that ship with the project: real ones, recorded by a program in benchmarks/, read with numpy alone."""

from functools import cache
from pathlib import Path

import numpy as np

from rnnviz.results import Lane, Progress, Race

FILE = Path(__file__).with_name("race.npz")
BEYOND = -1
"""How the file writes a reach beyond all T steps, and an escape that never came."""
SHORT = {"minute": ("gru", "GRU"), "breath": ("rnn", "ReLU RNN")}
"""The scenes of the learning page that open on a training of their own, with its cell and how a picture calls it."""


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


@cache
def progress(name: str) -> tuple[Progress, ...]:
    """A recording as the learning page draws it: "race", or a short training by the name of its scene."""
    if name == "race":
        names = {"rnn": "tanh RNN", "gru": "GRU", "lstm": "LSTM"}
        return tuple(
            Progress(names[cell], cell, race().T, lane.steps, lane.loss, lane.steps, _far(lane.reach), lane.listening)
            for cell, lane in race().lanes.items()
        )
    if name not in SHORT:
        raise ValueError(f"name is {name!r}: it takes 'race', {', '.join(map(repr, SHORT))}")
    cell, called = SHORT[name]
    with np.load(FILE.with_name(f"{name}.npz"), allow_pickle=False) as stored:
        arrays = {key: stored[key] for key in stored.files}
    length = int(arrays.pop("length"))
    for array in arrays.values():
        array.flags.writeable = False
    return (Progress(called, cell, length, **arrays | {"reach": _far(arrays["reach"])}),)


def _far(reach: np.ndarray) -> np.ndarray:
    """The reach as a number, inf beyond all T steps."""
    far = np.where(reach < 0, np.inf, reach)
    far.flags.writeable = False
    return far


def _known(step: np.ndarray) -> int | None:
    return None if step < 0 else int(step)
