"""The unrolling page's sentences: true of the numbers they name, for every kind of word."""

import math

import numpy as np
import pytest

from rnnviz.results import BY_DIFFERENCE, Learned, Proof, Push, Reading, Spelled
from rnnviz.verdicts import unrolling


def a_reading(word, says=None, steps=300, loss=0.0004, floor=0.347):
    known = tuple(dict.fromkeys(word))
    says = word[1:] + word[0] if says is None else says
    answers = np.array([[0.7 if c == said else 0.3 / max(len(known) - 1, 1) for c in known] for said in says])
    states = np.vstack([np.zeros(2), [[t, 2 * t] for t in range(len(word))]])
    return Reading(word, known, steps, states, answers, loss, math.log(len(known)), floor, 36, 40)


def a_push(left):
    left = np.array(left)
    with np.errstate(divide="ignore"):
        log = np.log(left)
    return Push(1, 0.1, left, log, log, log, None, np.full(len(left), 1e-14))


PUSH = a_push([1.0, 0.5, 0.2, 0.05, 0.004])


def said(*reading, **options):
    return unrolling.verdict(a_reading(*reading, **options), PUSH).text


def test_two_equal_letters_with_two_answers_name_value_cause_and_contrast():
    verdict = unrolling.verdict(a_reading("HELLO"), PUSH)
    assert verdict.text == (
        "Steps 3 and 4 read the same L. Their states differ by 2.24, so the net says L, then O. "
        "Without memory the loss cannot go below 0.347; here 0.0004."
    )
    assert verdict.numbers["apart"] == pytest.approx(5**0.5)
    assert verdict.numbers["right"] == 4
    assert verdict.numbers["guess"] == pytest.approx(0.7)
    assert verdict.numbers["gone"] == 4
    assert unrolling.verdict(a_reading("HELLO"), a_push([1, 0.5])).numbers["gone"] == math.inf


def test_answers_that_are_wrong_are_not_praised():
    text = said("HELLO", "ELLLO", loss=0.36)
    assert "and the net says L both times where L, then O is right" in text
    assert "here 0.36." in text


def test_untrained_it_says_what_the_states_know_and_the_answers_do_not():
    text = said("HELLO", "OOOOO", steps=0, loss=1.494)
    assert "Untrained, their states are already 2.24 apart, and the net says O both times." in text
    assert "Loss 1.49; guessing evenly costs 1.39." in text


@pytest.mark.parametrize(
    ("word", "starts"),
    [
        ("CAT", "No letter is read twice, so this word needs no memory"),
        ("ABA", "No letter is read twice"),
        ("BANANA", "Each letter is always followed by the same one"),
        ("A", "One letter makes no pair: after A there is nothing to predict"),
        ("AAAA", "Only A ever comes"),
    ],
)
def test_words_that_need_no_memory_are_told_so(word, starts):
    assert said(word, floor=0.0).startswith(starts)
    untrained = said(word, floor=0.0, steps=0, loss=1.2)
    assert untrained.startswith(starts.split(",")[0])


def test_spaces_and_letters_from_right_to_left_keep_their_place():
    assert said("a bb c", " bbc a").startswith("Steps 3 and 4 read the same b")
    assert "the same space" in said("a b c")
    assert "the same \u2068ש\u2069" in said("ששל")
    assert [unrolling.named(c, "␣") for c in " \u0301<א"] == ["␣", "◌\u0301", "<", "\u2068א\u2069"]
    assert unrolling.named(" ") == "space"


def test_the_picture_in_words_names_each_answer_and_the_way_of_the_nudge():
    text = unrolling.described(a_reading("HELLO", "ELLLO"), PUSH)
    assert text.startswith("5 letters read by a trained network of 2 units")
    assert "Step 4 reads L and answers L with 70 percent, right is O." in text
    assert "Step 5 reads O and answers O with 70 percent." in text
    assert (
        "Nudge the state after step 1 by 0.1: after 4 steps 0.004 of it is left, where the derivative says 0.004; "
        "less than 1 % is left 4 steps later." in text
    )
    assert "still heard at the end" in unrolling.described(a_reading("HELLO"), a_push([1, 0.5, 0.9, 0.3, 0.02]))
    assert "no later state can see it" in unrolling.described(a_reading("A"), a_push([1.0]))


