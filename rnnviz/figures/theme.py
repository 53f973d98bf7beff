"""The one place with a colour, a font size or an axis in it.

Colours are Okabe and Ito's (2008), told apart by colour-blind eyes; every series also has a dash or a marker of its
own. They are readable on white and on near-black; text and grid take the page's colours, light or dark.
"""

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rnnviz.results import HEARD

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

UNLIT = "rgba(138, 138, 138, 0.35)"
"""A cell of which nothing is heard, on white and on near-black."""

CLEAR = "rgba(0, 0, 0, 0)"
"""The inside of what is only an outline."""

HEIGHT = 436
"""Of a page's picture, in pixels: half of a 900-pixel screen."""

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def layout(height: int = HEIGHT) -> dict[str, Any]:
    """The house's margins, legend and hover."""
    return {
        "height": height,
        "margin": {"l": 64, "r": 24, "t": 28, "b": 48},
        "font": {"size": 15},
        "hovermode": "x unified",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 14}},
        "uirevision": "keep",
        "dragmode": False,
    }


def figure(height: int = HEIGHT) -> go.Figure:
    """An empty figure in the house's layout."""
    return go.Figure(layout=layout(height))


def decades(axis: str, low: float | int, high: float | int) -> dict[str, Any]:
    """An axis whose coordinate is log10 of the value, ticked in powers of ten: no float range limits it."""
    low, high = math.floor(low), math.ceil(high)
    step = max(1, math.ceil((high - low) / 7))
    ticks = list(range(math.ceil(low / step) * step, high + 1, step))
    text = ["1" if k == 0 else ten(k) for k in ticks]
    return {
        f"{axis}_range": [low - 0.02 * (high - low), high + 0.02 * (high - low)],
        f"{axis}_tickvals": ticks,
        f"{axis}_ticktext": text,
    }


def on_signed(value: float) -> str:
    """The colour of a number on its square of SIGNED: of the two, the one with more contrast."""
    return PAPER if value > 0.88 else INK


def ten(exponent: int) -> str:
    """Ten to a whole power, raised."""
    return f"10{str(exponent).translate(_SUPERSCRIPT)}"


def faded(color: str, share: float) -> str:
    """A colour of this file with the page shining through."""
    red, green, blue = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share})"


def log10(natural: Any) -> np.ndarray:
    """From natural to decimal logarithms; what is not finite becomes a gap, which the caller marks."""
    values = np.asarray(natural, dtype=float) / math.log(10)
    return np.where(np.isfinite(values), values, np.nan)


def lights(share: Any) -> list[str]:
    """A colour for each share of a gradient: unlit below 1 %, then brighter with each decade up to all of it."""
    with np.errstate(divide="ignore"):
        decades_left = np.log10(np.asarray(share, dtype=float))
    alpha = 0.75 + 0.125 * np.clip(decades_left - math.log10(HEARD), 0, 2)
    return [
        faded(REACH, round(float(a), 3)) if left >= math.log10(HEARD) else UNLIT
        for left, a in zip(decades_left, alpha, strict=True)
    ]


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
