"""Behind the gates page's picture: two ways back, how open the gates are, two places for the reset."""

import math
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from rnnviz.figures import theme
from rnnviz.figures.gates import SHARES, WORDS
from rnnviz.results import Array, HandSet, Layer, Parting, Paths

if TYPE_CHECKING:
    import altair as alt

BINS = 40


def half_lives(ways: Paths, bias: float | None, show: str) -> go.Figure:
    """The direct path against the whole derivative by lag, on an absolute log scale; beside them sigma(bias)^lag."""
    fig = theme.figure()
    keep, state = ("z", "h") if show == "gru" else ("f", "c")
    lag = np.arange(len(ways.direct))
    direct, least, most, whole = (theme.log10(v) for v in (ways.direct, ways.least, ways.most, ways.whole))
    product = "Π f" if keep == "f" else "Π (1 − z)"
    theme.band(fig, lag, least, most, "least and most of any unit", theme.GATES[keep])
    name = f"direct path {product}, half-life {_steps(ways.half_direct)}"
    theme.line(fig, lag, direct, name, theme.GATES[keep], "dash")
    if bias is not None:
        closed = -lag * math.log10(1 + math.exp(-bias))
        theme.line(fig, lag, closed, f"σ({bias:g})<sup>k</sup>".replace("-", "−"), theme.GREY, "dot")
    ratio = f"∂{state}<sub>T</sub>/∂{state}<sub>T−k</sub>"
    name = f"whole ‖{ratio}‖, half-life {_steps(ways.half_whole)}"
    theme.line(fig, lag, whole, name, theme.GATES[state], "solid")
    shown = np.concatenate([v[np.isfinite(v)] for v in (least, most, whole)])
    theme.decades(fig, min(-2.5, float(shown.min())), max(0.5, float(shown.max())))
    theme.tell(fig, heard=True)
    theme.cursor(fig, {"lag": 40}, x="lag")
    theme.level(fig, -2, "1 % left", above=False)
    fig.update_layout(xaxis_title="lag k, steps back from the end", yaxis_title=f"share of {state} left")
    return fig


def parting(result: Parting) -> go.Figure:
    """How far the same weights go apart by where r stands, on a log scale; a diagonal U_n leaves rounding alone."""
    fig = theme.figure()
    steps = np.arange(1, len(result.apart) + 1)
    with np.errstate(divide="ignore"):
        apart, diagonal = np.log10(result.apart), np.log10(result.diagonal)
    theme.line(fig, steps, apart, "U_n as it is", theme.GATES["h"], "solid")
    marker = {"color": theme.GREY, "size": 7, "symbol": "x"}
    rounding = "the diagonal of U_n alone: rounding"
    fig.add_scatter(x=steps, y=diagonal, mode="markers", name=rounding, marker=marker)
    theme.decades(fig, float(min(diagonal[np.isfinite(diagonal)], default=-18)), 0.5)
    theme.cursor(fig, x="step")
    fig.update_layout(xaxis_range=[0.5, len(steps) + 0.5])
    fig.update_layout(xaxis_title="step", yaxis_title="distance, share of ‖h‖")
    return fig


def histograms(shown: HandSet | Layer) -> "list[alt.Chart]":
    """One chart a gate: how often it is how open, over all steps and units, and the share of it that is saturated."""
    import altair as alt  # takes a while to load, and only this view needs it

    gates = shown.gates if isinstance(shown, HandSet) else {k: v for k, v in shown.values.items() if k not in "ch"}
    counted = {k: np.histogram(v, BINS, (0.0 if k in SHARES else -1.0, 1.0)) for k, v in gates.items()}
    highest = max(float(counts.max()) / gates[k].size for k, (counts, _) in counted.items())  # one scale for all
    charts = []
    for name, (counts, edges) in counted.items():
        columns = (edges[:-1].tolist(), edges[1:].tolist(), (counts / gates[name].size).tolist())
        bins = [{"from": a, "to": b, "share": share} for a, b, share in zip(*columns, strict=True)]
        chart = alt.Chart(alt.Data(values=bins), title=f"{WORDS[name]} {name}: {saturated(name, gates[name])}")
        axis = alt.Axis(values=np.linspace(edges[0], 1.0, 5).tolist(), format=".2~f")
        bars = chart.mark_bar(color=theme.GATES[name]).encode(
            x=alt.X("from:Q", bin="binned", title=None, axis=axis, scale=alt.Scale(domain=[float(edges[0]), 1.0])),
            x2="to:Q",
            y=alt.Y("share:Q", title=None, axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0.0, highest])),
            tooltip=[alt.Tooltip(k, format=".3f") for k in ("from:Q", "to:Q", "share:Q")],
        )
        charts.append(bars.properties(height=220))
    return charts


def saturated(name: str, values: Array) -> str:
    """The shares of values that barely answer to anything: within 0.1 of an end of their range."""
    if name in SHARES:
        return f"{100 * np.mean(values < 0.1):.0f} % shut, {100 * np.mean(values > 0.9):.0f} % open"
    return f"{100 * np.mean(np.abs(values) > 0.9):.0f} % saturated"


def _steps(half_life: float) -> str:
    return "none: it grows" if math.isinf(half_life) else f"{half_life:.3g} steps"
