"""Numbers in words, and the sentences of the gradients and the learning page."""

import math

import numpy as np
import pytest

from rnnviz.results import Carried, Progress, Push, Transport
from rnnviz.ui.scenes import raised
from rnnviz.verdicts import adding_problem, digits, exponent, jacobians, power


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0"),
        (2.184, "2.18"),
        (0.0061, "0.0061"),
        (6700.4, "6,700"),
        (2.8e-5, "2.8·10⁻⁵"),
        (-0.5, "−0.5"),
        (1, "1"),
        (99999.9, "1·10⁵"),
        (38919.4, "38,900"),
        (0.00099999, "0.001"),
        (100, "100"),
        (123456.0, "1.23·10⁵"),
        (9.999e-4, "0.001"),
        (math.inf, "infinite"),
        (math.nan, "not known"),
        (-3.2e-7, "−3.2·10⁻⁷"),
    ],
)
def test_three_digits_as_people_write_them(value, said):
    assert digits(value) == said


@pytest.mark.parametrize(
    ("log10", "said"),
    [(-400.5, "3.16·10⁻⁴⁰¹"), (400, "1·10⁴⁰⁰"), (-math.inf, "exactly 0"), (0.5, "3.16"), (-1.0, "0.1")],
)
def test_a_number_beyond_floats_is_said_by_its_logarithm(log10, said):
    assert power(log10) == said


def test_an_exponent_has_one_decimal_and_is_raised_on_the_page():
    assert [exponent(v) for v in (-18.73, 17.6, 0.01, -math.inf)] == ["10^−18.7", "10^+17.6", "1", "exactly 0"]
    assert raised("by 10^−18.7, and <b>") == "by 10<sup>−18.7</sup>, and &lt;b&gt;"


def carried(total, split=True):
    total = np.asarray(total, dtype=float)
    transport = Transport(total[::-1], total[::-1] + 1, np.zeros(2), np.zeros(len(total), dtype=bool))
    return Carried(transport, total, total - 2 if split else None, np.full(len(total), 2.0) if split else None, 32)


def test_a_push_is_told_with_value_reach_and_cause():
    fall = -0.1 * np.arange(101)
    push = Push(10, 1e-6, np.exp(fall[:91]), fall[:91], fall[:91], fall[:91], None, np.zeros(91))
    said = jacobians.verdict(push, carried(fall))
    assert said.text.startswith("Push the state at step 10: 40 steps later 0.0183 of it is left. Reach 47 steps")
    assert said.numbers["left_of_push_40"] == pytest.approx(math.exp(-4))
    assert said.numbers["slopes_log10"] + said.numbers["weights_log10"] == pytest.approx(said.numbers["carried_log10"])
    assert "the bound allows" in jacobians.verdict(push, carried(fall, split=False)).text


def test_a_push_below_rounding_is_told_by_its_derivative_and_a_short_one_at_its_end():
    fall = -2.0 * np.arange(6)
    push = Push(0, 1e-6, np.full(6, 1e-12), fall, fall, fall, None, np.full(6, 1e-9))
    said = jacobians.verdict(push, carried(fall)).text
    assert "5 steps later 4.54·10⁻⁵ of it is left, by the derivative" in said


def lane(loss, reach, cell="gru"):
    steps = np.arange(0, 100, 10)
    return Progress(
        "GRU", cell, 20, steps, np.full(10, loss), steps, np.array([8.0, *[reach] * 9]), np.full((10, 3), 0.9)
    )


def test_a_flat_loss_over_a_growing_reach_is_something_being_learned():
    assert (
        "Reach 15 of 20, was 8 of 20: something is being learned"
        in adding_problem.verdict([lane(0.167, 15.0)], 50).text
    )
    assert "nothing is heard that was not before" in adding_problem.verdict([lane(0.167, 8.0)], 50).text
    learned = adding_problem.verdict([lane(0.01, math.inf)], 50)
    assert "reach beyond all 20 steps. The answer moves 0.9 for each unit" in learned.text
    assert learned.numbers["escape_gru"] == 20


def test_a_race_is_told_lane_by_lane_and_a_fault_before_everything():
    both = adding_problem.verdict([lane(0.167, 9.0), lane(0.1, 20.0, "rnn")], 50).text
    assert both.count("loss") == 2
    assert "Always answering 1 gives 0.167" in both
    assert adding_problem.verdict([], 0).text.endswith("its first point is on its way.")
    assert adding_problem.verdict([lane(1, 1)], 0, "step 3: it overflowed").text == "Stopped. Step 3: it overflowed."
