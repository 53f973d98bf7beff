"""The house's helpers: what a chart is told beyond its figure, and axes of decades."""

import numpy as np
import plotly.graph_objects as go
from hypothesis import given
from hypothesis import strategies as some

from rnnviz.figures import theme


@given(low=some.integers(-2000, 2000), span=some.integers(1, 2000))
def test_decades_have_few_ticks_at_nice_steps_over_any_range(low, span):
    figure, high = go.Figure(), low + span
    theme.decades(figure, low, high)
    axis = figure.layout.yaxis
    ticks = np.array(axis.tickvals)
    assert 2 <= len(ticks) <= 8
    (step,) = set(np.diff(ticks))
    assert float(f"{step:.0e}") == step  # one digit and zeros ...
    assert str(step)[0] in "125"  # ... of which every reader counts
    assert not (ticks % step).any()
    assert low <= ticks[0] < low + step
    assert high - step < ticks[-1] <= high
    assert axis.range[0] < low < high < axis.range[1]
    assert list(axis.ticktext) == ["1" if k == 0 else theme.ten(k) for k in axis.tickvals]


def test_what_lies_between_two_powers_is_within_the_range():
    figure = go.Figure()
    theme.decades(figure, -2.3, 0.1)
    assert list(figure.layout.yaxis.tickvals) == [-3, -2, -1, 0, 1]
    assert list(figure.layout.yaxis.ticktext) == ["10⁻³", "10⁻²", "10⁻¹", "1", "10¹"]


def test_decades_are_told_to_the_chart_and_may_be_of_another_axis():
    figure = go.Figure()
    theme.decades(figure, -3, 0, "y2")
    assert figure.layout.meta == {"decades": ["y2"]}
    assert list(figure.layout.yaxis2.tickvals) == [-3, -2, -1, 0]
    assert figure.layout.yaxis.tickvals is None
    other = go.Figure()
    theme.decades(other, -3, 0, "x")
    assert (other.layout.meta, other.layout.xaxis.range[0] < -3) == ({"decades": ["x"]}, True)


def test_what_is_told_adds_up_and_the_last_word_counts():
    figure = go.Figure()
    theme.tell(figure, heard=True, least=300)
    theme.tell(figure, heard=False, edges=["y"])
    assert figure.layout.meta == {"heard": False, "least": 300, "edges": ["y"]}
    theme.cursor(figure, x="lag")
    assert figure.layout.meta["least"] == 300


def test_a_cursor_says_the_dimension_of_each_axis_and_where_it_stands_at_first():
    figure, at = go.Figure(), {"step": 5}
    theme.cursor(figure, at, x="step", y2="unit")
    assert figure.layout.meta == {"cursor": {"x": "step", "y2": "unit"}, "at": {"step": 5}}
    at["step"] = 6  # the caller's
    assert figure.layout.meta["at"] == {"step": 5}
    theme.cursor(figure, x="lag")
    assert figure.layout.meta == {"cursor": {"x": "lag"}, "at": {}}


def test_a_band_lies_between_its_curves_under_one_name():
    x, low, high = np.arange(4), np.array([0.0, -1, -2, -np.inf]), np.array([1.0, 1, 0, -1])
    before = low.copy()
    figure = go.Figure()
    theme.band(figure, x, low, high, "least and most", theme.BLUE)
    upper, lower = figure.data
    np.testing.assert_array_equal(upper.y, high)
    np.testing.assert_array_equal(lower.y, low)
    np.testing.assert_array_equal(low, before)
    assert (upper.fill, lower.fill) == (None, "tonexty")  # to the curve drawn just before it
    assert lower.fillcolor == theme.faded(theme.BLUE, 0.25) == "rgba(0,114,178,0.25)"
    assert (lower.name, upper.name, upper.showlegend, upper.hoverinfo) == ("least and most", None, False, "skip")
    assert [edge.line.width for edge in figure.data] == [0, 0]


def test_logarithms_keep_an_exact_zero_and_no_float_limits_them():
    natural = np.array([0.0, -np.inf, 1000 * np.log(10), np.nan])
    np.testing.assert_allclose(theme.log10(natural), [0, -np.inf, 1000, np.nan])
