"""The learning page: loss, reach and listening on one training axis; and what a run shows of its newest probe."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rnnviz.analysis.learning import escape
from rnnviz.figures import theme
from rnnviz.results import BASELINE_MSE, HALF_MSE, Array, Probe, Progress

DASH = {"rnn": "dot", "gru": "solid", "lstm": "dash"}
NEEDLES = (
    ("first number", theme.ORANGE, "solid"),
    ("second number", theme.SKY, "dash"),
    ("unmarked", theme.GREY, "dot"),
)


def learning(lanes: Sequence[Progress], at: int | None = None) -> go.Figure:
    """Loss, right under it the reach, under that the listening of who learned first; one training axis for all.

    at: the training step where the cursor stands at first, the last if left out. Every trace says which column of which
    lane it draws, so that a run's stream can fill it.
    """
    traces: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    for k, lane in enumerate(lanes):
        line = {"color": theme.CELLS[lane.cell], "width": 3, "dash": DASH[lane.cell]}
        traces.append(_curve(lane.step, lane.loss, lane.name, line, "y", {"lane": k, "column": "loss"}))
        reach, most = np.minimum(lane.reach, lane.length), {"lane": k, "column": "reach", "most": lane.length}
        traces.append(_curve(lane.probe_step, reach, lane.name, line, "y2", most, showlegend=False))
    for k, lane in sorted(enumerate(lanes), key=lambda numbered: _left(numbered[1]))[:1]:  # who learned first
        for n, (name, color, dash) in enumerate(NEEDLES):
            line = {"color": color, "width": 3, "dash": dash}
            column = {"lane": k, "column": f"listening.{n}"}
            said = f"{lane.name} hears: {name}"
            traces.append(_curve(lane.probe_step, lane.listening[:, n], said, line, "y3", column))
    shapes = []
    for value, name in ((BASELINE_MSE, "1/6, always answering 1"), (HALF_MSE, "1/12")):
        shapes.append(
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": value,
                "y1": value,
                "line": {"color": theme.GREY, "width": 1.5, "dash": "dot"},
            }
        )
        notes.append(
            {
                "x": 1,
                "xref": "paper",
                "y": value,
                "text": name,
                "showarrow": False,
                "xanchor": "right",
                "yanchor": "bottom",
                "font": {"color": theme.GREY, "size": 13},
            }
        )
    length = max((lane.length for lane in lanes), default=100)
    seen = [lane.loss[np.isfinite(lane.loss)] for lane in lanes]
    top = max((float(loss.max()) for loss in seen if loss.size), default=0.4)
    now = max((float(loss[-1]) for loss in seen if loss.size), default=0.4)
    axes = {
        "xaxis": {"title": {"text": "training step"}, "anchor": "y3", "rangemode": "tozero"},
        "yaxis": {
            "title": {"text": "loss"},
            "domain": [0.62, 1],
            "range": [0, min(max(top * 1.05, 0.2), max(0.4, 1.3 * now))],
        },
        "yaxis2": {"title": {"text": "reach"}, "domain": [0.27, 0.57], "range": [0, length * 1.05]},
        "yaxis3": {"title": {"text": "listening"}, "domain": [0, 0.22], "range": [-0.1, 1.15], "tickvals": [0, 1]},
    }
    fig = go.Figure({"data": traces, "layout": {**theme.layout(440), **axes, "shapes": shapes, "annotations": notes}})
    last = max((int(lane.step[-1]) for lane in lanes if len(lane.step)), default=0)
    theme.cursor(fig, {"training": last if at is None else at}, x="training")
    theme.tell(fig, edges=["y"])
    return fig


def _left(lane: Progress) -> float:
    left = escape(lane.step, lane.loss)
    return math.inf if left is None else float(left)


def _curve(
    x: Array, y: Array, name: str, line: dict[str, Any], axis: str, column: dict[str, Any], **more: Any
) -> dict[str, Any]:
    drawn = {"type": "scatter", "mode": "lines", "x": x, "y": y, "name": name, "line": line, "yaxis": axis}
    return {**drawn, "meta": column, **more}


def gradient(step: Array, grad_norm: Array, threshold: float | None) -> go.Figure:
    """The global gradient norm before clipping, with the threshold."""
    fig = theme.figure(320)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log10(np.asarray(grad_norm, dtype=float))
    finite = logs[np.isfinite(logs)]
    fig.add_scatter(
        x=step,
        y=logs,
        mode="lines",
        name="gradient norm before clipping",
        line={"color": theme.BLUE, "width": 2},
    )
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (-1.0, 1.0)
    if threshold is not None:
        line = math.log10(threshold)
        low, high = min(low, line), max(high, line)
        theme.level(fig, line, f"clipped above {threshold:g}", theme.RED, dash="dash")
    fig.update_layout(xaxis_title="training step", yaxis_title="norm")
    theme.decades(fig, low - 0.2, high + 0.2)
    theme.cursor(fig, {"training": int(step[-1]) if len(step) else 0}, x="training")
    return fig


def by_step(probe: Probe) -> go.Figure:
    """‖∂L/∂s_t‖ over the steps of the sequence, and the share of the answer's gradient that is left, in decades."""
    fig = theme.figure(320)
    steps = np.arange(len(probe.log_grad_norm))
    logs, answer = theme.log10(probe.log_grad_norm), theme.log10(probe.log_answer)
    theme.line(fig, steps, logs, "‖∂L/∂s_t‖", theme.BLUE)
    theme.line(fig, steps, answer, "‖∂ŷ/∂s_t‖ relative to the last step", theme.GREEN, "dash")
    values = np.concatenate((logs[np.isfinite(logs)], answer[np.isfinite(answer)]))
    low, high = (float(values.min()), float(values.max())) if values.size else (-1.0, 0.0)
    theme.level(fig, -2, "1 % of the last step")
    fig.update_layout(xaxis_title="step of the sequence")
    theme.decades(fig, min(low, -2.5), max(high, 0))
    theme.cursor(fig, x="step")
    return fig


