"""The unrolling page's picture: a word read column by column, and the one cell behind it with a step's arithmetic."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from rnnviz.figures import diagrams
from rnnviz.results import Push, Reading, States
from rnnviz.verdicts import digits
from rnnviz.verdicts.unrolling import described

BARS = 5
"""Letters whose share a column has room for."""


def read(reading: Reading, push: Push, *, nudge: bool = False) -> diagrams.Diagram:
    """A column a step: letter, state in numbers, softmax before and after training; nudge: what is left of it, below.

    Signs stand in the numbers, the right letter in an outline, right and wrong in a mark: nothing by colour alone.
    """
    more: dict[str, Any] = {
        "softmax": _softmax(reading),
        "twins": list(reading.twins or ()),
        "key": _key(reading, push, nudge),
    }
    if nudge:
        more["nudge"] = {
            "step": push.step,
            "left": push.left,
            "predicted": np.exp(push.predicted),
            "floor": push.floor,
            "gone": push.gone,
        }
    return replace(diagrams.unrolled(reading), alt=described(reading, push), more=more)


def telling(reading: Reading) -> dict[str, int]:
    """Where the cursor stands at first: on the second of two equal letters that are answered differently."""
    return {"step": reading.twins[1] if reading.twins else 1}


def layer(states: States, name: str, text: str) -> diagrams.Diagram:
    """A forward layer of another network, as a chain of states or a gated cell's unit; text: what it read, if one."""
    numbers = (digits(float(row[0])) + " …" * (len(row) > 1) for row in states.inputs)
    labels = diagrams.letters(text) or tuple(numbers)
    values = states.values[name]
    if states.cell == "rnn":
        return diagrams.chain(values["h"], labels, f"The states of {name},")
    says = f"One unit of {name} of the {states.cell.upper()}, with all that it computes at a step."
    kind: Literal["lstm", "gru"] = "lstm" if states.cell == "lstm" else "gru"
    return diagrams.Diagram(kind, values, labels, says, "after" if kind == "gru" else None)


def cell(reading: Reading) -> diagrams.Diagram:
    """The same cell folded, with what it computes at a step: h_t = tanh(W_x x_t + W_h h_{t-1} + b)."""
    W_x, W_h, b = (reading.weights[name] for name in ("W_x", "W_h", "b"))
    read_at = _places(reading)
    a = W_x.T[read_at] + reading.states[:-1] @ W_h.T + b
    equation = {"x": read_at, "W_x": W_x, "W_h": W_h, "b": b, "a": a, "phi": "tanh"}
    return replace(diagrams.folded(reading), more={"equation": equation})


def _softmax(reading: Reading) -> dict[str, Any]:
    """Each letter's share, in the order first seen; of many letters the likeliest, the likeliest first."""
    T, V = reading.answers.shape
    which = np.argsort(-reading.answers, axis=1, kind="stable")[:, :BARS] if V > BARS else np.tile(np.arange(V), (T, 1))
    return {
        "letters": list(diagrams.letters(reading.letters)),
        "which": which.astype(np.int32),
        "share": np.take_along_axis(reading.answers, which, 1),
        "before": np.take_along_axis(reading.before, which, 1),
        "target": np.append(_places(reading)[1:], -1).astype(np.int32),
        "says": reading.answers.argmax(-1).astype(np.int32),
    }


def _places(reading: Reading) -> np.ndarray[Any, np.dtype[np.int32]]:
    """[T]: which letter of the vocabulary each step reads."""
    place = {letter: k for k, letter in enumerate(reading.letters)}
    return np.array([place[letter] for letter in reading.word], np.int32)


def _key(reading: Reading, push: Push, nudge: bool) -> str:
    few = "" if len(reading.letters) <= BARS else f", the {BARS} likeliest of {len(reading.letters)} letters"
    bars = f"Softmax{few}: in a dashed box the letter that follows; a line is the share before training."
    if not nudge:
        return bars
    end = "heard to the end" if push.gone is None else f"reach {push.gone}"
    of = f"of a nudge of {digits(push.size)} after step {push.step}"
    return f"{bars} Below: ■ truly left {of}, □ by the derivative; {end}."
