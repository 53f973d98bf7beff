"""The unrolled word and what lies behind it: what is drawn is what was computed, for any word."""

import math

import numpy as np
import pytest

from rnnviz.figures import letters, unrolling
from rnnviz.results import Learned, Push, Reading, Spelled, States
from rnnviz.ui.components.payload import pack


def a_reading(word="HELLO", hidden=3, says=None):
    rng = np.random.default_rng(0)
    known = tuple(dict.fromkeys(word))
    says = word[1:] + word[-1] if says is None else says
    answers = np.full((len(word), len(known)), 0.4 / max(len(known) - 1, 1))
    for t, c in enumerate(says):
        answers[t, known.index(c)] = 0.6
    states = np.vstack([np.zeros(hidden), rng.uniform(-1, 1, (len(word), hidden))])
    sizes = {"W_x": (hidden, len(known)), "W_h": (hidden, hidden), "b": (hidden,)}
    weights = {name: rng.normal(size=size) for name, size in sizes.items()}
    before = rng.dirichlet(np.ones(len(known)), len(word))
    return Reading(word, known, 300, states, answers, 0.01, math.log(len(known)), 0.3, 24, 27, weights, before)


def a_push(left, step=1, floor=0.0):
    left = np.asarray(left, dtype=float)
    with np.errstate(divide="ignore"):
        log = np.log(left)
    return Push(step, 0.1, left, log - 0.1, log, log, None, np.full(len(left), floor))


PUSH = a_push([1, 0.5, 0.2, 0.005, 0.001])


def words(figure):
    """Every text that stands in a chart."""
    texts = [text for t in figure.data if t.type == "scatter" and t.mode == "text" for text in t.text]
    return [a.text for a in figure.layout.annotations] + texts


def test_a_column_has_its_softmax_in_the_order_first_seen():
    reading = a_reading(says="ELLEO")
    softmax = unrolling.read(reading, PUSH).tree()["softmax"]
    assert softmax["letters"] == [f"{c}" for c in "HELO"]
    assert softmax["which"].tolist() == [[0, 1, 2, 3]] * 5
    assert softmax["share"].tolist() == reading.answers.tolist()
    assert softmax["before"].tolist() == reading.before.tolist()
    assert softmax["target"].tolist() == [1, 2, 2, 3, -1]  # nothing follows the last letter
    assert softmax["says"].tolist() == [1, 2, 2, 1, 3]


def test_of_many_letters_a_column_has_the_likeliest_first():
    reading = a_reading("QUICKZEBRAS")
    softmax = unrolling.read(reading, a_push([1, 0.5])).tree()["softmax"]
    assert softmax["which"].shape == softmax["share"].shape == softmax["before"].shape == (11, unrolling.BARS)
    assert (np.diff(softmax["share"]) <= 0).all()
    assert softmax["which"][:, 0].tolist() == softmax["says"].tolist() == reading.answers.argmax(1).tolist()
    rows = np.arange(11)[:, None]
    assert (softmax["before"] == reading.before[rows, softmax["which"]]).all()


def test_the_twins_the_nudge_and_the_telling_step_are_the_readings():
    plain = unrolling.read(a_reading(), PUSH).tree()
    assert "nudge" not in plain
    assert plain["key"].endswith("a line is the share before training.")
    tree = unrolling.read(a_reading(), PUSH, nudge=True).tree()
    assert tree["twins"] == [3, 4]
    assert unrolling.telling(a_reading()) == {"step": 4}
    assert unrolling.telling(a_reading("CAT")) == {"step": 1}
    assert unrolling.read(a_reading("CAT"), PUSH).tree()["twins"] == []
    nudge = tree["nudge"]
    assert (nudge["step"], nudge["gone"], nudge["left"].tolist()) == (1, 3, PUSH.left.tolist())
    assert nudge["predicted"] == pytest.approx(np.exp(PUSH.predicted))
    assert tree["key"].endswith("□ by the derivative; reach 3.")
    assert unrolling.read(a_reading(), a_push([1, 0.5]), nudge=True).tree()["key"].endswith("heard to the end.")


def test_the_equations_numbers_are_the_weights_and_add_up():
    reading = a_reading("NOON", hidden=2)
    diagram = unrolling.cell(reading)
    equation = diagram.tree()["equation"]
    assert (diagram.kind, equation["x"].tolist()) == ("folded", [0, 1, 1, 0])
    for name in ("W_x", "W_h", "b"):
        assert equation[name] is reading.weights[name]
    for t in range(4):
        column = reading.weights["W_x"][:, "NO".index("NOON"[t])]
        a = column + reading.weights["W_h"] @ reading.states[t] + reading.weights["b"]
        assert equation["a"][t] == pytest.approx(a, abs=1e-15)


