"""The learning page's figures, from curves and a probe made by hand."""

import numpy as np
import pytest

from rnnviz.figures import adding_problem
from rnnviz.results import Probe, Progress


def lane(cell="gru", n=50):
    steps = np.arange(n)
    reach = np.where(steps[::10] >= 20, np.inf, 7.0)
    return Progress(
        cell.upper(),
        cell,
        30,
        steps,
        0.17 - (0.003 if cell == "gru" else 0) * steps,
        steps[::10],
        reach,
        np.full((len(reach), 3), 0.5),
    )


PROBE = Probe(
    0.1, 5, (0.1, 0.2, 0.01), np.array([-np.inf, -3.0, 0.0]), np.log(10) * np.array([-np.inf, -3.0, 0.0]),
    np.array([[0.3, 1.0], [0.6, 1.0]]), {"z": np.full((2, 4), 0.5), "n": np.full((2, 4), -0.5)},
    np.array([1.0, 1.1]), np.array([0.9, 1.2]), {},
)  # fmt: skip


def test_loss_reach_and_listening_share_one_training_axis():
    figure = adding_problem.learning([lane("rnn"), lane("gru")])
    assert [t.name for t in figure.data[:3]] == ["RNN", "RNN", "GRU"]
    np.testing.assert_array_equal(figure.data[2].y, lane().loss)
    assert {t.xaxis for t in figure.data} == {None}
    assert [t.yaxis for t in figure.data[:3]] == ["y", "y2", "y"]
    assert sum("GRU hears" in t.name for t in figure.data) == 3  # it learned first


def test_every_curve_says_which_column_of_which_lane_fills_it():
    lanes = [lane("rnn"), lane("gru")]
    drawn = [lanes[curve.meta["lane"]] for curve in adding_problem.learning(lanes).data]
    columns = [curve.meta["column"] for curve in adding_problem.learning(lanes).data]
    assert [one.name for one in drawn] == ["RNN", "RNN", "GRU", "GRU", "GRU", "GRU", "GRU"]
    assert columns == ["loss", "reach", "loss", "reach", "listening.0", "listening.1", "listening.2"]
    for curve, one, column in zip(adding_problem.learning(lanes).data, drawn, columns, strict=True):
        name, _, place = column.partition(".")
        whole = getattr(one, name)
        values = whole[:, int(place)] if place else np.minimum(whole, curve.meta.get("most", np.inf))
        np.testing.assert_array_equal(curve.y, values)


def test_a_reach_beyond_the_sequence_stands_at_its_end():
    reach = adding_problem.learning([lane()]).data[1]
    assert list(reach.y) == [7, 7, 30, 30, 30]
    assert reach.meta["most"] == 30  # a run's stream does the same in the browser


@pytest.mark.parametrize(("at", "stands"), [(20, 20), (None, 49)])
def test_the_cursor_of_the_training_stands_where_it_is_told_or_at_the_end(at, stands):
    figure = adding_problem.learning([lane()], at)
    assert figure.layout.meta == {"cursor": {"x": "training"}, "at": {"training": stands}, "edges": ["y"]}
    assert all(shape.x0 == 0 for shape in figure.layout.shapes)  # the line at the cursor is the chart's


def test_a_run_without_a_point_has_its_curves_waiting():
    empty = Progress("GRU", "gru", 30, *[np.zeros(0)] * 4, np.zeros((0, 3)))
    figure = adding_problem.learning([empty])
    assert [curve.meta["column"] for curve in figure.data] == [
        "loss", "reach", "listening.0", "listening.1", "listening.2"
    ]  # fmt: skip
    assert all(len(curve.x) == len(curve.y) == 0 for curve in figure.data)
    assert figure.layout.yaxis2.range == (0, 31.5)
    assert figure.layout.meta["at"] == {"training": 0}
    assert not adding_problem.learning([]).data


def test_a_gradient_that_is_not_finite_is_a_gap():
    figure = adding_problem.gradient(np.arange(3), np.array([1.0, np.nan, 100.0]), 1.0)
    np.testing.assert_array_equal(figure.data[0].y, [0, np.nan, 2])
    low, high = figure.layout.yaxis.range
    assert low < 0 < 2 < high


def test_a_gradient_of_zero_stays_minus_infinity_which_the_chart_marks():
    figure = adding_problem.gradient(np.arange(3), np.array([1.0, 0.0, 100.0]), None)
    np.testing.assert_array_equal(figure.data[0].y, [0, -np.inf, 2])
    assert np.isfinite(figure.layout.yaxis.range).all()
    assert figure.layout.meta == {"decades": ["y"], "cursor": {"x": "training"}, "at": {"training": 2}}
    assert adding_problem.gradient(np.zeros(0), np.zeros(0), None).layout.meta["at"] == {"training": 0}


def test_the_gradient_by_step_keeps_its_exact_zeros_as_minus_infinity():
    figure = adding_problem.by_step(PROBE)
    np.testing.assert_allclose(figure.data[0].y, [-np.inf, -3, 0], rtol=1e-15)
    np.testing.assert_allclose(figure.data[1].y, [-np.inf, -3 / np.log(10), 0], rtol=1e-15)
    low, high = figure.layout.yaxis.range
    assert -4 < low < -3 < 0 < high < 1
    assert figure.layout.meta["decades"] == ["y"]
    assert figure.layout.meta["cursor"] == {"x": "step"}


def test_gates_stand_on_a_fixed_scale_under_their_marks():
    figure = adding_problem.gates(PROBE)
    assert [(t.name, t.zmin, t.zmax) for t in figure.data] == [("z", 0, 1), ("n", -1, 1)]
    assert np.asarray(figure.data[0].z).shape == (4, 2)
    assert {shape.x0 for shape in figure.layout.shapes} == {1, 2}


@pytest.mark.parametrize("draw", [adding_problem.by_step, adding_problem.gates, adding_problem.answers])
def test_the_same_probe_is_the_same_figure(draw):
    assert draw(PROBE) == draw(PROBE)
