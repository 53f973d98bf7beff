"""The unrolled word and what lies behind it: what is drawn is what was computed, for any word."""

import math

import numpy as np
import pytest

from rnnviz.figures import letters, theme, unrolling
from rnnviz.results import Learned, Push, Reading, Spelled


def a_reading(word="HELLO", hidden=3, says=None):
    rng = np.random.default_rng(0)
    known = tuple(dict.fromkeys(word))
    says = word[1:] + word[-1] if says is None else says
    answers = np.full((len(word), len(known)), 0.4 / max(len(known) - 1, 1))
    for t, c in enumerate(says):
        answers[t, known.index(c)] = 0.6
    states = np.vstack([np.zeros(hidden), rng.uniform(-1, 1, (len(word), hidden))])
    return Reading(word, known, 300, states, answers, 0.01, math.log(len(known)), 0.3, 24, 27)


def a_push(left, step=1, floor=0.0):
    left = np.asarray(left, dtype=float)
    with np.errstate(divide="ignore"):
        log = np.log(left)
    return Push(step, 0.1, left, log - 0.1, log, log, None, np.full(len(left), floor))


PUSH = a_push([1, 0.5, 0.2, 0.005, 0.001])


def bars(figure, name):
    (found,) = [t for t in figure.data if t.type == "bar" and t.name == name]
    return found


def written(figure):
    return [t for t in figure.data if t.type == "scatter" and t.mode == "text"]


def words(figure):
    """Every text in the picture that is not in a bar."""
    return [a.text for a in figure.layout.annotations] + [text for t in written(figure) for text in t.text]


def column(figure, y):
    """The texts at a height, from left to right."""
    (found,) = [t for t in written(figure) if t.y[0] == y]
    return list(found.text)


def test_every_unit_is_a_square_with_its_number_and_sign():
    reading = a_reading(hidden=3)
    state = bars(unrolling.read(reading, PUSH), "state")
    values = reading.states[1:].ravel()
    assert np.asarray(state.customdata)[:, 2].tolist() == values.tolist()
    assert list(state.marker.color) == theme.signed(values)
    assert list(state.text) == [letters.signed(v, False) for v in reading.states[1:].ravel()]
    assert {text[0] for text in state.text} == {"+", "−"}
    # unit 1 on top, and no square on another
    assert state.base[0] > state.base[1] > state.base[2]
    assert np.allclose(np.diff(sorted(state.base[:3])), state.y[0] + 2)


def test_the_softmax_stands_in_its_slots_with_the_target_hollow():
    reading = a_reading(says="ELLEO")
    figure = unrolling.read(reading, PUSH)
    target = bars(figure, "target")
    assert len(target.x) == 4  # nothing follows the last letter
    assert set(target.y) == {unrolling.BAR_HEIGHT}
    assert target.marker.color == theme.CLEAR
    softmax = bars(figure, "softmax")
    assert np.asarray(softmax.y) == pytest.approx(reading.answers.ravel() * unrolling.BAR_HEIGHT)
    colors = np.asarray(softmax.marker.color).reshape(5, 4)
    known = reading.letters
    assert colors[0, known.index("E")] == theme.GREEN
    assert (colors[3, known.index("O")], colors[3, known.index("E")]) == (theme.GREEN, theme.RED)
    assert set(colors[4]) == {theme.GREY}
    assert [t for t in words(figure) if t.startswith("<b>") and " " in t] == [
        "<b>E</b> ✓", "<b>L</b> ✓", "<b>L</b> ✓", "<b>E</b> ✗", "<b>O</b> ?"
    ]  # fmt: skip


def test_the_letters_are_read_in_order_and_every_arrow_is_the_same_w():
    figure = unrolling.read(a_reading(), PUSH)
    assert column(figure, unrolling.LETTER) == [f"<b>{c}</b>" for c in "HELLO"]
    assert words(figure).count("<b>W</b>") == 4
    assert sum(a.arrowcolor == theme.BLUE for a in figure.layout.annotations) == 5


def test_the_two_equal_letters_are_framed_with_their_distance():
    reading = a_reading()
    figure = unrolling.read(reading, PUSH)
    frames = [s for s in figure.layout.shapes if s.type == "rect"]
    assert [(s.x0 + s.x1) / 2 for s in frames] == pytest.approx([3, 4])
    assert f"same letter L, states {reading.apart(3, 4):.2f} apart" in words(figure)
    assert not [s for s in unrolling.read(a_reading("CAT"), a_push([1, 0.5])).layout.shapes if s.type == "rect"]


