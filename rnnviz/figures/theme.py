"""The one place with a colour, a font size or an axis in it.

Colours are Okabe and Ito's (2008), told apart by colour-blind eyes; every series also has a dash or a marker of its
own. They are readable on white and on near-black; text and grid take the page's colours, light or dark.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rnnviz.results import Array

BLUE, ORANGE, GREEN, RED, PINK, SKY, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8A8A8A"

CELLS = {"rnn": RED, "gru": GREEN, "lstm": BLUE}
GATES = {
    "i": SKY,
    "f": GREEN,
    "g": ORANGE,
    "o": PINK,
    "c": BLUE,
    "h": RED,
    "z": GREEN,
    "r": PINK,
    "n": ORANGE,
    "a": GREY,
}
REACH = ORANGE
SIGNED = [[0.0, "#E66101"], [0.25, "#FDB863"], [0.5, "#F7F7F7"], [0.75, "#92C5DE"], [1.0, "#0571B0"]]
"""For values with a sign: orange below zero, blue above, on a fixed range around zero."""
INK, PAPER = "#1B1F24", "#FFFFFF"
"""What is written on a coloured square, whatever the page's colours are."""
SHARE = [[0.0, "#F7FBFF"], [0.5, "#6BAED6"], [1.0, "#08306B"]]
"""For shares from 0 to 1."""

LIT = (0.75, 1.0)
"""How opaque a cell is that is just heard, and one of which all is left; evenly by decade between them."""

HEIGHT = 436
"""Of a page's picture, in pixels, with its legend and its cursor: half of a 900-pixel screen."""

DIMENSIONS = {"step": "step", "lag": "lag", "unit": "unit", "training": "training step", "number": "first number"}
"""What a cursor can choose, and its name for readers."""

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def layout(height: int = HEIGHT) -> dict[str, Any]:
    """The house's margins, legend and hover."""
    return {
        "height": height,
        "margin": {"l": 64, "r": 24, "t": 28, "b": 48},
        "font": {"size": 15},
        "hovermode": "x unified",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 14}},
        "dragmode": False,
    }


def figure(height: int = HEIGHT) -> go.Figure:
    """An empty figure in the house's layout."""
    return go.Figure(layout=layout(height))


def cursor(fig: go.Figure, at: Mapping[str, int] | None = None, **axes: str) -> None:
    """Say which dimension an axis is, as in x="lag", and where its cursor stands at first."""
    tell(fig, cursor=axes, at=dict(at or {}))


def level(
    fig: go.Figure, y: float | int, text: str, color: str = REACH, *, dash: str = "dot", above: bool = True
) -> None:
    """A level line through the picture with its name at the right end, above it or below.

    Written as plain data: plotly's own add_hline takes a third of the time of a whole figure.
    """
    line = {"color": color, "width": 1.5, "dash": dash}
    across = {"type": "line", "xref": "x domain", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": line}
    place = {"xref": "x domain", "x": 1, "xanchor": "right", "y": y, "yanchor": "bottom" if above else "top"}
    fig.layout.shapes = (*fig.layout.shapes, across)
    fig.layout.annotations = (*fig.layout.annotations, {"text": text, "showarrow": False, **place})


def tell(fig: go.Figure, **what: Any) -> None:
    """What the chart has to know beyond a figure. cursor: axis -> dimension, at: dimension -> value.

    decades: the axes whose coordinate is log10 of the value. edges: those on which a value beyond the range is marked;
    if left out, the same. heard: what falls below 1 % is named. lines: the line of each unit, on an axis of units.
    least: the pixels that the picture needs to be readable; a narrower screen scrolls it sideways.
    """
    fig.layout.meta = {**(fig.layout.meta or {}), **what}


def line(fig: go.Figure, x: Array, y: Array, name: str, color: str, dash: str = "solid") -> None:
    """A curve, told apart by its dash where eyes see no colour."""
    fig.add_scatter(x=x, y=y, mode="lines", name=name, line={"color": color, "width": 3, "dash": dash})


def band(fig: go.Figure, x: Array, low: Array, high: Array, name: str, color: str) -> None:
    """What lies between two curves, under the lines that are drawn after it."""
    edge: dict[str, Any] = {"x": x, "mode": "lines", "line": {"width": 0}}
    fig.add_scatter(y=high, hoverinfo="skip", showlegend=False, **edge)
    fig.add_scatter(y=low, name=name, fill="tonexty", fillcolor=faded(color, 0.25), **edge)


def decades(fig: go.Figure, low: float | int, high: float | int, axis: str = "y") -> None:
    """An axis whose coordinate is log10 of the value, ticked in powers of ten: no float range limits it."""
    low, high = math.floor(low), math.ceil(high)
    nice = (n * 10**k for k in range(5) for n in (1, 2, 5))
    step = next((n for n in nice if n * 7 >= high - low), 100_000)
    ticks = list(range(math.ceil(low / step) * step, high + 1, step))
    text = ["1" if k == 0 else ten(k) for k in ticks]
    room = 0.02 * (high - low)
    of = f"{axis[0]}axis{axis[1:]}"
    fig.update_layout({of: {"range": [low - room, high + room], "tickvals": ticks, "ticktext": text}})
    tell(fig, decades=[*(fig.layout.meta or {}).get("decades", []), axis])


def ten(exponent: int) -> str:
    """Ten to a whole power, raised."""
    return f"10{str(exponent).translate(_SUPERSCRIPT)}"


def faded(color: str, share: float) -> str:
    """A colour of this file with the page shining through."""
    red, green, blue = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share})"


def log10(natural: Any) -> np.ndarray:
    """From natural to decimal logarithms; a zero stays −∞, which the chart marks at its edge."""
    return np.asarray(natural, dtype=float) / math.log(10)


def note(text: str) -> dict[str, Any]:
    """A sentence in the middle of a picture that has nothing to draw."""
    return {
        "text": text,
        "x": 0.5,
        "y": 0.5,
        "xref": "paper",
        "yref": "paper",
        "showarrow": False,
        "font": {"size": 18},
    }


def mark(fig: go.Figure, x: float | int, text: str, color: str, *, row: int | None = None) -> None:
    """A vertical line with its name at the top."""
    at: dict[str, Any] = {} if row is None else {"row": row, "col": 1}
    fig.add_vline(x=x, line={"color": color, "width": 2, "dash": "dot"}, **at)
    fig.add_annotation(
        x=x,
        y=1,
        yref="y domain",
        text=text,
        showarrow=False,
        xanchor="left",
        yanchor="top",
        font={"color": color, "size": 14},
        **at,
    )
