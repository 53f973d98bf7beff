"""Every kind of picture and every state that it can be in, for developers' eyes and for the tests of the components."""

from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go

from rnnviz.figures import adding_problem, diagrams, gates, gates_why, jacobians, letters, theme, unrolling
from rnnviz.results import Layer
from rnnviz.scenes import SCENES
from rnnviz.ui import caches, caches_unrolling, links
from rnnviz.ui.controls import CONTROLS

DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
COLORS = (theme.BLUE, theme.ORANGE, theme.GREEN, theme.RED, theme.PINK)
HOSTILE = '<img src=x onerror="document.title=1"><b>bold</b> & <script>document.title=2</script>'


def settings(page: str, **changed: links.Value) -> links.Settings:
    """A page's first scene, with some settings changed."""
    scenes = {scene.name: dict(scene.settings) for scene in SCENES[page]}
    return links.base(CONTROLS[page], scenes, SCENES[page][0].name) | changed


def lines(*curves: np.ndarray, name: str = "line", height: int = 300) -> go.Figure:
    """Curves over steps from 0, with the cursor of the step."""
    fig = theme.figure(height)
    for k, curve in enumerate(curves):
        theme.line(fig, np.arange(len(curve)), curve, f"{name} {k + 1}", COLORS[k % 5], DASHES[k // 2 % 5])
    theme.cursor(fig, x="step")
    fig.update_layout(xaxis_title="step", yaxis_title="value")
    return fig


def waves(count: int, steps: int = 101) -> list[np.ndarray]:
    """Curves that differ."""
    return [np.cos(np.arange(steps) / (8 + 3 * k)) + k for k in range(count)]


def one_point() -> go.Figure:
    """A line needs two: a point of one is a marker."""
    fig = lines(np.array([0.5]))
    return fig.update_traces(mode="lines+markers", marker_size=12)


def holes() -> go.Figure:
    """Gaps where a value is NaN, and nothing but gaps."""
    curve = waves(1)[0]
    curve[20:40] = np.nan
    curve[60], curve[61] = np.inf, -np.inf
    return lines(curve, np.full(101, np.nan))


def peaks() -> go.Figure:
    """Ten thousand points, one of them alone at the top and one at the bottom."""
    curve = np.sin(np.arange(10_000) / 400)
    curve[3_333], curve[6_666] = 4, -4
    return lines(curve)


def decades() -> go.Figure:
    """From 10^-300 to 10^300, and beyond the range on both sides, to an exact zero."""
    up, down = np.linspace(0, 420, 101), np.linspace(0, -420, 101)
    down[90:] = -np.inf
    fig = lines(up, down, np.linspace(-300, 300, 101))
    theme.decades(fig, -300, 300)
    theme.tell(fig, heard=True)
    return fig


def band() -> go.Figure:
    """A band between two curves, and a line in it."""
    middle = waves(1)[0]
    fig = theme.figure(300)
    theme.band(fig, np.arange(101), middle - 0.4, middle + 0.4, "least and most", theme.BLUE)
    fig.add_traces(lines(middle).data)
    theme.cursor(fig, x="step")
    return fig


def carpet() -> go.Figure:
    """Signed values on an absolute scale, some beyond it and some not known."""
    values = np.outer(np.linspace(-1.5, 1.5, 16), np.cos(np.arange(60) / 6))
    values[3, 10:20] = np.nan
    fig = theme.figure(300)
    fig.add_heatmap(z=values, x=np.arange(1, 61), zmin=-1, zmax=1, colorscale=theme.SIGNED, name="state h")
    theme.cursor(fig, x="step", y="unit")
    theme.tell(fig, lines=np.arange(16))
    fig.update_layout(hovermode="closest", xaxis_title="step", yaxis_title="unit")
    return fig


def hostile() -> go.Figure:
    """Markup where a text belongs: it is drawn as a text, or not at all, and never run."""
    fig = lines(*waves(2), name=HOSTILE)
    fig.update_layout(title=HOSTILE, xaxis_title=HOSTILE)
    fig.add_annotation(x=50, y=1, text=HOSTILE)
    return fig


STATES: dict[str, Callable[[], go.Figure]] = {
    "empty": lambda: lines(np.zeros(0)),
    "one point": one_point,
    "NaN and infinity": holes,
    "10,000 points": peaks,
    "ten series": lambda: lines(*waves(10)),
    "600 decades": decades,
    "band": band,
    "heat map": carpet,
    "hostile text": hostile,
}


def cells() -> dict[str, diagrams.Diagram]:
    """A drawing of every kind of cell, from real numbers."""
    word = caches_unrolling.reading(settings("unrolling"))
    longer = caches_unrolling.reading(settings("unrolling", word="MISSISSIPPI", units=8))
    layer, _, _ = caches.gates(settings("gates", show="lstm"))
    before, _, _ = caches.gates(settings("gates", show="gru", reset="before"))
    after, _, _ = caches.gates(settings("gates", show="gru", reset="after"))
    assert isinstance(layer, Layer)
    assert isinstance(before, Layer)
    assert isinstance(after, Layer)
    return {
        "folded": unrolling.cell(word[0]),
        "unrolled": unrolling.read(*word, nudge=True),
        "folded, 8 units": unrolling.cell(longer[0]),
        "unrolled, longer": unrolling.read(*longer),
        "unrolled, states alone": diagrams.unrolled(longer[0]),
        "LSTM": diagrams.lstm(layer),
        "GRU, reset before": diagrams.gru(before, "before"),
        "GRU, reset after": diagrams.gru(after, "after"),
    }


def group() -> tuple[dict[str, go.Figure], diagrams.Diagram]:
    """Four charts and a cell over the same 100 steps, for one cursor."""
    unit, _, _ = caches.gates(settings("gates"))
    layer, _, _ = caches.gates(settings("gates", show="lstm"))
    assert isinstance(layer, Layer)
    figures = {
        "lines": lines(*waves(6)),
        "ribbons": gates.picture(unit),
        "carpets": gates.picture(layer),
        "band": band(),
    }
    return figures, diagrams.lstm(layer)


def kinds() -> dict[str, go.Figure]:
    """A figure of every kind that a page draws, from real numbers."""
    push, carried = caches.jacobians_push(settings("jacobians")), caches.jacobians_carried(settings("jacobians"))
    reading, nudge = caches_unrolling.reading(settings("unrolling"))
    unit, _, _ = caches.gates(settings("gates"))
    layer, ways, _ = caches.gates(settings("gates", show="lstm"))
    lanes, probe = caches.recorded(settings("adding_problem")), caches.first_probe()
    return {
        "nudge": letters.nudge(nudge),
        "loss of a word": letters.loss(caches_unrolling.learned(settings("unrolling")), reading.steps),
        "parameters": letters.parameters(reading),
        "spelling": letters.generate(caches_unrolling.spelled(settings("unrolling"))),
        "push": jacobians.push(push),
        "back": jacobians.back(carried),
        "tug of war": jacobians.tug(carried),
        "ribbons": gates.picture(unit),
        "carpets": gates.picture(layer),
        "half-lives": gates_why.half_lives(ways, None, "lstm"),
        "parting": gates_why.parting(caches.parting(settings("gates"))),
        "learning": adding_problem.learning(lanes, 900),
        "gradient norm": adding_problem.gradient(lanes[0].step, lanes[0].loss, 1.0),
        "by step": adding_problem.by_step(probe),
        "gates of a probe": adding_problem.gates(probe),
        "answers": adding_problem.answers(probe),
    }
