"""Checks of arguments: each refusal has the name, what it got and what it takes."""

import math

import numpy as np
import pytest
import torch

from rnnviz import arguments


@pytest.mark.parametrize("value", [3, 3.0, np.int64(3), np.array(3), torch.tensor(3)])
def test_a_whole_number_comes_back_as_an_int(value):
    result = arguments.integer("hidden", value)
    assert (result, type(result)) == (3, int)


@pytest.mark.parametrize(
    "value",
    [
        0,
        -1,
        2.5,
        True,
        "3",
        None,
        math.nan,
        math.inf,
        1j,
        [3],
        torch.tensor(1.5),
        torch.tensor([1, 2]),
        np.array([1, 2]),
    ],
    ids=repr,
)
def test_what_is_not_a_whole_number_of_at_least_one_is_refused(value):
    with pytest.raises(ValueError, match=r"hidden is .*: it takes a whole number of at least 1") as caught:
        arguments.integer("hidden", value)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("value", [1, 8])
def test_a_range_of_whole_numbers_has_two_ends(value):
    assert arguments.integer("layer", 2, 2, 7) == 2
    assert arguments.integer("layer", 7, 2, 7) == 7
    with pytest.raises(ValueError, match=f"layer is {value}: it takes a whole number from 2 to 7"):
        arguments.integer("layer", value, 2, 7)


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.array(2.0), torch.tensor(2.0)], ids=repr)
def test_a_number_comes_back_as_a_float(value):
    result = arguments.number("gain", value)
    assert (result, type(result)) == (2.0, float)


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        "1",
        b"1",
        True,
        None,
        1j,
        [1.0],
        pytest.param(10**400, id="10**400"),
        np.array([1.0, 2.0]),
    ],
    ids=str,
)
def test_what_is_not_a_finite_number_is_refused(value):
    with pytest.raises(ValueError, match=r"gain is .*: it takes a finite number"):
        arguments.number("gain", value)


def test_a_bound_is_inside_with_low_and_outside_with_above():
    assert arguments.number("gain", 0, 0.0) == 0.0
    with pytest.raises(ValueError, match="gain is -1: it takes a finite number of at least 0"):
        arguments.number("gain", -1, 0.0)
    with pytest.raises(ValueError, match="clip is 0: it takes a finite number above 0"):
        arguments.number("clip", 0, above=0.0)


@pytest.mark.parametrize("value", ["GRU", "", None, 3, ["gru"]])
def test_an_unknown_name_is_refused_with_the_known_ones(value):
    with pytest.raises(ValueError, match=r"cell is .*: it takes one of 'rnn', 'gru'"):
        arguments.choice("cell", value, ("rnn", "gru"))
    assert arguments.choice("cell", "gru", ("rnn", "gru")) == "gru"


def test_a_message_stays_short():
    with pytest.raises(ValueError, match=r"^text is .{0,60}\.\.\.: ") as caught:
        arguments.integer("text", "x" * 10**6)
    assert len(str(caught.value)) < 150
