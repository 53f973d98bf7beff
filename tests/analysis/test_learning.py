"""Smoothing, escape and thinning of curves."""

import numpy as np
import pytest

from rnnviz.analysis.learning import at, escape, smoothed, thinned
from rnnviz.results import BASELINE_MSE, Progress


def test_smoothing_is_the_exponential_average_and_passes_over_what_is_not_finite():
    assert smoothed(np.array([1.0, 0.0, np.nan, 0.0])).tolist() == pytest.approx([1.0, 0.95, 0.95, 0.9025])
    assert smoothed(np.array([])).size == 0


@pytest.mark.parametrize("cut", [0, 1, 2, 5, 40])
def test_an_average_in_two_pieces_is_the_same_to_the_bit(cut):
    loss = np.random.default_rng(0).random(40)
    loss[[0, 1, 7]] = np.nan, np.inf, -np.inf
    first = smoothed(loss[:cut])
    second = smoothed(loss[cut:], first[-1] if cut else np.nan)
    np.testing.assert_array_equal(np.concatenate([first, second]), smoothed(loss))


def test_an_escape_is_the_first_step_below_half_the_baseline_once_the_average_has_begun():
    step = np.arange(40)
    loss = np.full(40, BASELINE_MSE)
    assert escape(step, loss) is None
    loss[[3, 31]] = 0.01
    assert escape(step, loss) == 31


def test_thinning_keeps_the_ends():
    n = np.arange(5000)
    curve = Progress("RNN", "rnn", 10, n, n * 2.0, n[::20], n[::20] * 1.0, np.zeros((250, 3)))
    thin = thinned(curve, 100)
    assert (len(thin.step), thin.step[0], thin.step[-1]) == (100, 0, 4999)
    assert (thin.loss == 2 * thin.step).all()
    assert len(thin.reach) == 250
    assert thinned(curve, 5000) is curve


def test_a_value_at_a_step_is_the_last_one_known_there():
    steps, values = np.array([0, 20, 40]), np.array([1.0, 2.0, 3.0])
    assert [float(at(steps, values, s)) for s in (-5, 0, 19, 20, 99)] == [1, 1, 1, 2, 3]
