"""The cell's diagrams: every number on a line is the cell's own, or follows from the cell's equations exactly."""

import json
import struct
from dataclasses import replace

import numpy as np
import pytest

from rnnviz.analysis.gates import hand, layer
from rnnviz.config import CellConfig, InputConfig
from rnnviz.figures import diagrams
from rnnviz.figures.gates import SHARES, WORDS
from rnnviz.results import Layer, Reading
from rnnviz.ui.components.payload import pack

FLOAT_MAX = np.finfo(float).max


def gated(cell: str, hidden: int = 5, length: int = 20, **fields) -> Layer:
    config = CellConfig(cell=cell, inputs=2, hidden=hidden, **fields)
    return layer(config, InputConfig(kind="adding", length=length, seed=7))[0]


def reading(word: str = "HELLO", hidden: int = 3) -> Reading:
    states = np.tanh(np.random.default_rng(0).normal(size=(len(word) + 1, hidden)))
    letters = tuple(dict.fromkeys(word))
    answers = np.full((len(word), len(letters)), 1 / len(letters))
    return Reading(word, letters, 0, states, answers, 1.0, 1.0, 0.5, 50, 55)


def test_an_lstm_starts_from_zeros_and_its_gates_give_its_states():
    shown = gated("lstm")
    v = diagrams.lstm(shown).values
    assert set(v) == set("figoch")
    for k in "figo":
        np.testing.assert_array_equal(v[k], shown.values[k])
    np.testing.assert_array_equal(v["c"][0], 0)
    np.testing.assert_array_equal(v["h"][0], 0)
    np.testing.assert_array_equal(v["c"][1:], shown.values["c"])
    np.testing.assert_allclose(v["f"] * v["c"][:-1] + v["i"] * v["g"], v["c"][1:], rtol=1e-13, atol=1e-15)
    np.testing.assert_array_equal(v["h"][1:], v["o"] * np.tanh(v["c"][1:]))


def test_a_unit_set_by_hand_shows_all_it_has():
    shown, _ = hand(5.0, -5.0, 10.0, length=30, seed=7)
    diagram = diagrams.lstm(shown)
    v = diagram.values
    assert {k: values.shape for k, values in v.items()} == {k: (30 + (k in "ch"), 1) for k in "figoch"}
    np.testing.assert_array_equal(v["o"], 1)
    np.testing.assert_array_equal(v["c"][:, 0], shown.level)
    np.testing.assert_array_equal(v["h"][1:, 0], np.tanh(shown.level[1:]))
    # what reads the answer from h is the unit's own fit
    np.testing.assert_allclose(shown.weight * v["h"][:, 0] + shown.bias, shown.answer, rtol=1e-13)
    assert [k for k, label in enumerate(diagram.labels, 1) if label.endswith("marked")] == list(shown.marks)
    assert diagram.scale == diagrams.HAND_LEAST


@pytest.mark.parametrize("reset", ["before", "after"])
def test_a_gru_keeps_by_one_minus_z(reset):
    shown = gated("gru", reset=reset)
    diagram = diagrams.gru(shown, reset)
    v = diagram.values
    assert (set(v), diagram.reset) == (set("zrnh"), reset)
    np.testing.assert_array_equal(v["h"][0], 0)
    np.testing.assert_allclose((1 - v["z"]) * v["h"][:-1] + v["z"] * v["n"], v["h"][1:], rtol=1e-13, atol=1e-15)
    assert f"resets h {reset} U_n" in diagram.alt


def test_a_diagram_refuses_another_cell_with_its_remedy():
    with pytest.raises(ValueError, match="cell='gru': it takes a layer of cell='lstm'"):
        diagrams.lstm(gated("gru"))
    with pytest.raises(ValueError, match="cell='lstm': it takes a layer of cell='gru'"):
        diagrams.gru(gated("lstm"), "before")
    with pytest.raises(ValueError, match="reset is 'never': it takes 'before' or 'after'"):
        diagrams.gru(gated("gru"), "never")


