"""The sentences of stacked states, of a state carried over, of costs: true of the numbers that they name."""

import math

import numpy as np
import pytest

from rnnviz.analysis.cost import counted
from rnnviz.analysis.states import states as stack
from rnnviz.config import CellConfig, InputConfig
from rnnviz.results import Leaked
from rnnviz.verdicts import states


def a_leak(apart, cell="rnn", h=None):
    return Leaked(cell, np.array(apart, dtype=float), np.array(apart if h is None else h, dtype=float), 1e-15)


def test_a_leak_that_fades_says_how_fast_and_how_few_answers_it_is_in():
    verdict = states.leak(a_leak([2.0, 0.4, 0.08, 0.016, 0.003]))
    assert verdict.text == (
        "The state carried over is 2 away from a reset one; less than 1 % of that is left after 3 steps. "
        "On average a step keeps 20 % of a difference, so a forgotten reset touches 3 of 4 answers."
    )
    assert verdict.numbers == pytest.approx(
        {"start": 2, "left": 0.003, "left_share": 0.0015, "gone": 3, "rate": 0.2, "h_start": 2, "h_left": 0.003}
    )


def test_a_leak_that_stays_names_what_is_there_in_the_state_and_in_the_answers():
    verdict = states.leak(a_leak([36.0, 37.0, 36.0], "lstm", [3.5, 2.8, 2.1]))
    assert "after 2 steps 36 is there, in h 2.1 of 3.5." in verdict.text
    assert verdict.text.endswith("keeps 100 % of a difference, so a forgotten reset is in all 2 answers.")
    assert verdict.numbers["gone"] == math.inf
    assert "in h" not in states.leak(a_leak([1.0, 0.5])).text


def test_a_leak_that_grows_is_said_to_grow_and_one_that_hardly_fades_to_fade():
    verdict = states.leak(a_leak([36.6, 37.0, 38.5], "lstm", [3.5, 2.8, 2.1]))
    assert verdict.text == (
        "The state carried over is 36.6 away from a reset one, and in 2 steps it grows to 38.5, 1.05 times that, in h "
        "2.1 of 3.5. On average a step adds 2.56 % to a difference, so a forgotten reset is in all 2 answers."
    )
    assert verdict.numbers["rate"] == pytest.approx(math.sqrt(38.5 / 36.6))
    assert verdict.numbers["left_share"] == pytest.approx(38.5 / 36.6)
    assert "a step loses 0.01 % of a difference" in states.leak(a_leak([1.0, 0.9999])).text
    assert "a step keeps 100 % of a difference" in states.leak(a_leak([1.0, 1.0 + 1e-15])).text


@pytest.mark.parametrize(
    ("apart", "says"),
    [
        ([0.0, 0.0], "exactly 0: carried over or reset, nothing changes"),
        ([1.0, 0.0], "less than 1 % of that is left after 1 step. On average a step keeps 0 %"),
        ([1.0, math.inf], "in 1 step it grows beyond the range of floats. On average a step adds more than can"),
    ],
)
def test_leaks_at_the_edge(apart, says):
    assert says in states.leak(a_leak(apart)).text


def test_a_cost_is_counted_compared_and_contrasted():
    several = [counted(CellConfig(cell="gru", inputs=4, hidden=3), InputConfig(length=T)) for T in (500, 5)]
    verdict = states.cost(several)
    assert verdict.text == (
        "Counted at T = 500: 31,500 multiply-adds, exactly 3T (n² + n d), and 2.14 times as many for the gradient. "
        "100 times the steps cost 100 times the work and 97.2 times the bytes, 84,024; the 75 parameters stay."
    )
    assert verdict.numbers["forward"] == verdict.numbers["formula"] == 31_500
    assert verdict.numbers["backward"] == several[0].backward
    assert verdict.numbers["forward_ratio"] == 100
    assert states.cost(several[:1]).text.endswith("The trace holds 84,024 bytes.")
    assert states.cost([]).text == "Nothing was counted."


def test_states_are_measured_and_say_what_a_layer_reads():
    inputs = InputConfig(length=9)
    one = stack(CellConfig(inputs=3, hidden=4), inputs)
    h = one.values["layer 1"]["h"][1:]  # after steps 1..9: the start is no state that it came to
    verdict = states.states(one)
    assert verdict.numbers["size"] == pytest.approx(math.sqrt((h**2).mean()))
    assert verdict.numbers["stuck"] == pytest.approx((np.abs(h) > 0.9).mean())
    assert "Over 9 steps a state of 4 units has the mean size" in verdict.text
    assert "where a tanh hardly answers" in verdict.text
    assert verdict.text.endswith("32 parameters, used again at each step, make them all.")
    two = states.states(stack(CellConfig(cell="gru", inputs=3, hidden=4), inputs, 2))
    assert "in layer 1 and" in two.text
    assert "tanh" not in two.text
    assert "Each layer after the first reads the states of the one below it" in two.text
    ways = stack(CellConfig(inputs=3, hidden=4), inputs, 2, True)
    both = states.states(ways)
    assert "in layer 2 → and" in both.text
    assert "At step 1 → has read 1 of 9 steps, ← all of them" in both.text
    last = ways.values["layer 2 ←"]["h"]
    assert not last[-1].any()
    assert both.numbers["size_last"] == pytest.approx(math.sqrt((last[:-1] ** 2).mean()))
    relu = stack(CellConfig(inputs=3, hidden=4, activation="relu", recurrent="identity", gain=2.0), inputs)
    assert "0.9" not in states.states(relu).text.replace("0.9 %", "")


def test_a_single_state_is_measured_without_its_start():
    one = stack(CellConfig(inputs=1, hidden=1, gain=1.0), InputConfig(length=1))
    h = one.values["layer 1"]["h"]
    for value, said in (
        (0.958, "the mean size 0.958 in layer 1; 100 % of all values lie beyond 0.9"),
        (0.5, "none of its values"),
    ):
        h[1] = value
        verdict = states.states(one)
        assert said in verdict.text
        assert verdict.numbers["size"] == value
    assert "none of its values lies beyond 0.9, where a tanh hardly answers." in verdict.text