def test_the_nudge_is_shown_twice_and_marked_where_one_percent_is_left():
    figure = unrolling.read(a_reading(), PUSH)
    truth, derivative = bars(figure, "truly left"), bars(figure, "derivative")
    assert list(truth.customdata) == PUSH.left.tolist()
    assert list(derivative.customdata) == np.exp(PUSH.predicted).tolist()
    assert truth.y[0] == unrolling.METER_HEIGHT
    assert truth.y[3] == truth.y[4] == 0
    assert column(figure, unrolling.TRUTH) == ["100 %", "50.0 %", "20.0 %", "0.500 %", "0.100 %"]
    assert any("after step 1:<br>&lt; 1 % in 3 steps" in text for text in words(figure))
    assert [s.x0 for s in figure.layout.shapes if s.line.color == theme.REACH] == [3.5]


@pytest.mark.parametrize(
    ("left", "says"), [([1, 0.5, 0.2, 0.1, 0.02], "heard to the end"), ([1, 0.001, 0, 0, 0], "&lt; 1 % in 1 step")]
)
def test_a_nudge_that_is_heard_to_the_end_or_gone_at_once(left, says):
    assert any(text.endswith(says) for text in words(unrolling.read(a_reading(), a_push(left))))


def test_what_is_rounding_is_not_called_a_number():
    figure = unrolling.read(a_reading(), a_push([1, 0.5, 1e-9, 1e-10, 1e-10], floor=1e-8))
    assert column(figure, unrolling.TRUTH)[2:] == ["▼"] * 3


@pytest.mark.parametrize("hidden", [1, 3, 8])
@pytest.mark.parametrize("word", ["A", "AB", "HELLO", "THE QUICK BROWN FOX JUMP", "aaaaaaaaaaaaaaaaaaaaaaaa"])
def test_any_word_and_size_stays_in_the_picture(word, hidden):
    reading, time = a_reading(word, hidden), len(word)
    push = a_push(np.geomspace(1, 1e-9, max(time - 1, 1)), step=min(1, time - 1))
    figure = unrolling.read(reading, push)
    assert figure.layout.height == theme.HEIGHT
    assert len(bars(figure, "state").x) == time * hidden
    low, high = figure.layout.yaxis.range
    for trace in figure.data:
        if trace.type == "bar" and len(trace.x):
            assert low <= np.min(trace.base)
            assert np.max(np.asarray(trace.base) + np.asarray(trace.y)) <= high
    assert min(bars(figure, "softmax").x) > figure.layout.xaxis.range[0]
    assert figure == unrolling.read(reading, push)
    # a phone scrolls what is wider than it is
    least = figure.layout.meta["least"]
    assert least <= 358 or time > 5
    left = figure.layout.margin.l + figure.layout.margin.r
    assert (least - left) / time >= 36  # pixels a column


def test_letters_are_never_markup():
    reading = a_reading("<b>&x y\u0301ש")
    texts = words(unrolling.read(reading, a_push([1, 0.5])))
    assert {"<b>&lt;</b>", "<b>&amp;</b>", "<b>␣</b>", "<b>◌\u0301</b>", "<b>\u2068ש\u2069</b>"} <= set(texts)
    assert not any("<b><" in text for text in texts)
    hover = bars(unrolling.read(reading, a_push([1, 0.5])), "softmax").customdata
    assert "<" not in {row[1] for row in hover}


def test_numbers_fit_their_squares():
    assert [letters.signed(v, False) for v in (0.987, -0.004, 1.0)] == ["+0.99", "−0.00", "+1.00"]
    assert [letters.signed(v, True) for v in (0.94, -0.66, 1.0, -0.01)] == ["+.9", "−.7", "+1", "0"]
    assert [letters.share(v, False) for v in (1.0, 0.0922, 0.00284, 2e-6, 2.34, 0.0)] == [
        "100 %", "9.22 %", "0.284 %", "10⁻⁶", "234 %", "0"
    ]  # fmt: skip
    assert [letters.share(v, True) for v in (0.52, 0.0922, 0.0004)] == ["52 %", "9 %", "0.04 %"]


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