def test_losses_are_compared_with_the_floor():
    def of(losses, floor=0.347, word="HELLO"):
        return unrolling.loss(Learned(word, tuple("HELO"), np.array(losses), 1.386, floor, {}))

    assert "From training step 2 on the net is below that: it remembers. It ends at 0.0004." in of(
        [1.5, 0.4, 0.3, 0.0004]
    )
    assert of([1.5, 0.4]) == "From 1.5 to 0.4 in 1 step: it does not stay below 0.347, so nothing proves a memory."
    assert "the floor is 0" in of([1.5, 0.4], floor=0.0)
    assert "no loss" in of([math.nan])


def test_parameters_are_counted_for_any_number_of_steps():
    text = unrolling.parameters(a_reading("HELLO"))
    assert text.startswith(
        "36 parameters at T = 5 and at T = 500: 2×4 weights for the input, 2×2 for the last state and "
    )
    assert "and 2 biases, used again at each step. torch counts 40" in text


def spelled(texts, word, start=1):
    """A seed a text; how many letters of each are right is found letter by letter."""
    many = []
    for seed, text in enumerate(texts):
        right = 0
        while right < min(len(text) - 1, len(word) - start) and text[right + 1] == word[start + right]:
            right += 1
        many.append(Spelled(seed, text, np.ones(len(text) - 1), right, np.zeros(len(text) - 1, bool)))
    return unrolling.spelled(many, word, start)


def test_what_follows_a_letter_that_was_never_read_is_called_a_guess():
    guess = spelled(["HELLOEE", "HELLOEE", "HELLOHE"], "HELLO")
    assert guess.text == (
        "3 of 3 seeds spell the word to its end and go on in 2 different ways: "
        "O was never read in training, so what follows it is a guess."
    )
    assert guess.numbers == {"complete": 3, "ways": 2, "loops": 1, "right": 4}
    assert spelled(["OH", "OE"], "HELLO", 5).text.startswith(
        "From O the 2 seeds go on in 2 different ways: O was never"
    )
    assert spelled(["OE", "OE"], "HELLO", 5).text.startswith("From O the 2 seeds go on alike: O was never")
    assert spelled(["AAAA"], "A").text == "There is no other letter than A."


def test_what_follows_a_letter_that_was_read_was_taught_or_came_after_other_letters():
    loop = spelled(["HELLOHELLOH", "HELLOHELLOH"], "HELLOHELLO")
    assert "go on in 1 way, all the same: O was read in training, so what follows it was taught" in loop.text
    assert loop.numbers["loops"] == 2
    apart = spelled(["HELLOHELLOH", "HELLOHELLOE"], "HELLOHELLO")
    assert apart.text.endswith("in 2 different ways: O was read in training, but never after exactly these letters.")
    assert apart.numbers["loops"] == 1
    # from the second H on, it reads what it read from the first on
    again = spelled(["HELLOH", "HELLOE"], "HELLOHELLO", 6)
    assert again.text.endswith("O was read in training, so what follows it was taught.")


def test_ways_are_those_of_the_seeds_that_came_to_the_end():
    some = spelled(["HELLOEE", "HELOEEE", "HELLOHE"], "HELLO")
    assert some.text.startswith("2 of 3 seeds spell the word to its end and go on in 2 different ways")
    assert some.numbers == {"complete": 2, "ways": 2, "loops": 1, "right": 4}
    one = spelled(["HELLOEE", "HELOEEE", "HEEEEEE"], "HELLO")
    assert one.text.startswith("Only 1 of 3 seeds spells the word to its end and goes on: O was never read")
    assert one.numbers["ways"] == 1


MAGIC = "abracadabra alakazam hocus pocus simsala"


