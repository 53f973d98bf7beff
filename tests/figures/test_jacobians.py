"""The gradients page's figures: what is drawn is what was computed, and nothing is lost."""

import math

import numpy as np
import pytest

from rnnviz.figures import jacobians
from rnnviz.results import Carried, Push, Transport


def a_push(log_norm, left=None, floor=0.0, simple=None):
    log_norm = np.asarray(log_norm, dtype=float)
    left = np.exp(np.clip(log_norm, -700, 700)) if left is None else np.asarray(left, dtype=float)
    return Push(10, 1e-6, left, log_norm - 0.5, log_norm, log_norm + 1, simple, np.full(len(left), floor))


def a_carried(log_norm, split=True):
    back = np.asarray(log_norm, dtype=float)[::-1]
    transport = Transport(back, back + 1, np.zeros(2), np.zeros(len(back), dtype=bool))
    lag = np.asarray(log_norm, dtype=float)
    return Carried(transport, lag, lag - 2 if split else None, np.full(len(lag), 2.0) if split else None, 32)


def trace(figure, name):
    (found,) = [t for t in figure.data if name in t.name]
    return np.asarray(found.y, dtype=float)


def notes(figure):
    return figure.layout.xaxis.title.text.split("<br>")[1:]


def test_values_of_ten_to_the_plus_and_minus_400_stand_at_their_exponents():
    for exponent in (-400, 400):
        figure = jacobians.push(a_push(np.linspace(0, exponent * math.log(10), 11)))
        assert trace(figure, "the most any push keeps")[-1] == pytest.approx(exponent)
        low, high = figure.layout.yaxis.range
        assert low < exponent < high


def test_an_exact_zero_stays_minus_infinity_which_the_chart_marks():
    figure = jacobians.push(a_push([0, -1, -np.inf, -np.inf], left=[1, 0.3, 0.1, 0.1]))
    np.testing.assert_allclose(trace(figure, "the most any push keeps")[:2], [0, -1 / math.log(10)])
    assert np.isneginf(trace(figure, "the most any push keeps")[2:]).all()
    assert np.isneginf(trace(figure, "the derivative of this push")[2:]).all()
    assert np.isfinite(figure.layout.yaxis.range).all()
    assert figure.layout.meta["decades"] == ["y"]
    assert notes(figure) == []
    ended = a_carried([0, -1, -np.inf])
    for each in (jacobians.back(ended), jacobians.tug(ended)):
        assert any(np.isneginf(t.y[2]) for t in each.data)
        assert np.isfinite(each.layout.yaxis.range).all()
        assert each.layout.meta["decades"] == ["y"]


def test_a_share_is_said_to_be_heard_and_a_factor_is_not():
    carried = a_carried(-0.5 * np.arange(30))
    drawn = {jacobians.push: a_push([0, -1]), jacobians.back: carried, jacobians.tug: carried}
    for draw, heard in zip(drawn, (True, True, False), strict=True):
        meta = draw(drawn[draw]).layout.meta
        assert (meta["heard"], meta["cursor"]) == (heard, {"x": "lag"})
    assert jacobians.tug(a_carried([0, -1], split=False)).layout.meta is None  # nothing there to point at


def test_a_difference_below_rounding_is_counted_and_not_drawn():
    figure = jacobians.push(a_push([0, -1, -2, -3], left=[1, 0.3, 1e-9, 2e-9], floor=1e-8))
    assert np.isfinite(trace(figure, "this push, truly")).tolist() == [True, True, False, False]
    assert any("2 of 4 differences are rounding (below 10⁻⁸)" in note for note in notes(figure))


def test_the_reach_is_marked_where_it_is():
    figure = jacobians.back(a_carried(-0.5 * np.arange(30)))
    assert any("reach 10" in (a.text or "") for a in figure.layout.annotations)
    beyond = jacobians.back(a_carried(-0.01 * np.arange(30)))
    assert not any("reach" in (a.text or "") for a in beyond.layout.annotations)


def test_slopes_and_weights_add_up_and_gated_cells_say_that_they_have_none():
    figure = jacobians.tug(a_carried(-0.5 * np.arange(30)))
    np.testing.assert_allclose(
        trace(figure, "slopes") + trace(figure, "weights"), trace(figure, "together"), atol=1e-12
    )
    (said,) = jacobians.tug(a_carried([0, -1], split=False)).layout.annotations
    assert "no such split" in said.text


def test_a_bound_far_above_leaves_the_picture_and_keeps_its_exponent():
    result = a_push(-0.1 * np.arange(20))
    far = Push(10, 1e-6, result.left, result.predicted, result.log_norm, 40.0 * np.arange(20), None, np.zeros(20))
    figure = jacobians.push(far)
    assert trace(figure, "bound").max() == pytest.approx(760 / math.log(10))  # 10^330, marked at the edge
    assert figure.layout.yaxis.range[1] < 10
    assert "y" in figure.layout.meta["decades"]
    near = Push(10, 1e-6, result.left, result.predicted, result.log_norm, 0.1 * np.arange(20), None, np.zeros(20))
    assert trace(jacobians.push(near), "bound").max() < jacobians.push(near).layout.yaxis.range[1]


def test_the_same_result_is_the_same_figure_and_stays_untouched():
    result, carried = a_push([0, -1, -2]), a_carried([0, -1, -2])
    before = result.log_norm.copy()
    assert jacobians.push(result) == jacobians.push(result)
    assert jacobians.back(carried) == jacobians.back(carried)
    assert (result.log_norm == before).all()


def test_one_point_is_a_figure():
    assert len(jacobians.push(a_push([0.0])).data) == 4
