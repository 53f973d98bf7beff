"""The unrolling page: a word read column by column, with the reach of a nudge under it."""

import numpy as np
import plotly.graph_objects as go

from rnnviz.figures import theme
from rnnviz.figures.letters import share, shown, signed
from rnnviz.results import Push, Reading
from rnnviz.verdicts import digits

# The picture's bands, in pixels from its lower edge: its height is fixed, so a row of text is as high as its letters.
TOP = theme.HEIGHT - 10
DERIVATIVE, TRUTH, METER, TWINS, LETTER, STATE, BARS, SHARE, ANSWER = 9, 26, 40, 78, 112, 138, 314, 397, 414
METER_HEIGHT, STATE_HEIGHT, BAR_HEIGHT = 24, 144, 72
MARGIN = 104
WIDE = 12
"""Up to so many letters the columns are wide: numbers have two decimals, and every arrow says W."""


def read(result: Reading, push: Push) -> go.Figure:
    """A column a step: letter, state in numbers, softmax with the target's slot hollow; below, what is left of a nudge.

    Signs stand in the numbers, the target in an outline, right and wrong in a mark: nothing is told by colour alone.
    """
    fig = theme.figure()
    time, wide = len(result.word), _width(result)
    _states(fig, result, wide)
    _softmax(fig, result, wide)
    _nudge(fig, push, time, wide)
    _twins(fig, result)
    t = np.arange(1, time + 1)
    middle = STATE + STATE_HEIGHT / 2
    _text(fig, t, [LETTER] * time, [f"<b>{shown(c)}</b>" for c in result.word], 20)
    for gap in (LETTER + 20, STATE + STATE_HEIGHT + 8):
        _text(fig, t, [gap] * time, ["↑"] * time, 13)
    for start in range(time):
        fig.add_annotation(
            x=start + 1 - wide / 2,
            ax=start + wide / 2 if start else 0.36,
            y=middle,
            ay=middle,
            axref="x",
            ayref="y",
            arrowhead=2,
            arrowsize=1 if time <= WIDE else 0.8,
            arrowwidth=2 if time <= WIDE else 1.5,
            arrowcolor=theme.BLUE,
            text="",
            standoff=1,
        )
    if time <= WIDE:
        _text(fig, t[:-1] + 0.5, [middle + 12] * (time - 1), ["<b>W</b>"] * (time - 1), 13)
    state = "state h" if time <= WIDE else "state h,<br>each → is W"
    heads = ((ANSWER, "answer"), (BARS + BAR_HEIGHT / 2, "softmax"), (middle, state), (LETTER, "reads"))
    for y, head in heads:
        _head(fig, y, head)
    fig.update_layout(
        margin={"l": MARGIN, "r": 8, "t": 5, "b": 5},
        showlegend=False,
        hovermode="closest",
        barmode="overlay",
        bargap=0,
        uniformtext={"minsize": 9, "mode": "hide"},
        xaxis={"range": [0.36, max(time, 3) + 0.5], "visible": False, "fixedrange": True},
        yaxis={"range": [0, TOP], "visible": False, "fixedrange": True},
    )
    theme.tell(fig, least=_least_width(result))
    return fig


def _least_width(result: Reading) -> int:
    """The pixels that the picture needs to be readable; a narrower screen scrolls it sideways."""
    return MARGIN + 8 + len(result.word) * (48 if len(result.word) <= 5 else 54 if len(result.word) <= WIDE else 38)


def _width(result: Reading) -> float:
    return 0.64 if len(result.word) <= WIDE else 0.74


def _states(fig: go.Figure, result: Reading, wide: float) -> None:
    time, hidden = len(result.word), result.states.shape[1]
    h = result.states[1:]
    each = min(STATE_HEIGHT / hidden, 48)
    low = STATE + (STATE_HEIGHT - each * hidden) / 2
    x, unit = np.repeat(np.arange(1, time + 1), hidden), np.tile(np.arange(hidden), time)
    values = h.ravel()
    fig.add_bar(
        x=x,
        y=np.full(len(x), each - 2),
        base=low + each * (hidden - 1 - unit) + 1,
        width=wide,
        name="state",
        marker={
            "color": theme.signed(values),
            "line": {"width": 1, "color": theme.GREY},
        },
        text=[signed(v, short=time > WIDE) for v in values],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        textfont={"size": 15 if hidden <= 5 else 12, "color": [theme.on_signed(v) for v in values]},
        constraintext="inside" if hidden <= 5 else "none",
        customdata=np.stack([x, unit + 1, values], -1),
        hovertemplate="step %{customdata[0]}, unit %{customdata[1]}: %{customdata[2]:.6f}<extra></extra>",
    )


