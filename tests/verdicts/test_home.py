"""The home page's sentences: value, cause and contrast at every stage of a training."""

import math
import re

import pytest

from rnnviz.recorded import race
from rnnviz.results import HALF_MSE, HEARD, Moment
from rnnviz.verdicts import home


@pytest.mark.parametrize("second", ["gru", "lstm"])
@pytest.mark.parametrize("step", range(0, 3201, 100))
def test_every_stage_says_both_answers_and_the_truth_in_two_lines(second, step):
    moment = Moment(race(), second, step, 16)
    said = home.verdict(moment)
    answer, answer_rnn = (f"{moment.answer(cell):.2f}".replace("-", "−") for cell in (second, "rnn"))
    assert said.text.startswith(f"{second.upper()} answers {answer}, RNN {answer_rnn}, truth 1.25")
    assert len(said.text) <= 180  # two lines of the first screen, three at 1024 pixels
    assert "nan" not in said.text
    assert "inf" not in said.text


def test_at_birth_neither_hears_the_mark():
    assert "the mark, 88 back, is not heard." in home.verdict(Moment(race(), "gru", 0, 16)).text
    assert "Yet" not in home.verdict(Moment(race(), "gru", 20, 16)).text  # the loss is still falling to 1/6


def test_under_a_flat_loss_the_reach_has_met_the_mark():
    said = home.verdict(Moment(race(), "gru", 900, 16))
    assert "always saying 1 costs 0.167" in said.text
    assert "it has met the mark, 88 back" in said.text
    assert "was 10, and the mark is 88 back" in home.verdict(Moment(race(), "gru", 500, 16)).text
    assert said.numbers["reach"] > 88
    assert said.numbers["escape_rnn"] == math.inf


def test_after_the_escape_one_answer_moves_and_the_other_does_not():
    said = home.verdict(Moment(race(), "gru", 3000, 16))
    assert said.numbers["moves"] == pytest.approx(1, abs=0.1)
    assert said.numbers["moves_rnn"] == pytest.approx(0, abs=0.02)
    assert said.numbers["reach"] == math.inf
    assert "it hears all 100 steps" in said.text
    assert said.text.endswith(f"the RNN's less than 10⁻⁶: it hears {said.numbers['reach_rnn']:.0f}.")


@pytest.mark.parametrize("second", ["gru", "lstm"])
def test_it_invites_to_drag_the_number_only_where_one_answer_follows(second):
    for step in range(0, 3201, 20):
        said = home.verdict(Moment(race(), second, step, 4))
        invited = "Drag the marked number: one answer follows." in said.text
        assert invited == (said.numbers["loss"] < HALF_MSE)
        assert not invited or (said.numbers["moves"] > 0.6 and abs(said.numbers["moves_rnn"]) < 1e-6)


@pytest.mark.parametrize("second", ["gru", "lstm"])
def test_what_is_said_while_it_plays_is_true_of_its_training_steps(second):
    recorded = race()
    lane, rnn = recorded.lanes[second], recorded.lanes["rnn"]
    (birth, born), (flat, lies), (met, meets) = home.stages(Moment(recorded, second, 900, 16))
    assert max(len(text) for text in (born, lies, meets)) <= 110  # read in two or three seconds
    assert (birth, len(recorded.values)) == (0, 21)
    assert f"hears {lane.reach[0]} steps back, the RNN {rnn.reach[0]}: neither hears step 12." in born
    assert max(lane.reach[0], rnn.reach[0]) <= 88

    during = (lane.steps >= flat) & (lane.steps < met)
    assert all(0.8 / 6 < loss < 1.25 / 6 for loss in lane.loss[during])
    reach = [int(n) for n in re.findall(r"\d+", lies.split("reach ")[1])]
    ends = (lane.at(flat), lane.at(met))
    assert (reach[0], reach[-1]) == tuple(lane.reach[k] for k in ends)
    assert all(n in lane.reach[ends[0] : ends[1] + 1] for n in reach)
    assert ("grows" in lies) == (reach == sorted(reach)) == (second == "gru")

    assert f"At training step {met:,} the light meets the mark" in meets
    shares = Moment(recorded, second, met, 16).left(second), Moment(recorded, second, met - 20, 16).left(second)
    assert shares[0][11] >= HEARD > shares[1][11]
    assert f"by step {lane.escape:,} it has halved" in meets
    assert met < lane.escape
    k = lane.at(lane.escape) + 1
    assert lane.loss[k] < lane.loss[lane.at(met)] / 2
    assert all(lane.loss[k:] < HALF_MSE)


def test_the_task_is_that_of_the_recorded_sequence():
    recorded = race()
    assert [k + 1 for k in range(100) if recorded.sequence[k, 1]] == [12, 71]
    said = home.task(Moment(recorded, "gru", 0, 16))
    assert said.startswith("100 numbers come in")
    assert "at steps 12 and 71. The answer, their sum, is due at step 100." in said


def test_the_answer_follows_the_number():
    low, high = (home.verdict(Moment(race(), "gru", 3000, value)).numbers for value in (0, 20))
    assert high["answer"] - low["answer"] == pytest.approx(low["moves"])
    assert high["truth"] - low["truth"] == pytest.approx(1)


@pytest.mark.parametrize("second", ["gru", "lstm"])
def test_a_template_is_the_verdict_of_its_snapshot_for_every_number(second):
    templates = home.along(Moment(race(), second, 900, 16))
    assert len(templates) == 161
    for k, template in enumerate(templates):
        for value in (0, 7, 20):
            moment = Moment(race(), second, 20 * k, value)
            parts = {"answer": moment.answer(second), "answer_rnn": moment.answer("rnn"), "truth": moment.truth}
            said = template
            for name, number in parts.items():
                assert said.count(f"{{{name}}}") == 1
                said = said.replace(f"{{{name}}}", home.two(number))
            assert said == home.verdict(moment).text
