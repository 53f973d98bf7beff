"""The home page: two lanes of cells with the light that reaches back; loss, reach and answers of both under them."""

import math

import numpy as np
import plotly.graph_objects as go

from rnnviz.figures import theme
from rnnviz.results import BASELINE_MSE, HEARD, Moment
from rnnviz.verdicts import digits
from rnnviz.verdicts.home import NAMES, two

LABELS = {**{cell: f"<b>{name}</b>" for cell, name in NAMES.items()}, "rnn": "<b>tanh<br>RNN</b>"}
DASH = {"rnn": "dot", "gru": "solid", "lstm": "solid"}
# The lanes stand on an axis whose unit is about a pixel. A dark cell is also a short one, for eyes that see no colour.
TOP, LANES, HALF, SHORT, STRIP = 160, {0: 122, 1: 18}, 16, 5, 70
TRAINING, ANSWERS = [0, 0.69], [0.79, 1]
LOSS, REACH = [0.32, 0.505], [0, 0.27]


def lanes(moment: Moment) -> go.Figure:
    """Cells lit while 1 % of the answer's derivative is left there; the training that led to it; the answers."""
    fig = theme.figure()
    fig.update_layout(
        margin={"l": 58, "r": 16, "t": 4, "b": 46},
        showlegend=False,
        hovermode="closest",
        barmode="overlay",
        xaxis={
            "domain": [0, 1],
            "anchor": "y",
            "range": [0.4, moment.race.T + 0.6],
            "tickvals": [1, *range(20, moment.race.T + 1, 20)],
        },
        yaxis={"domain": [0.586, 1], "range": [0, TOP], "tickvals": [], "showgrid": False, "zeroline": False},
        xaxis2={"domain": TRAINING, "anchor": "y3", "title": "training step"},
        yaxis2={"domain": LOSS, "anchor": "x2", "title": "loss"},
        yaxis3={"domain": REACH, "anchor": "x2", "title": "reach"},
        xaxis3={"domain": ANSWERS, "anchor": "y4", "title": "first number"},
        yaxis4={"domain": [0, LOSS[1]], "anchor": "x3"},
    )
    fig.update_xaxes(showgrid=False, zeroline=False)
    _cells(fig, moment)
    _marks(fig, moment)
    _training(fig, moment)
    _answers(fig, moment)
    return fig


def _cells(fig: go.Figure, moment: Moment) -> None:
    steps = moment.steps
    for cell, middle in zip(moment.lanes, LANES.values(), strict=True):
        share = moment.left(cell)
        lit = share >= HEARD
        half = np.where(lit, HALF, SHORT)
        fig.add_bar(
            x=steps,
            y=2 * half,
            base=middle - half,
            width=0.76,
            marker={"color": theme.lights(share), "line": {"width": 0}},
            name=NAMES[cell],
            text=[f"step {t}: {digits(100 * float(s))} % left" for t, s in zip(steps, share, strict=True)],
            textposition="none",
            hovertemplate=f"{NAMES[cell]}, %{{text}}<extra></extra>",
        )
        _text(fig, "x domain", 0, "y", middle, LABELS[cell], theme.CELLS[cell], xanchor="right", xshift=-6)


def _marks(fig: go.Figure, moment: Moment) -> None:
    """The two marked numbers, between the lanes that both read them; a line to a cell is lit where it is heard."""
    race = moment.race
    numbers = (float(race.values[moment.value]), float(race.sequence[race.marks[1] - 1, 0]))
    for step, number in zip(race.marks, numbers, strict=True):
        for cell, middle in zip(moment.lanes, LANES.values(), strict=True):
            heard = bool(moment.left(cell)[step - 1] >= HEARD)
            edge = middle + math.copysign(HALF if heard else SHORT, STRIP - middle)
            line = {
                "color": theme.REACH if heard else theme.GREY,
                "width": 4 if heard else 2,
                "dash": "solid" if heard else "dot",
            }
            fig.add_scatter(x=[step, step], y=[STRIP, edge], mode="lines", line=line, hoverinfo="skip")
        fig.add_scatter(
            x=[step],
            y=[STRIP],
            mode="markers",
            marker={"symbol": "star", "size": 17, "color": theme.REACH},
            hoverinfo="skip",
        )
        _text(fig, "x", step, "y", STRIP, f"<b>{number:.2f}</b> at step {step}", None, xanchor="left", xshift=11)