@pytest.mark.parametrize("word", ["A", "THE QUICK BROWN FOX " * 100, "שלום 😀", "<b>&x y\u0301"])
def test_any_text_is_packed_small_and_its_letters_are_no_markup(word):
    reading = a_reading(word)
    time = len(word)
    diagram = unrolling.read(reading, a_push(np.ones(max(time - 1, 1)), step=min(1, time - 1)), nudge=True)
    assert len(pack(diagram.tree())) < 350_000
    assert len(diagram.labels) == time
    assert not any("&lt;" in label or "&amp;" in label for label in diagram.labels)
    assert len(diagram.alt) < 3000


def test_another_networks_layer_is_a_chain_with_what_it_reads():
    h = np.zeros((4, 2))
    stack = States("rnn", ("layer 1",), {"layer 1": {"h": h}}, np.array([[0.5, 1], [-1, 0], [0, 0]]), 1, 1)
    diagram = unrolling.layer(stack, "layer 1", "")
    assert (diagram.kind, diagram.labels) == ("unrolled", ("0.5 …", "−1 …", "0 …"))
    assert diagram.values["h"] is h
    assert unrolling.layer(stack, "layer 1", "ABA").labels == ("A", "B", "A")


@pytest.mark.parametrize(("cell", "gates"), [("lstm", "figo"), ("gru", "zrn")])
def test_another_gated_networks_layer_is_its_cell_with_all_gates(cell, gates):
    values = {"h": np.zeros((4, 2)), **{gate: np.full((3, 2), 0.5) for gate in gates}}
    values |= {"c": np.zeros((4, 2))} if cell == "lstm" else {}
    stack = States(cell, ("layer 1",), {"layer 1": values}, np.zeros((3, 1)), 1, 1)
    diagram = unrolling.layer(stack, "layer 1", "")
    assert (diagram.kind, diagram.reset) == (cell, "after" if cell == "gru" else None)
    assert set(diagram.tree()["values"]) == set(values)


def test_what_is_left_of_a_nudge_is_drawn_where_it_is_no_rounding():
    figure = letters.nudge(a_push([1, 0.5, 1e-9], floor=1e-8))
    derivative, truly = figure.data
    assert list(truly.x) == [1, 2, 3]
    assert np.asarray(truly.y)[:2] == pytest.approx([0, np.log10(0.5)])
    assert np.isnan(truly.y[2])
    assert np.asarray(derivative.y) == pytest.approx(np.log10([1, 0.5, 1e-9]) - 0.1 / np.log(10))
    assert " reach 2" in words(figure)
    assert " reach 2" not in words(letters.nudge(a_push([1, 0.5, 0.2])))


def a_learned(losses, floor=0.347, uniform=1.386):
    return Learned("HELLO", tuple("HELO"), np.asarray(losses, dtype=float), uniform, floor, {})


def test_the_loss_stands_beside_what_guessing_and_no_memory_cost():
    figure = letters.loss(a_learned([1.5, 0.5, 0.1, 0.01]), 3)
    (line,) = [t for t in figure.data if t.name == "loss"]
    assert 10 ** np.asarray(line.y) == pytest.approx([1.5, 0.5, 0.1, 0.01])
    notes = " ".join(words(figure))
    assert "guessing evenly, ln V: 1.39" in notes
    assert "no memory can do better: 0.347" in notes
    assert "remembers from step 2 on" in notes
    (here,) = [t for t in figure.data if t.mode == "markers"]
    assert list(here.x) == [3]
    assert list(letters.loss(a_learned([1.5, 0.5, 0.1, 0.01]), 0).data[1].x) == [0]


def test_a_floor_of_zero_and_a_loss_of_zero_are_said():
    assert "no memory can do better: 0, below the picture" in words(letters.loss(a_learned([1.5, 0.1], floor=0.0), 1))
    for losses in ([math.nan], [0.0, 0.0]):
        assert words(letters.loss(a_learned(losses, 0.0, 0.0), 0)) == ["Nothing to draw: there is nothing to learn."]


def test_parameters_are_flat_against_steps():
    figure = letters.parameters(a_reading())
    assert [list(t.text) for t in figure.data] == [["120", "1,200", "12,000"], ["27"] * 3, ["24"] * 3]
    assert figure == letters.parameters(a_reading())


def test_a_row_a_seed_with_guesses_marked():
    several = [Spelled(seed, "HELLOE", np.linspace(1, 0.5, 5), 4, np.array([False] * 4 + [True])) for seed in (3, 4)]
    figure = letters.generate(several)
    (map_,) = figure.data
    assert [list(row) for row in map_.text] == [["E", "L", "L", "O", "E?"]] * 2
    assert np.asarray(map_.z) == pytest.approx(np.array([np.linspace(1, 0.5, 5)] * 2))
    assert list(figure.layout.yaxis.ticktext) == ["seed 3: H →", "seed 4: H →"]
    assert letters.generate([Spelled(0, "<<", np.ones(1), 0, np.array([False]))]).data[0].text[0][0] == "&lt;"
