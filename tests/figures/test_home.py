"""The home page's figure: what is drawn is what was recorded, and light is not told by colour alone."""

import numpy as np
import pytest

from rnnviz.figures import home, theme
from rnnviz.recorded import race
from rnnviz.results import HEARD, Moment


def bars(figure):
    return [trace for trace in figure.data if trace.type == "bar"]


def lines(figure, axis, name):
    (found,) = [t for t in figure.data if t.yaxis == axis and t.mode == "lines" and t.name == name]
    return found


def texts(figure):
    return " | ".join(note.text for note in figure.layout.annotations)


@pytest.mark.parametrize("second", ["gru", "lstm"])
@pytest.mark.parametrize("step", [0, 900, 3200])
def test_a_cell_is_lit_while_one_percent_is_left_there(second, step):
    moment = Moment(race(), second, step, 16)
    for bar, cell in zip(bars(home.lanes(moment)), ("rnn", second), strict=True):
        lit = moment.left(cell) >= HEARD
        assert [color != theme.UNLIT for color in bar.marker.color] == lit.tolist()
        assert (np.asarray(bar.y) == np.where(lit, np.max(bar.y), np.min(bar.y))).all() or lit.all()
        reach = moment.reach(cell)
        assert lit[-int(min(reach, 100)) :].all()
        assert reach > 100 or reach == 100 or not lit[-int(reach) - 1]


def test_the_curves_are_the_recorded_ones_and_the_cursor_stands_on_them():
    moment = Moment(race(), "gru", 900, 16)
    figure = home.lanes(moment)
    for cell, name in (("rnn", "RNN"), ("gru", "GRU")):
        lane = race().lanes[cell]
        np.testing.assert_array_equal(lines(figure, "y2", name).y, lane.loss)
        np.testing.assert_array_equal(lines(figure, "y3", name).y, np.where(lane.reach < 0, 100, lane.reach))
        np.testing.assert_array_equal(lines(figure, "y4", name).y, lane.answers[lane.at(900)])
    assert [shape.x0 for shape in figure.layout.shapes if shape.yref == "paper"] == [900]
    assert {shape.y0 for shape in figure.layout.shapes} >= {1 / 6, 88}
    np.testing.assert_array_equal(lines(figure, "y4", "truth").y, race().truth)


def test_the_answers_and_the_truth_are_said():
    moment = Moment(race(), "gru", 1300, 4)
    said = texts(home.lanes(moment))
    assert f"GRU answers {moment.answer('gru'):.2f}" in said
    assert f"RNN answers {moment.answer('rnn'):.2f}" in said
    assert "truth 0.65" in said
    assert "<b>0.20</b> at step 12" in said
    assert "▲ " in said  # where the loss starts, above the picture


def test_a_line_leads_from_the_mark_to_a_lane_that_hears_it():
    figure = home.lanes(Moment(race(), "gru", 1300, 16))
    lines_up = [t for t in figure.data if t.type == "scatter" and t.mode == "lines" and t.xaxis is None]
    to_cells = [t for t in lines_up if t.x[0] == 12]
    assert [t.line.dash for t in to_cells] == ["dot", "solid"]


def test_the_same_moment_is_the_same_figure():
    moment = Moment(race(), "lstm", 2400, 0)
    assert home.lanes(moment) == home.lanes(moment)