def test_where_no_seed_comes_to_the_end_the_letters_before_the_first_mistake_are_counted():
    said = spelled(["abra" + 40 * "k", "ab" + 42 * "a", MAGIC[:12] + 32 * "c"], MAGIC)
    assert said.text == (
        "No seed spells the word to its end: of 39 letters these are right before the first mistake: "
        "3 at seed 0, 1 at seed 1 and 11 at seed 2. "
        "Until then a seed reads the very text, so training left that mistake; from then on it reads its own letters."
    )
    assert said.numbers == {"complete": 0, "ways": 0, "loops": 0, "right": 3}
    later = spelled(["HO" + 8 * "E", "H" + 9 * "O"], "HELLOHELLO", 6)
    assert "none at seed 0 and none at seed 1. They begin at H with an empty state" in later.text


def test_of_a_text_that_is_longer_than_what_is_spelled_nothing_is_said_of_its_end():
    text = ("the quick brown fox jumps over the lazy dog, " * 45)[:2000]
    said = spelled([text[:4] + 25 * "x", "t" + 28 * "q"], text)
    assert said.text.startswith(
        "Of the first 28 of 1,999 letters these are right before the first mistake: 3 at seed 0 and none at seed "
        "1. Until"
    )
    assert said.numbers == {"complete": 0, "ways": 0, "loops": 0, "right": 3}
    both = spelled([text[:29], text[:29]], text)
    assert both.text == (
        "Each of 2 seeds spells all of the first 28 of 1,999 letters: training left no mistake there; guessing evenly, "
        "1 letter in 28 would be right."
    )
    assert both.numbers == {"complete": 0, "ways": 0, "loops": 0, "right": 28}
    # magic: one of three is right as far as is seen
    most = spelled([MAGIC[:29], "abr" + 26 * "a", "ab" + 27 * "a"], MAGIC)
    assert (
        "Of the first 28 of 39 letters these are right before the first mistake: all at seed 0, 3 at seed 1"
        in most.text
    )


def test_a_word_that_ends_where_the_spelling_ends_is_complete_and_nothing_follows():
    whole = spelled([MAGIC[:29], "a" + 28 * "m"], MAGIC[:29])
    assert whole.text.startswith(
        "Of 28 letters these are right before the first mistake: all at seed 0 and none at seed 1."
    )
    assert whole.numbers == {"complete": 1, "ways": 0, "loops": 0, "right": 28}


def test_a_nudge_that_grows_or_that_nothing_sees_is_said():
    grown = unrolling.nudge(a_push([1.0, 2.5, 0.5]))
    assert grown.endswith("it is still heard at the end. At most 2.5 of it is there, 1 later.")
    assert "after 1 step 0.5 of it is left" in unrolling.nudge(a_push([1.0, 0.5]))
    assert unrolling.nudge(a_push([1.0])) == "The nudge is after the last step: no later state can see it."


def test_of_a_long_text_the_first_letters_are_described():
    text = "ABAC" * 20
    said = unrolling.described(a_reading(text), a_push([1.0, 0.5]))
    assert said.count("Step ") == unrolling.SPOKEN
    assert "80 letters read" in said


def test_proofs_are_as_far_apart_as_said():
    proofs = [Proof("a", "a = b", 2.0, {"one": 2.0, "two": 2.0002}), Proof("c", "c", 1.0, {BY_DIFFERENCE: 1.01})]
    said = unrolling.proved(proofs)
    assert said.startswith("2 numbers of this view, found again by 3 routes")
    assert "at most 1·10⁻⁴ of a number apart, and 0.01 where one is a difference" in said
    assert Proof("zero", "0", 0.0, {"one": 1e-9}).apart == 1e-9


def test_the_challenge_scores_units_once_all_answers_are_right():
    assert "Yours: 2 units, all 4 answers right. Can it be done with fewer?" in unrolling.challenge(a_reading("HELLO"))
    assert "Not yet: with 2 units 3 of 4 answers are right." in unrolling.challenge(a_reading("HELLO", "ELLLO"))