@pytest.mark.parametrize("draw", [diagrams.folded, diagrams.unrolled])
def test_a_word_is_read_letter_by_letter(draw):
    shown = reading("A <&\u0301")
    diagram = draw(shown)
    assert diagram.labels == ("A", "␣", "<", "&", "◌\u0301")  # text as it is: nobody parses it
    assert diagram.values["h"] is shown.states
    assert (diagram.kind, diagram.hidden) == (draw.__name__, 3)


def test_the_alternative_says_size_extremes_and_end():
    shown = reading()
    shown.states[:] = 0.25
    shown.states[2, 1], shown.states[4, 2], shown.states[5, 0] = -0.5, 0.875, 0.125
    says = diagrams.unrolled(shown).alt
    assert says.startswith("The cell that reads 'HELLO', the same weights at every step, unrolled into a chain.")
    assert says.endswith("5 steps, 3 units; h goes from −0.5 to 0.875; unit 1 ends at 0.125.")
    one = Reading("H", ("H",), 0, np.zeros((2, 1)), np.ones((1, 1)), 0.0, 0.0, 0.0, 3, 4)
    assert "1 step, 1 unit; h goes from 0 to 0" in diagrams.folded(one).alt


def test_what_is_not_finite_is_said_and_scales_nothing():
    shown = gated("lstm")
    c = shown.values["c"].copy()
    c[3:] = [np.inf, -np.inf, np.nan, 3.0, 4.0]
    broken = diagrams.lstm(replace(shown, values={**shown.values, "c": c}))
    assert broken.scale == 5.0
    assert "and not finite in places" in broken.alt
    lost = diagrams.lstm(replace(shown, values={k: v * np.nan for k, v in shown.values.items()}))
    assert lost.scale == 1.0
    assert diagrams.folded(replace(reading(), states=np.full((6, 2), np.nan))).alt.endswith("2 units; h is not finite.")


@pytest.mark.parametrize(
    ("largest", "scale"),
    [
        (0.0, 1.0),
        (0.3, 1.0),
        (1.0, 1.0),
        (1.01, 2.0),
        (17.0, 20.0),
        (20.1, 50.0),
        (999.0, 1000.0),
        (1.7e308, FLOAT_MAX),
    ],
)
def test_the_scale_is_one_or_the_next_round_number(largest, scale):
    diagram = diagrams.folded(replace(reading(), states=np.array([[0.0], [-largest]])))
    assert diagram.scale == pytest.approx(scale)


def test_gates_do_not_scale_the_rest():
    key = diagrams.lstm(gated("lstm")).key
    assert key == "Blue is above 0, orange and hatched below; full colour at ±1, of gates at 1."


@pytest.mark.parametrize(
    "diagram",
    [
        pytest.param(lambda: diagrams.folded(reading()), id="folded"),
        pytest.param(lambda: diagrams.unrolled(reading("H", 256)), id="unrolled"),
        pytest.param(lambda: diagrams.lstm(gated("lstm")), id="lstm"),
        pytest.param(lambda: diagrams.gru(gated("gru", reset="before"), "before"), id="gru"),
    ],
)
def test_the_tree_is_plain_and_its_colours_are_the_themes(diagram):
    made = diagram()
    tree = made.tree()
    assert (tree["steps"], tree["hidden"]) == (len(made.labels), made.hidden)
    assert tree["colors"] == diagrams.COLORS
    assert set(tree["colors"]) == {"signed", "ink", "paper", "gates", "right", "wrong", "grey", "reach", "twin"}
    assert (tree["words"], tree["shares"]) == (WORDS, SHARES)
    assert ("of gates" in tree["key"]) == (made.kind in ("lstm", "gru"))
    for k, values in tree["values"].items():
        assert values.shape == (tree["steps"] + (k in "ch"), tree["hidden"])
    message = pack(tree)
    (size,) = struct.unpack("<I", message[:4])
    head = json.loads(message[4 : 4 + size])
    assert all(set(value) == {"$array"} for value in head["values"].values())
    assert head["labels"] == list(made.labels)