def gates(probe: Probe) -> go.Figure:
    """The gates of one probe sequence, unit by step, on a fixed scale, under its two marks."""
    names = list(probe.gates)
    fig = make_subplots(rows=len(names), cols=1, shared_xaxes=True, vertical_spacing=0.06)
    fig.update_layout(theme.figure(90 + 130 * len(names)).layout)
    for row, name in enumerate(names, 1):
        values = np.asarray(probe.gates[name], dtype=float).T
        signed = name in "hgn"
        fig.add_heatmap(
            z=values,
            x=np.arange(1, values.shape[1] + 1),
            zmin=-1 if signed else 0,
            zmax=1,
            colorscale=theme.SIGNED if signed else theme.SHARE,
            showscale=row == 1,
            colorbar={"len": 1 / len(names), "y": 1, "yanchor": "top"},
            name=name,
            hovertemplate=f"step %{{x}}, unit %{{y}}: {name} = %{{z:.3f}}<extra></extra>",
            row=row,
            col=1,
        )
        fig.update_yaxes(title=name, row=row, col=1)
    for step in np.flatnonzero(probe.inputs[:, 1]) + 1:
        fig.add_vline(x=int(step), line={"color": theme.ORANGE, "width": 2})
    fig.update_xaxes(title="step of the sequence; the two marks as lines", row=len(names), col=1)
    numbers = ["", *range(2, len(names) + 1)]
    axes = {f"x{n}": "step" for n in numbers} | {f"y{n}": "unit" for n in numbers}
    theme.cursor(fig, {"step": int(np.flatnonzero(probe.inputs[:, 1])[0]) + 1}, **axes)
    theme.tell(fig, lines=np.arange(probe.gates[names[0]].shape[1]))
    return fig


def answers(probe: Probe) -> go.Figure:
    """Predictions against targets; on the diagonal is right."""
    fig = theme.figure(380)
    fig.add_scatter(x=[0, 2], y=[0, 2], mode="lines", name="right", line={"color": theme.GREY, "dash": "dot"})
    fig.add_scatter(
        x=probe.targets, y=probe.predictions, mode="markers", name="answers", marker={"color": theme.BLUE, "size": 8}
    )
    fig.update_layout(
        xaxis_title="sum of the two numbers", yaxis_title="answer", xaxis_range=[0, 2], yaxis_range=[-0.1, 2.1]
    )
    return fig
