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
    figure = adding_problem.learning([lane("rnn"), lane("gru")], cursor=20)
    assert [t.name for t in figure.data[:3]] == ["RNN", "RNN", "GRU"]
    np.testing.assert_array_equal(figure.data[2].y, lane().loss)
    assert {t.xaxis for t in figure.data} == {None}
    assert [t.yaxis for t in figure.data[:3]] == ["y", "y2", "y"]
    assert sum("GRU hears" in t.name for t in figure.data) == 3  # it learned first


def test_a_reach_beyond_the_sequence_stands_at_its_end_and_says_so():
    reach = adding_problem.learning([lane()]).data[1]
    assert list(reach.y) == [7, 7, 30, 30, 30]
    assert list(reach.text) == ["7", "7", "beyond T", "beyond T", "beyond T"]


def test_a_run_without_a_point_says_that_it_comes():
    figure = adding_problem.learning([])
    assert any("on its way" in (a.text or "") for a in figure.layout.annotations)
    empty = Progress("GRU", "gru", 30, *[np.zeros(0)] * 4, np.zeros((0, 3)))
    assert len(adding_problem.learning([empty]).data) == 5


def test_a_gradient_that_is_not_finite_is_a_gap():
    figure = adding_problem.gradient(np.arange(3), np.array([1.0, np.nan, 100.0]), 1.0)
    np.testing.assert_array_equal(figure.data[0].y, [0, np.nan, 2])
    low, high = figure.layout.yaxis.range
    assert low < 0 < 2 < high


def test_the_gradient_by_step_says_how_many_are_exactly_zero():
    figure = adding_problem.by_step(PROBE)
    np.testing.assert_array_equal(figure.data[0].y, [np.nan, -3, 0])
    assert any("0 in floats at 1 steps" in (a.text or "") for a in figure.layout.annotations)


def test_gates_stand_on_a_fixed_scale_under_their_marks():
    figure = adding_problem.gates(PROBE)
    assert [(t.name, t.zmin, t.zmax) for t in figure.data] == [("z", 0, 1), ("n", -1, 1)]
    assert np.asarray(figure.data[0].z).shape == (4, 2)
    assert {shape.x0 for shape in figure.layout.shapes} == {1, 2}


@pytest.mark.parametrize("draw", [adding_problem.by_step, adding_problem.gates, adding_problem.answers])
def test_the_same_probe_is_the_same_figure(draw):
    assert draw(PROBE) == draw(PROBE)