def _softmax(fig: go.Figure, result: Reading, wide: float) -> None:
    time, V = result.answers.shape
    slot = wide / V
    t, k = np.repeat(np.arange(1, time + 1), V), np.tile(np.arange(V), time)
    x = t - wide / 2 + (k + 0.5) * slot
    target = [result.letters.index(c) for c in result.word[1:]] + [-1]
    says = result.answers.argmax(-1)
    wanted = k == np.repeat(target, V)
    wrong = (k == np.repeat(says, V)) & ~wanted & (np.repeat(target, V) >= 0)
    fig.add_bar(  # the target's slot: hollow, as high as certainty
        x=x[wanted],
        y=np.full(int(wanted.sum()), BAR_HEIGHT),
        base=BARS,
        width=slot,
        hoverinfo="skip",
        name="target",
        marker={"color": theme.CLEAR, "line": {"width": 1.5, "color": theme.GREEN}},
    )
    fig.add_bar(
        x=x,
        y=np.maximum(result.answers.ravel() * BAR_HEIGHT, 1),
        base=BARS,
        width=0.8 * slot,
        name="softmax",
        marker={"color": np.where(wanted, theme.GREEN, np.where(wrong, theme.RED, theme.GREY))},
        customdata=[
            [int(a), shown(result.letters[b]), float(p)] for a, b, p in zip(t, k, result.answers.ravel(), strict=True)
        ],
        hovertemplate="after step %{customdata[0]}: %{customdata[1]} %{customdata[2]:.6f}<extra></extra>",
    )
    if time * V <= 46:
        _text(fig, x, [BARS - 9] * len(x), [shown(result.letters[n]) for n in k], 12)
    for step, (said, aim) in enumerate(zip(says, target, strict=True), 1):
        mark = "?" if aim < 0 else "✓" if said == aim else "✗"
        _text(fig, [step], [ANSWER], [f"<b>{shown(result.letters[said])}</b> {mark}"], 16 if time <= WIDE else 13)
        _text(fig, [step], [SHARE], [f"{100 * result.answers[step - 1, said]:.0f} %"], 12 if time <= WIDE else 10)


def _nudge(fig: go.Figure, push: Push, time: int, wide: float) -> None:
    """Two meters a step, from 1 % to all of it, filled the truth, hollow the derivative; then both in numbers."""
    step = np.arange(push.step, push.step + len(push.left))
    derivative = np.exp(push.predicted)
    for values, side, color, name in (
        (push.left, -1, theme.REACH, "truly left"),
        (derivative, 1, theme.CLEAR, "derivative"),
    ):
        height = METER_HEIGHT * np.clip(1 + np.log10(np.maximum(values, 1e-300)) / 2, 0, 1.15)
        fig.add_bar(
            x=step + 0.2 * side * wide,
            y=height,
            base=METER,
            width=0.3 * wide,
            name=name,
            customdata=values,
            marker={"color": color, "line": {"width": 1.5, "color": theme.REACH}},
            hovertemplate=f"{name}: %{{customdata:.6g}}<extra></extra>",
        )
    short = time > WIDE
    size = 13 if time <= WIDE else 11
    texts = [share(v, short) if v > least else "▼" for v, least in zip(push.left, push.floor, strict=True)]
    _text(fig, step, [TRUTH] * len(step), texts, size)
    _text(fig, step, [DERIVATIVE] * len(step), [share(v, short) for v in derivative], size)
    after = f"nudge of {digits(push.size)}<br>after step {push.step}:<br>"
    if push.gone is None:
        _head(fig, METER + 22, f"{after}heard to the end" if len(push.left) > 1 else f"{after}no later step")
    else:
        at = push.step + push.gone
        line = {"color": theme.REACH, "width": 2, "dash": "dot"}
        fig.add_shape(type="line", x0=at - 0.5, x1=at - 0.5, y0=0, y1=METER + METER_HEIGHT + 6, line=line)
        _text(fig, [at], [METER + 11], ["▼ &lt; 1 %" if time <= WIDE else "▼"], 12)
        _head(fig, METER + 22, f"{after}&lt; 1 % in {push.gone} step{'s' if push.gone != 1 else ''}")
    _head(fig, TRUTH, "■ truly left")
    _head(fig, DERIVATIVE, "□ derivative")


def _twins(fig: go.Figure, result: Reading) -> None:
    if result.twins is None:
        return
    first, second = result.twins
    half = _width(result) / 2 + 0.06
    for t in result.twins:
        fig.add_shape(
            type="rect",
            x0=t - half,
            x1=t + half,
            y0=LETTER - 15,
            y1=TOP - 1,
            line={"color": theme.PINK, "width": 2.5},
            layer="below",
        )
    for t in result.twins:
        fig.add_shape(type="line", x0=t, x1=t, y0=LETTER - 15, y1=LETTER - 22, line={"color": theme.PINK, "width": 2.5})
    fig.add_shape(
        type="line", x0=first, x1=second, y0=LETTER - 22, y1=LETTER - 22, line={"color": theme.PINK, "width": 2.5}
    )
    middle = (first + second) / 2
    place = (middle - 0.36) / (max(len(result.word), 3) + 0.14)
    anchor = "left" if place < 0.25 else "right" if place > 0.75 else "center"
    fig.add_annotation(
        x=middle,
        y=TWINS + 2,
        text=f"same letter {shown(result.word[first - 1])}, states {digits(result.apart(first, second))} apart",
        showarrow=False,
        xanchor=anchor,
        font={"size": 14},
    )


def _text(fig: go.Figure, x: object, y: object, text: list[str], size: int) -> None:
    fig.add_scatter(x=x, y=y, mode="text", text=text, textfont={"size": size}, hoverinfo="skip", cliponaxis=False)


def _head(fig: go.Figure, y: float | int, text: str) -> None:
    fig.add_annotation(
        x=0,
        xref="paper",
        xshift=-6,
        y=y,
        yref="y",
        text=text,
        showarrow=False,
        xanchor="right",
        yanchor="middle",
        align="right",
        font={"size": 12},
    )
