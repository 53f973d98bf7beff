"""Runs that ship with the project: real ones, recorded by a program in benchmarks/, read with numpy alone."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rnnviz.config import CellConfig
from rnnviz.results import Lane, Progress, Push, Race, Reading

FILE = Path(__file__).with_name("race.npz")
BEYOND = -1
"""How the file writes a reach beyond all T steps, and an escape that never came."""
SHORT = {"minute": ("gru", "GRU"), "breath": ("rnn", "ReLU RNN")}
"""The scenes of the learning page that open on a training of their own, with its cell and how a picture calls it."""
HELLO = (CellConfig(inputs=4, hidden=3), "HELLO", "trained", 1, 0.1)
"""What the unrolling page opens on: cell, word, network, the nudged step and the nudge's size."""


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


@cache
def hello() -> tuple[Reading, Push]:
    """The word of HELLO read by its trained network, and its nudge: benchmarks/record_hello.py made it."""
    with np.load(FILE.with_name("hello.npz"), allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    for array in arrays.values():
        array.flags.writeable = False
    plain = {name: array.item() for name, array in arrays.items() if array.ndim == 0}
    parts: dict[str, dict[str, Any]] = {"reading": {}, "push": {}, "weights": {}}
    for name, array in arrays.items():
        part, field = name.split(".")
        parts[part][field] = plain.get(name, array)
    letters = tuple(dict.fromkeys(parts["reading"]["word"]))
    return Reading(**parts["reading"], letters=letters, weights=parts["weights"]), Push(**parts["push"])


def _far(reach: np.ndarray) -> np.ndarray:
    """The reach as a number, inf beyond all T steps."""
    far = np.where(reach < 0, np.inf, reach)
    far.flags.writeable = False
    return far


def _known(step: np.ndarray) -> int | None:
    return None if step < 0 else int(step)
