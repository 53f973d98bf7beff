"""The cell itself as a drawing with live numbers: folded, unrolled, an LSTM's unit, a GRU's unit.

What is drawn is here: values, labels, colours, words. Where it stands is the browser's, in ui/components/cell/cell.js.
"""

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from rnnviz.arguments import shown as quoted
from rnnviz.figures import theme
from rnnviz.figures.gates import SHARES, WORDS
from rnnviz.results import Array, HandSet, Layer, Reading
from rnnviz.verdicts import digits
from rnnviz.verdicts.unrolling import counted, named

Kind = Literal["folded", "unrolled", "lstm", "gru"]
COLORS: Mapping[str, Any] = {
    "signed": theme.SIGNED,
    "ink": theme.INK,
    "paper": theme.PAPER,
    "gates": theme.GATES,
    "right": theme.GREEN,
    "wrong": theme.RED,
    "grey": theme.GREY,
    "reach": theme.REACH,
    "twin": theme.PINK,
}
HAND_LEAST = 0.2
"""The level of a unit set by hand after two marked values of 1, each written as a tenth."""


@dataclass(frozen=True, slots=True, eq=False)
class Diagram:
    """A cell over the steps 1..T of one sequence.

    values: a state "h" or "c" -> [T+1, hidden], row 0 is its start; a gate -> [T, hidden], row t-1 is step t. labels
    [T]: what each step reads. alt: the drawing in words. reset: where a GRU's r stands, "before" or "after" U_n.
    least: of the scale, so that what stays below it has one colour in every sequence. more: what else stands in or
    under the drawing (figures/unrolling.py).
    """

    kind: Kind
    values: Mapping[str, Array]
    labels: tuple[str, ...]
    alt: str
    reset: str | None = None
    least: float = 1.0
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def hidden(self) -> int:
        """Units of a state."""
        return int(self.values["h"].shape[1])

    @property
    def scale(self) -> float:
        """Where a signed value has the full colour: least, or the largest rounded up to 1, 2 or 5 times a ten."""
        signed = np.concatenate([np.abs(v).ravel() for k, v in self.values.items() if k not in SHARES])
        largest = float(signed[np.isfinite(signed)].max(initial=0.0))
        if largest <= self.least:
            return self.least
        ten = 10.0 ** math.floor(math.log10(largest))
        return min(next(n * ten for n in (1, 2, 5, 10) if largest <= n * ten), sys.float_info.max)

    @property
    def key(self) -> str:
        """What the colours mean, in words."""
        return f"Blue is above 0, orange and hatched below; full colour at ±{digits(self.scale)}, of gates at 1."

    def tree(self) -> dict[str, Any]:
        """Plain dicts, lists and arrays, as ui/components/payload.py sends them."""
        return {
            "kind": self.kind,
            "steps": len(self.labels),
            "hidden": self.hidden,
            "reset": self.reset,
            "values": dict(self.values),
            "labels": list(self.labels),
            "words": dict(WORDS),
            "shares": SHARES,
            "scale": self.scale,
            "colors": COLORS,
            "alt": self.alt,
            "key": self.key if self.kind in ("lstm", "gru") else self.key.replace(", of gates at 1", ""),
            **self.more,
        }


def folded(reading: Reading) -> Diagram:
    """One cell and its loop: h_t = phi(W_x x_t + W_h h_{t-1} + b)."""
    says = f"One recurrent cell with a loop: it reads a letter and its own last state. {_read(reading)}"
    return Diagram("folded", {"h": reading.states}, letters(reading.word), says)


def unrolled(reading: Reading) -> Diagram:
    """The same cell as a chain over the steps, h_0 to h_T, with the same W_x and W_h at every step."""
    what = f"The cell that reads {quoted(reading.word)}, the same weights at every step,"
    return chain(reading.states, letters(reading.word), what)


def chain(h: Array, labels: tuple[str, ...], what: str) -> Diagram:
    """Any layer's states h_0 to h_T as a chain."""
    return Diagram("unrolled", {"h": h}, labels, f"{what} unrolled into a chain. {_over(h, 'h')}")


def gated(shown: Layer | HandSet, reset: str) -> Diagram:
    """The cell behind what the gates page shows."""
    return gru(shown, reset) if isinstance(shown, Layer) and shown.cell == "gru" else lstm(shown)


def lstm(layer: Layer | HandSet) -> Diagram:
    """One LSTM unit at a step: c_t = f*c_{t-1} + i*g, h_t = o*tanh(c_t).

    A layer starts from zeros; a unit set by hand has its output gate held open, o = 1. ValueError: the layer is none
    of an LSTM.
    """
    if isinstance(layer, HandSet):
        gates = {k: layer.gates[k][:, None] for k in "fig"} | {"o": np.ones((len(layer.inputs), 1))}
        c = layer.level[:, None]
    else:
        _check(layer, "lstm")
        gates = {k: layer.values[k] for k in "figo"}
        c = _from_zeros(layer.values["c"])
    # row 0 of h is 0: before the first step nothing was shown
    h = _from_zeros(gates["o"] * np.tanh(c[1:]))
    says = f"One unit of an LSTM cell: c is kept by f, written by i times g and shown by o. {_over(c, 'c')}"
    least = HAND_LEAST if isinstance(layer, HandSet) else 1.0
    return Diagram("lstm", {**gates, "c": c, "h": h}, _pairs(layer.inputs), says, least=least)


def gru(layer: Layer, reset: str) -> Diagram:
    """One GRU unit at a step: h_t = (1 - z)*h_{t-1} + z*n, the reset r before U_n or after it.

    ValueError: the layer is none of a GRU, or reset is neither.
    """
    _check(layer, "gru")
    if reset not in ("before", "after"):
        raise ValueError(f"reset is {reset!r}: it takes 'before' or 'after'")
    h = _from_zeros(layer.values["h"])
    says = f"One unit of a GRU cell: z replaces h by n, and r resets h {reset} U_n. {_over(h, 'h')}"
    return Diagram("gru", {**{k: layer.values[k] for k in "zrn"}, "h": h}, _pairs(layer.inputs), says, reset)


def _check(layer: Layer, cell: str) -> None:
    if layer.cell != cell:
        raise ValueError(f"layer is of cell={layer.cell!r}: it takes a layer of cell={cell!r}")


def _from_zeros(state: Array) -> Array:
    """[T+1, hidden] from [T, hidden]: a layer's states come without their start, which is 0."""
    return np.concatenate([np.zeros_like(state[:1]), state])


def letters(text: Iterable[str]) -> tuple[str, ...]:
    """Labels, as text: the browser parses no markup, so nothing needs escaping."""
    return tuple(named(letter, "␣") for letter in text)


def _pairs(inputs: Array) -> tuple[str, ...]:
    """The steps of an adding sequence, (value, mark)."""
    return tuple(digits(float(value)) + (" marked" if mark else "") for value, mark in inputs)


def _read(reading: Reading) -> str:
    return f"It reads {quoted(reading.word)}. {_over(reading.states, 'h')}"


def _over(state: Array, name: str) -> str:
    """Size, extremes and the last value of a state in words."""
    known = state[np.isfinite(state)]
    size = f"{counted(len(state) - 1, 'step')}, {counted(state.shape[1], 'unit')}"
    if not known.size:
        return f"{size}; {name} is not finite."
    lost = "" if known.size == state.size else ", and not finite in places"
    last = f"; unit 1 ends at {digits(float(state[-1, 0]))}"
    return f"{size}; {name} goes from {digits(float(known.min()))} to {digits(float(known.max()))}{lost}{last}."
