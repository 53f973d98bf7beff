"""Behind the unrolled word: the loss while it learned, parameters against steps, what it spells."""

import math
from collections.abc import Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go

from rnnviz.figures import theme
from rnnviz.results import Array, Learned, Push, Reading, Spelled
from rnnviz.verdicts import digits
from rnnviz.verdicts.unrolling import named


def loss(learned: Learned, steps: int) -> go.Figure:
    """The loss while it learned, on a log scale, with what guessing evenly costs and what no memory can beat."""
    fig = theme.figure()
    known = learned.losses[np.isfinite(learned.losses) & (learned.losses > 0)]
    if not known.size:
        _note(fig, "Nothing to draw: there is nothing to learn.")
        return fig
    step = np.arange(len(learned.losses))
    y = theme.log10(np.log(np.where(learned.losses > 0, learned.losses, np.nan)))
    fig.add_scatter(
        x=step,
        y=y,
        mode="lines",
        name="loss",
        line={"color": theme.BLUE, "width": 3},
    )
    for value, name, dash in (
        (learned.uniform, "guessing evenly, ln V", "dot"),
        (learned.floor, "no memory can do better", "dash"),
    ):
        if value > 0:
            theme.level(fig, math.log10(value), f"{name}: {digits(value)}", theme.GREY, dash=dash)
        else:
            _note(fig, f"{name}: 0, below the picture")
    if learned.below_floor is not None:
        theme.mark(fig, learned.below_floor, f" remembers from step {learned.below_floor} on", theme.REACH)
    at = min(steps, len(y) - 1)
    fig.add_scatter(
        x=[at],
        y=[y[at]],
        mode="markers",
        marker={"color": theme.RED, "size": 12},
        name="the network in the picture",
        text=[digits(float(learned.losses[at]))],
    )
    values = [math.log10(v) for v in (*known, learned.uniform, learned.floor) if v > 0]
    theme.decades(fig, min(values), max(values) + 0.2)
    theme.cursor(fig, {"training": at}, x="training")
    fig.update_layout(xaxis_title="training step", yaxis_title="loss, nats a letter")
    return fig


def nudge(push: Push) -> go.Figure:
    """What is left of a nudge at each later step, the derivative's word for it, and where less than 1 % is left."""
    fig = theme.figure()
    step = push.step + np.arange(len(push.left))
    seen = push.left > push.floor
    truly = np.where(seen, theme.log10(np.log(np.where(seen, push.left, 1.0))), np.nan)
    predicted = theme.log10(push.predicted)
    theme.line(fig, step, predicted, "the derivative", theme.BLUE, "dash")
    fig.add_scatter(
        x=step, y=truly, mode="markers", name="truly left", marker={"color": theme.RED, "size": 8, "symbol": "circle"}
    )
    known = np.concatenate([truly, predicted])
    known = known[np.isfinite(known)]
    theme.decades(fig, min(float(known.min()), -2.5), max(float(known.max()), 0.5))
    theme.level(fig, -2, "1 % left", above=False)
    if push.gone is not None:
        theme.mark(fig, push.step + push.gone, f" reach {push.gone}", theme.REACH)
    theme.cursor(fig, x="step")
    theme.tell(fig, heard=True)
    fig.update_layout(xaxis_title="step", yaxis_title="share of the nudge left")
    return fig


def parameters(result: Reading) -> go.Figure:
    """Parameters against the number of steps: flat, where a weight set for each step would grow with T."""
    fig = theme.figure()
    T = np.array([5, 50, 500])
    own, two_biases = result.parameters, result.parameters_torch
    points(fig, T, own * T, "a W of its own for each step", theme.GREY, "top left", dash="dot")
    points(fig, T, two_biases + 0 * T, "torch, which keeps two biases", theme.ORANGE, "top center", dash="dash")
    points(fig, T, own + 0 * T, "one W, used at each step", theme.BLUE, "bottom center")
    theme.decades(fig, math.log10(own) - 0.3, math.log10(own * T[-1]))
    fig.update_layout(yaxis_title="parameters")
    steps_axis(fig, T, "steps T")
    return fig


def points(
    fig: go.Figure,
    T: Array,
    counts: Array | Sequence[int],
    name: str,
    color: str,
    place: str,
    *,
    dash: str = "solid",
    symbol: str = "circle",
    row: str = "y",
) -> None:
    """What was counted at T steps, as a line of points with their counts, in decimal logarithms of both."""
    fig.add_scatter(
        x=np.log10(T),
        y=np.log10(counts),
        yaxis=row,
        mode="lines+markers+text",
        name=name,
        line={"color": color, "width": 3, "dash": dash},
        marker={"size": 9, "symbol": symbol},
        text=[f"{count:,}" for count in counts],
        textposition=place,
        cliponaxis=False,
        hovertemplate="%{text}",
    )


def steps_axis(fig: go.Figure, T: Array, title: str, **more: str) -> None:
    """The axis under such points: the numbers of steps that were counted."""
    ends = np.log10([T[0], T[-1]])
    ticks = {"tickvals": np.log10(T), "ticktext": [f"{t:,}" for t in T], "range": [ends[0] - 0.25, ends[1] + 0.25]}
    fig.update_layout(hovermode="closest", xaxis={"title": title, **ticks, **more})


def generate(several: Sequence[Spelled]) -> go.Figure:
    """A row a seed: what it spells on by itself; "?" where it answers a letter that it never read in training."""
    fig = theme.figure(height=60 + 44 * len(several))
    count = len(several[0].shares)
    z = np.array([s.shares for s in several])
    text = [[_label(c) + ("?" if g else "") for c, g in zip(s.text[1:], s.guesses, strict=True)] for s in several]
    rows = [f"seed {s.seed}: {_label(s.text[0])} →" for s in several]
    fig.add_heatmap(
        x=np.arange(1, count + 1),
        y=np.arange(len(rows)),
        z=z,
        zmin=0,
        zmax=1,
        colorscale=theme.SHARE,
        text=text,
        texttemplate="%{text}",
        textfont={"size": 16},
        xgap=4,
        ygap=4,
        showscale=False,
        hovertemplate="%{text}: %{z:.3f} of the softmax<extra></extra>",
    )
    fig.update_layout(
        margin={"l": 110, "r": 8, "t": 8, "b": 48},
        yaxis={
            "tickvals": np.arange(len(rows)),
            "ticktext": rows,
            "range": [len(rows) - 0.5, -0.5],
            "showgrid": False,
            "zeroline": False,
        },
        xaxis={"title": "answers, each read next; darker is surer", "dtick": 1, "showgrid": False, "zeroline": False},
        hovermode="closest",
    )
    return fig


def _label(letter: str) -> str:
    """Plotly reads a label as markup."""
    return escape(named(letter, "␣"), quote=False)


def _note(fig: go.Figure, text: str) -> None:
    fig.add_annotation(
        x=1,
        y=0.98,
        xref="paper",
        yref="paper",
        text=text,
        showarrow=False,
        xanchor="right",
        yanchor="top",
        font={"size": 14},
    )
