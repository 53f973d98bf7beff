"""The gates page's picture: one unit's ribbons, or a layer's carpets."""

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rnnviz.figures import theme
from rnnviz.results import Array, HandSet, Layer

WORDS = {
    "f": "keep", "i": "write", "g": "value", "o": "show", "c": "level",
    "z": "replace", "r": "reset", "n": "new", "h": "state",
}  # fmt: skip
SHARES = "fiozr"
LINES = 64
"""Of a carpet at most: about one pixel each."""
GAP = 0.035
HEIGHT = theme.HEIGHT - 36
"""The choice of what is shown stands above it, and both together are a page's picture."""


def picture(shown: HandSet | Layer, order: str = "number") -> go.Figure:
    """What the page opens on: a unit's ribbons or a layer's carpets."""
    return ribbons(shown) if isinstance(shown, HandSet) else carpets(shown, order)


def ribbons(unit: HandSet) -> go.Figure:
    """One unit over time, under its two marks: keep f, write i, value g, the level c, and the answer read from it."""
    fig = theme.figure(HEIGHT)
    steps = np.arange(1, len(unit.inputs) + 1)
    start = np.arange(len(unit.level))
    rows = _rows(fig, {"f": 1.0, "i": 1.0, "g": 1.0, "c": 2.4, "answer": 2.8})
    for name in "fig":
        _ribbon(fig, steps, unit.gates[name], name, rows[name])
    _ribbon(fig, start, unit.level, "c", rows["c"])
    style: dict[str, Any] = {"mode": "lines", "line_shape": "hv", "yaxis": rows["answer"]}
    right, said = {"color": theme.GREY, "width": 3, "dash": "dash"}, {"color": theme.RED, "width": 3}
    fig.add_scatter(x=start, y=unit.truth, name="right", line=right, **style)
    fig.add_scatter(x=start, y=unit.answer, name="answer", line=said, **style)
    _scale(fig, rows["f"], 0.0, 1.0, [0.0, 1.0])
    _scale(fig, rows["i"], 0.0, 1.0, [0.0, 1.0])
    _scale(fig, rows["g"], 0.0, 0.1, [0.0, 0.1])
    _scale(fig, rows["c"], min(0.0, float(unit.level.min())), max(0.02, float(unit.level.max())), None)
    low, high = float(min(0.0, unit.answer.min())), float(max(2.0, unit.answer.max()))
    _scale(fig, rows["answer"], low, high, [0.0, 1.0, 2.0] if high - low < 4 else None)
    _names(fig, rows, {name: f"{WORDS[name]} <b>{name}</b>" for name in "figc"} | {"answer": "answer"})
    _marks(fig, unit.inputs, unit.marks)
    fig.update_layout(showlegend=False, xaxis_range=[0, len(steps) + 0.5], margin={"l": 84, "r": 56})
    theme.cursor(fig, {"step": int(unit.marks[0])}, x="step")
    end = f"answer {unit.answer[-1]:.2f}, right (dashed) is {unit.truth[-1]:.2f}"
    fig.update_layout(xaxis_title=f"step · {end}")
    return fig