def _training(fig: go.Figure, moment: Moment) -> None:
    race = moment.race
    end = max(int(lane.steps[-1]) for lane in race.lanes.values())
    for cell, lane in moment.lanes.items():
        line = {"color": theme.CELLS[cell], "width": 3, "dash": DASH[cell]}
        k = lane.at(moment.step)
        reach = np.where(lane.reach < 0, race.T, lane.reach)
        for values, axis, said in ((lane.loss, "y2", "loss %{y:.4f}"), (reach, "y3", "reach %{y}")):
            hover = f"{NAMES[cell]}, training step %{{x}}: {said}<extra></extra>"
            fig.add_scatter(
                x=lane.steps,
                y=values,
                xaxis="x2",
                yaxis=axis,
                mode="lines",
                line=line,
                name=NAMES[cell],
                hovertemplate=hover,
            )
            fig.add_scatter(
                x=[lane.steps[k]],
                y=[values[k]],
                xaxis="x2",
                yaxis=axis,
                mode="markers",
                marker={"color": theme.CELLS[cell], "size": 11, "opacity": 1},
                hoverinfo="skip",
                cliponaxis=False,
            )
        _text(
            fig,
            "x2",
            end,
            "y3",
            min(float(reach[-1]), moment.lag),  # under the line of the mark, not on it
            f"<b>{NAMES[cell]}</b>",
            theme.CELLS[cell],
            xanchor="right",
            yanchor="bottom" if reach[-1] < race.T / 2 else "top",
        )
    for axis, value in (("y2", BASELINE_MSE), ("y3", moment.lag)):
        fig.add_shape(
            type="line",
            xref="x2",
            yref=axis,
            x0=0,
            x1=end,
            y0=value,
            y1=value,
            line={"color": theme.GREY, "width": 1.5, "dash": "dash"},
        )
    _text(fig, "x2", end, "y2", BASELINE_MSE, "always answering 1", None, xanchor="right", yanchor="bottom", size=13)
    _text(
        fig,
        "x2 domain",
        0,
        "y3",
        moment.lag,
        f"the mark, {moment.lag} back",
        None,
        xanchor="left",
        xshift=8,
        yanchor="top",
        size=13,
    )
    first = max(float(lane.loss[0]) for lane in moment.lanes.values())
    _text(
        fig, "x2 domain", 0, "y2 domain", 1, f"▲ {first:.2f}", None, xanchor="left", xshift=34, yanchor="top", size=13
    )
    fig.add_shape(
        type="line",
        xref="x2",
        yref="paper",
        x0=moment.step,
        x1=moment.step,
        y0=0,
        y1=LOSS[1],
        line={"color": theme.GREY, "width": 2},
    )
    fig.update_layout(
        xaxis2_range=[0, end],
        yaxis2={"range": [0, 0.23], "tickvals": [0, BASELINE_MSE], "ticktext": ["0", "1/6"]},
        yaxis3={"range": [0, 1.08 * race.T], "tickvals": [0, race.T // 2, race.T]},
    )


def _answers(fig: go.Figure, moment: Moment) -> None:
    """Each lane's answer as the first number goes from 0 to 1, with the truth, and the chosen number on all three."""
    race = moment.race
    fig.add_scatter(
        x=race.values,
        y=race.truth,
        xaxis="x3",
        yaxis="y4",
        mode="lines",
        line={"color": theme.GREY, "width": 2, "dash": "dash"},
        name="truth",
        hovertemplate="truth %{y:.2f}<extra></extra>",
    )
    said = []
    for cell, lane in moment.lanes.items():
        answers = lane.answers[lane.at(moment.step)]
        color = theme.CELLS[cell]
        fig.add_scatter(
            x=race.values,
            y=answers,
            xaxis="x3",
            yaxis="y4",
            mode="lines",
            line={"color": color, "width": 3, "dash": DASH[cell]},
            name=NAMES[cell],
            hovertemplate=f"{NAMES[cell]} answers %{{y:.2f}}<extra></extra>",
        )
        fig.add_scatter(
            x=[race.values[moment.value]],
            y=[answers[moment.value]],
            xaxis="x3",
            yaxis="y4",
            mode="markers",
            marker={"color": color, "size": 11, "opacity": 1},
            hoverinfo="skip",
        )
        said.append(f'<span style="color:{color}"><b>{NAMES[cell]} answers {two(moment.answer(cell))}</b></span>')
    _text(
        fig,
        "x domain",
        1,
        "y",
        TOP,
        f"{' · '.join(said)} · <b>truth {two(moment.truth)}</b>",
        None,
        xanchor="right",
        yanchor="top",
        size=15,
    )
    _text(fig, "x3 domain", 0, "y4 domain", 1, "answer", None, xanchor="left", xshift=4, yanchor="top", size=13)
    fig.update_layout(
        xaxis3={"range": [-0.04, 1.04], "tickvals": [0, 1]}, yaxis4={"range": [-0.1, 1.6], "tickvals": [0, 1]}
    )


def _text(
    fig: go.Figure,
    xref: str,
    x: float | int,
    yref: str,
    y: float | int,
    text: str,
    color: str | None,
    size: int = 14,
    **place: object,
) -> None:
    font = {"size": size} if color is None else {"size": size, "color": color}
    fig.add_annotation(xref=xref, x=x, yref=yref, y=y, text=text, showarrow=False, font=font, **place)
