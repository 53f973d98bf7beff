"""The gates page's sentences: value, cause, contrast, and the numbers behind them."""

import math
from dataclasses import replace

import pytest

from rnnviz.analysis.gates import hand, layer, parting
from rnnviz.config import CellConfig, InputConfig
from rnnviz.verdicts import digits, exponent
from rnnviz.verdicts import gates as words

ADDING = InputConfig(kind="adding", length=30, seed=7)


def of(kind, **fields):
    config = CellConfig(cell=kind, inputs=2, hidden=8, **fields)
    shown, ways = layer(config, ADDING)
    return words.verdict(shown, ways, parting(config, ADDING) if kind == "gru" else None)


def test_a_units_score_stands_beside_what_guessing_scores():
    shown, ways = hand(5.0, -5.0, 10.0, seed=7)
    said = words.verdict(shown, ways)
    left, flood = digits(shown.first_left), digits(shown.unmarked)
    assert said.text == (
        f"Score {digits(shown.score)} on 1,000 sequences (answering 1: 1/6, knowing one number: 1/12). "
        f"Reach beyond all 100 steps: {left} of the first number is left, {flood} of the level is unmarked."
    )
    assert said.numbers["score"] == shown.score
    assert said.numbers["reach"] == math.inf
    assert said.numbers["last_state"] == pytest.approx(math.tanh(shown.level[-1]))


def test_an_lstms_two_ways_are_told_apart():
    said = of("lstm", forget_bias=1.0)
    assert (
        f"Reach {said.numbers['reach']:.0f} steps: forget gates keep {digits(said.numbers['kept'])} a step" in said.text
    )
    assert f"leaves {exponent(said.numbers['direct_log10'])}" in said.text
    assert f"the whole derivative {exponent(said.numbers['whole_log10'])}: the rest travels" in said.text
    assert "nothing travels elsewhere" in of("lstm", forget_bias=1.0, gain=0.0).text


def test_a_grus_two_readings_stand_beside_each_other():
    said = of("gru", reset="before")
    assert f"keep 1 − z = {digits(said.numbers['kept'])}" in said.text
    assert f"end {digits(100 * said.numbers['apart'])} % away" in said.text
    assert said.numbers["diagonal"] < 1e-15


def test_one_step_is_not_several():
    shown, ways = layer(CellConfig(cell="lstm", inputs=2, hidden=8), ADDING)
    assert words.verdict(shown, replace(ways, reach=1)).text.startswith("Reach 1 step:")


def test_half_lives_by_formula_and_as_measured():
    _, ways = hand(5.0, -5.0, 10.0)
    assert words.half_lives(ways, 5.0).startswith("σ(5) = 0.993 a step: ln ½ / ln σ(5) = 103 steps.")
    assert "loses half of it in 103 steps" in words.half_lives(ways, None)
    grows = words.half_lives(replace(ways, whole=-ways.whole), None)
    assert "grows over the sequence: it has no half-life" in grows


def test_why_no_conversion_exists():
    result = parting(CellConfig(cell="gru", inputs=2, hidden=8, reset="before"), ADDING)
    said = words.parting(result)
    assert f"end {digits(100 * float(result.apart[-1]))} % apart" in said
    assert "only if U_n is diagonal" in said


def test_there_are_equations_for_all_that_is_shown():
    assert set(words.EQUATIONS) == {"unit", "lstm", "before", "after"}
    assert r"U_n (r_t \odot h_{t-1})" in words.EQUATIONS["before"]
    assert r"r_t \odot (U_n h_{t-1} + c_n)" in words.EQUATIONS["after"]
