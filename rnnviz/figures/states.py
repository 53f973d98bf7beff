"""Behind the unrolled word: the states of a stack of layers, a state carried over, and what a sequence costs."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rnnviz.figures import letters, theme
from rnnviz.figures.gates import LINES, SHARES, WORDS
from rnnviz.results import Array, Cost, Leaked, States
from rnnviz.verdicts import digits
from rnnviz.verdicts.unrolling import counted

HEIGHT = 320
"""Of the states' two pictures, which stand one above the other."""
SIDES = {"l": 64, "r": 60}
"""Their margins, which leave room for the colour bar of one, so that their steps stand one above the other."""
SINGLE, EXAMPLES = 8, 4
"""Up to so many units have a line each; of more, so many beside their mean and extremes."""
LINE_COLORS = (theme.BLUE, theme.RED, theme.GREEN, theme.PINK, theme.ORANGE, theme.SKY, theme.GREY)
DASHES = ("solid", "dash", "dot", "dashdot")


def heat(states: States, name: str, value: str = "h") -> go.Figure:
    """A layer's value, time by unit, on an absolute scale: shares from 0 to 1, signed values from -1 to 1."""
    fig = theme.figure(HEIGHT)
    values, steps = states.values[name][value], states.steps(name, value)
    hidden = values.shape[1]
    size = math.ceil(hidden / LINES)
    lines = np.stack([values[:, k : k + size].mean(1) for k in range(0, hidden, size)])
    share, time = value in SHARES, _time(states, name, value)
    fig.add_heatmap(
        x=steps,
        z=lines.astype(np.float32),
        name=_name(name, value),
        coloraxis="coloraxis",
        hovertemplate=f"{WORDS[value]} {value} = %{{z:.3f}}, step %{{x}}, line %{{y}}<extra></extra>",
    )
    ticks: dict[str, Any] = {"tickvals": [0, 1]} if share else {"tickvals": [-1, 0, 1], "ticktext": ["−1", "0", "+1"]}
    what = "a line is one unit" if size == 1 else f"a line is {size} units' mean"
    largest = _largest(values)
    beyond = f" · up to {digits(largest)} in size, the colour ends at 1" if largest > 1 else ""
    fig.update_layout(
        coloraxis={
            "cmin": 0 if share else -1,
            "cmax": 1,
            "colorscale": theme.SHARE if share else theme.SIGNED,
            "colorbar": {"thickness": 12, "x": 1, "xpad": 8, "outlinewidth": 0, **ticks},
        },
        hovermode="closest",
        showlegend=False,
        margin=SIDES,
        xaxis={**time, "title": f"{time['title']} · {what}{beyond}", "showgrid": False},
        yaxis={
            "title": "unit",
            "tickvals": sorted({0, len(lines) - 1}),
            "ticktext": ["1"] if len(lines) == 1 else ["1", str(hidden)],
            "range": [len(lines) - 0.5, -0.5],
            "showgrid": False,
            "zeroline": False,
        },
    )
    theme.cursor(fig, {"step": 1, "unit": 1}, x="step", y="unit")
    theme.tell(fig, lines=np.arange(hidden) // size)
    return fig


def units(states: States, name: str, value: str = "h") -> go.Figure:
    """A line a unit over the steps; of more than 8 units the mean, the extremes as a band, and the first 4."""
    fig = theme.figure(HEIGHT)
    values, steps = states.values[name][value], states.steps(name, value)
    hidden = values.shape[1]
    if hidden > SINGLE:
        theme.band(fig, steps, values.min(1), values.max(1), f"least and most of {hidden}", theme.GREY)
    shown = hidden if hidden <= SINGLE else EXAMPLES
    for unit in range(shown):
        color, dash = LINE_COLORS[unit % len(LINE_COLORS)], DASHES[unit % len(DASHES)]
        theme.line(fig, steps, values[:, unit], f"unit {unit + 1}", color, dash)
    if hidden > SINGLE:
        theme.line(fig, steps, values.mean(1), f"mean of {hidden}", theme.GREY, "solid")
    bound = max(1.0, _largest(values))
    low = 0.0 if value in SHARES else -bound
    room = 0.04 * (bound - low)
    theme.cursor(fig, {"step": 1}, x="step")
    fig.update_layout(
        margin=SIDES,
        xaxis=_time(states, name, value),
        yaxis={"title": _name(name, value), "range": [low - room, bound + room]},
    )
    return fig


def described(states: States, name: str, value: str = "h") -> str:
    """Both pictures for who cannot see them: which value, of how many units and steps, its extremes and its mean."""
    values = states.read(name, value)
    size = f"{counted(values.shape[1], 'unit')} over {counted(len(values), 'step')}"
    what = _name(name, value)
    head = f"{what[0].upper()}{what[1:]}, {size}{_back(name)}"
    known = values[np.isfinite(values)]
    if not known.size:
        return f"{head}: not finite."
    low, high, mean = (digits(float(one)) for one in (known.min(), known.max(), known.mean()))
    lost = "" if known.size == values.size else ", and not finite in places"
    return f"{head}: from {low} to {high}, mean {mean}{lost}."


def leak(leaked: Leaked) -> go.Figure:
    """What is left of a state that was carried over instead of reset, step by step, on an absolute log scale."""
    fig = theme.figure()
    if not leaked.apart[0] > 0:
        fig.add_annotation(theme.note("The first pass ends in a state of exactly 0:<br>nothing is carried over."))
        return fig
    steps = np.arange(len(leaked.apart))
    whole, hidden = leaked.cell == "lstm", leaked.h_share
    curves = [("the whole state (h, c)" if whole else "the state h", leaked.share, leaked.apart, theme.BLUE, "solid")]
    if whole and leaked.h_apart[0] > 0:
        curves.append(("h alone", hidden, leaked.h_apart, theme.GATES["h"], "dash"))
    drawn = []
    for name, share, apart, color, dash in curves:
        with np.errstate(divide="ignore"):
            logs = np.log10(np.where((apart > leaked.floor) | (apart == 0), share, np.nan))
        theme.line(fig, steps, logs, name, color, dash)
        drawn.append(logs)
    known = np.concatenate(drawn)
    known = known[np.isfinite(known)]
    theme.decades(fig, min(float(known.min()), -2.5), max(float(known.max()), 0.5))
    theme.tell(fig, heard=True)
    theme.level(fig, -2, "1 % left", above=False)
    if leaked.gone is not None:
        theme.mark(fig, leaked.gone, f" below 1 % from step {leaked.gone} on", theme.REACH)
    theme.cursor(fig, {"step": min(1, len(steps) - 1)}, x="step")
    hidden_by = int(np.isnan(drawn[0]).sum())
    note = f" · the last {hidden_by} differ by rounding alone, not drawn" if hidden_by else ""
    fig.update_layout(xaxis_title=f"step of the second pass{note}", yaxis_title="share of the carried state left")
    return fig


def cost(costs: Sequence[Cost]) -> go.Figure:
    """Multiply-adds as they were counted, against T (n² + n d) for each gate, and the bytes of a trace, on log axes."""
    fig = theme.figure()
    several = sorted(costs, key=lambda one: one.steps)
    if not several:
        fig.add_annotation(theme.note("Nothing was counted."))
        return fig
    first = several[0]
    T = np.array([one.steps for one in several])
    times = "" if first.gates == 1 else f"{first.gates}"
    formula = np.array([one.formula for one in several])
    theme.line(fig, np.log10(T), np.log10(formula), f"{times}T (n² + n d)", theme.GREY, "dot")
    forward = [one.forward for one in several]
    backward = [one.backward for one in several]
    held = [one.bytes for one in several]
    letters.points(fig, T, forward, "reading, counted", theme.BLUE, "bottom center")
    letters.points(fig, T, backward, "its gradient, counted", theme.RED, "top center", symbol="diamond")
    letters.points(fig, T, held, "bytes of the trace", theme.GREEN, "top center", symbol="square", row="y2")
    theme.decades(fig, *_around([*forward, *backward]), "y")
    theme.decades(fig, *_around(held), "y2")
    fig.update_layout(
        yaxis={"title": "multiply-adds", "domain": [0.44, 1.0], "anchor": "x"},
        yaxis2={"title": "bytes", "domain": [0.0, 0.3], "anchor": "x"},
    )
    letters.steps_axis(fig, T, f"steps T, for n = {first.hidden} units and d = {first.inputs} inputs", anchor="y2")
    return fig


def _back(name: str) -> str:
    return ", read from the last to the first" if name.endswith("←") else ""


def _name(name: str, value: str) -> str:
    return f"{WORDS[value]} {value} of {name}"


def _time(states: States, name: str, value: str) -> dict[str, Any]:
    """The steps, on one range in both pictures, so that their cursor stands at one place."""
    steps = states.steps(name, value)
    return {"title": f"step{_back(name)}", "range": [steps[0] - 0.5, steps[-1] + 0.5]}


def _largest(values: Array) -> float:
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max()) if finite.size else 0.0


def _around(counts: Sequence[int]) -> tuple[float, float]:
    return math.log10(min(counts)) - 0.3, math.log10(max(counts)) + 0.3