def carpets(layer: Layer, order: str = "number") -> go.Figure:
    """Every gate and the state, time by unit: shares from 0 to 1, signed values from -1 to 1, whatever they are."""
    fig = theme.figure(HEIGHT)
    steps = np.arange(1, len(layer.inputs) + 1)
    hidden = layer.kept.shape[1]
    units = np.argsort(-layer.kept.mean(0), kind="stable") if order == "kept" else np.arange(hidden)
    size = math.ceil(hidden / LINES)
    rows = _rows(fig, dict.fromkeys(layer.values, 1.0))
    for name, values in layer.values.items():
        lines = np.stack([values[:, units[k : k + size]].mean(1) for k in range(0, hidden, size)])
        fig.add_heatmap(
            x=steps,
            z=lines.astype(np.float32),
            yaxis=rows[name],
            name=name,
            coloraxis="coloraxis" if name in SHARES else "coloraxis2",
            hovertemplate=f"{WORDS[name]} {name} = %{{z:.3f}}, step %{{x}}, line %{{y}}<extra></extra>",
        )
    bare = {"showticklabels": False, "ticks": "", "showgrid": False, "zeroline": False, "autorange": "reversed"}
    fig.update_layout({_axis(row): bare for row in rows.values()})
    bar = {"thickness": 12, "len": 0.46, "x": 1.01, "outlinewidth": 0}
    upper = bar | {"y": 0.77, "tickvals": [0, 0.5, 1]}
    lower = bar | {"y": 0.23, "tickvals": [-1, 0, 1], "ticktext": ["−1", "0", "+1"]}
    fig.update_layout(
        coloraxis={"cmin": 0, "cmax": 1, "colorscale": theme.SHARE, "colorbar": upper},
        coloraxis2={"cmin": -1, "cmax": 1, "colorscale": theme.SIGNED, "colorbar": lower},
        hovermode="closest",
        showlegend=False,
        xaxis_showgrid=False,
        xaxis_range=[0.5, len(steps) + 0.5],
        margin={"l": 94, "r": 16},
    )
    _names(fig, rows, {name: f"{WORDS[name]} <b>{name}</b>" for name in rows})
    _marks(fig, layer.inputs, layer.marks)
    lines = np.empty(hidden, dtype=int)
    lines[units] = np.arange(hidden) // size
    first_mark = {"step": int(layer.marks[0]), "unit": int(units[0]) + 1}
    theme.cursor(fig, first_mark, x="step", **dict.fromkeys(rows.values(), "unit"))
    theme.tell(fig, lines=lines)
    what = "one unit" if size == 1 else f"{size} units' mean"
    first = "most kept on top" if order == "kept" else "unit 1 on top"
    last = list(layer.values)[-1]
    largest = float(np.abs(layer.values[last]).max())
    beyond = f"<br>{last} goes to {largest:.1f}, its colour ends at 1" if largest > 1 else ""
    fig.update_layout(xaxis_title=f"step · a line is {what}, {first}{beyond}", margin_b=66 if beyond else 48)
    return fig


def _rows(fig: go.Figure, heights: dict[str, float]) -> dict[str, str]:
    """Strips one above the other on one time axis, so that a step is one line through all; name -> its y axis."""
    whole = sum(heights.values())
    room = 1 - GAP * (len(heights) - 1)
    top, rows = 1.0, {}
    for n, (name, height) in enumerate(heights.items(), 1):
        bottom = max(0.0, top - room * height / whole)
        rows[name] = "y" if n == 1 else f"y{n}"
        fig.update_layout({_axis(rows[name]): {"domain": [bottom, top], "anchor": "x"}})
        top = bottom - GAP
    fig.update_layout(xaxis={"anchor": rows[name], "title": "step"})
    return rows


def _axis(row: str) -> str:
    return f"yaxis{row[1:]}"


def _ribbon(fig: go.Figure, x: Array, y: Array, name: str, row: str) -> None:
    color = theme.GATES[name]
    fig.add_scatter(
        x=x, y=y, name=f"{WORDS[name]} {name}", mode="lines", line={"color": color, "width": 2.5}, line_shape="hv",
        fill="tozeroy", fillcolor=theme.faded(color, 0.4), yaxis=row,
    )  # fmt: skip


def _scale(fig: go.Figure, row: str, low: float, high: float, ticks: list[float] | None) -> None:
    room = 0.08 * (high - low)
    given = {"nticks": 4} if ticks is None else {"tickvals": ticks}
    fig.update_layout({_axis(row): {"range": [low - room, high + room], "side": "right", "zeroline": False, **given}})


def _names(fig: go.Figure, rows: dict[str, str], names: dict[str, str]) -> None:
    for name, row in rows.items():
        low, high = fig.layout[_axis(row)].domain
        _left(fig, names[name], (low + high) / 2, "middle")


def _left(fig: go.Figure, text: str, y: float, anchor: str) -> None:
    place = {"x": 0, "xref": "paper", "xshift": -8, "xanchor": "right", "y": y, "yref": "paper", "yanchor": anchor}
    fig.add_annotation(text=text, showarrow=False, **place)


def _marks(fig: go.Figure, inputs: Array, marks: Array) -> None:
    """The two marked steps through all strips, each with its value; close together, each is named on its own side."""
    steps = [int(t) for t in marks]
    close = steps[-1] - steps[0] < 0.16 * len(inputs)
    line = {"color": theme.RED, "width": 2, "dash": "dot"}
    for t, side in zip(steps, ("right", "left"), strict=True):
        fig.add_shape(type="line", x0=t, x1=t, y0=0, y1=1, yref="paper", line=line, name="mark")
        place = {"x": t, "y": 1, "yref": "paper", "yanchor": "bottom", "xanchor": side if close else "center"}
        fig.add_annotation(name="mark", text=f"▼ {inputs[t - 1, 0]:.2f}", showarrow=False, font={"size": 15}, **place)
    _left(fig, "marked", 1.0, "bottom")
