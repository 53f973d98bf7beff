"""The gradients page, run as a script."""

import re

import pytest

from rnnviz.scenes import SCENES
from rnnviz.ui import caches
from rnnviz.ui.controls import CONTROLS
from rnnviz.ui.links import Choice, Flag, Number
from tests.pages.opening import address, drawn, kept, opened, text

PAGE = "jacobians"


def test_it_opens_with_question_claim_picture_verdict_and_three_controls():
    at = opened(PAGE)
    assert "What is left of a push" in text(at)
    assert SCENES[PAGE][0].claim in text(at)
    # the true difference of a push of 1e-6 is known to a part in a thousand: 5.095 falls to either side
    assert re.search(r"40 steps later 5\.(09|1)·10⁻⁶ of it is left", text(at))
    assert len(drawn(at)) == 1
    assert {f"{PAGE}_gain", f"{PAGE}_input"} <= {slider.key for slider in at.slider}


@pytest.mark.parametrize("scene", SCENES[PAGE], ids=lambda scene: scene.name)
def test_every_scene_opens_by_its_link(scene):
    at = opened(PAGE, {f"{PAGE}_scene": scene.name})
    assert scene.claim in text(at)
    assert not at.warning


@pytest.mark.parametrize("control", CONTROLS[PAGE], ids=lambda control: control.name)
def test_every_control_takes_its_extremes(control):
    match control:
        case Number():
            values = [control.low, control.high]
        case Choice():
            values = list(control.options)
        case Flag():
            values = ["on"]
    for value in values:
        query = {f"{PAGE}_{control.name}": str(value)}
        at = opened(PAGE, query if control.name == "T" else query | {f"{PAGE}_T": "20"})
        assert all("it is pushed at step" in warning.value for warning in at.warning)
        assert at.session_state[f"{PAGE}:settings"][control.name] == (True if value == "on" else value)


def test_a_slider_moves_the_picture_and_the_address():
    at = opened(PAGE)
    before = drawn(at)
    next(s for s in at.slider if s.key == f"{PAGE}_gain").set_value(1.5).run()
    assert drawn(at) != before
    assert address(at) == {f"{PAGE}_gain": "1.5"}
    assert "10^+17.6" in re.sub(r"10<sup>(.*?)</sup>", r"10^\1", text(at))


@pytest.mark.parametrize("query", ["gain=0&input=0", "gain=0.01&input=0", "gain=4&activation=linear", "gain=4&T=400"])
def test_extremes_together_are_right_or_said_in_words(query):
    at = opened(PAGE, {f"{PAGE}_{name}": value for name, value in (pair.split("=") for pair in query.split("&"))})
    assert len(drawn(at)) == 1
    assert "nan" not in text(at).lower().replace("nudge", "")


def test_a_second_move_before_the_first_address_has_arrived_is_kept():
    at = opened(PAGE)
    for gain in (1.5, 2.0):
        next(s for s in at.slider if s.key == f"{PAGE}_gain").set_value(gain)
        at.query_params.clear()  # the browser's address is still the one of before
        at.run()
    assert address(at) == {f"{PAGE}_gain": "2.0"}


@pytest.mark.parametrize(
    ("query", "says", "holds"),
    [
        ({"jacobians_T": "banana"}, "is not a number", {}),
        ({"jacobians_T": "999999"}, "is outside 2 to 400", {"jacobians_T": "400"}),
        ({"jacobians_cell": "foo"}, "is not one of rnn, lstm, gru", {}),
    ],
)
def test_a_wrong_link_opens_the_nearest_view_and_says_so_once(query, says, holds):
    at = opened(PAGE, query)
    assert [says in warning.value for warning in at.warning] == [True]
    assert address(at) == holds
    slider = next(s for s in at.slider if s.key == f"{PAGE}_T")
    assert (slider.min, slider.max) == (2, 400)
    next(s for s in at.slider if s.key == f"{PAGE}_gain").set_value(2.0).run()
    assert not at.warning


def test_predict_then_reveal():
    scene = SCENES[PAGE][0]
    at = opened(PAGE, {f"{PAGE}_predict": "on"})
    assert scene.question in text(at)
    assert scene.claim not in text(at)
    assert not drawn(at)
    at.button(f"{PAGE}_answer_0").click().run()
    assert "✗" in text(at)
    assert scene.claim in text(at)
    assert len(drawn(at)) == 1
    at.button(f"{PAGE}_again").click().run()
    at.button(f"{PAGE}_answer_{scene.right}").click().run()
    assert "✓" in text(at)


def test_the_next_scene_takes_its_settings_along_and_back_again():
    at = opened(PAGE)
    at.button(f"{PAGE}_next").click().run()
    second = SCENES[PAGE][1]
    assert second.claim in text(at)
    assert address(at) == {f"{PAGE}_scene": second.name}
    at.button(f"{PAGE}_previous").click().run()
    assert SCENES[PAGE][0].claim in text(at)
    assert address(at) == {}


def test_a_page_that_is_left_is_as_it_was_when_it_is_opened_again():
    at = opened(PAGE)
    next(s for s in at.slider if s.key == f"{PAGE}_gain").set_value(2.0).run()
    at.switch_page("../../pages/home.py").run()
    at.query_params.clear()
    at.switch_page(f"../../pages/{PAGE}.py").run()
    assert next(s for s in at.slider if s.key == f"{PAGE}_gain").value == 2.0


def test_why_draws_one_more_view_and_only_when_asked():
    for word in ("back", "tug"):
        assert len(drawn(opened(PAGE, {f"{PAGE}_why": word, f"{PAGE}_T": "20"}))) == 2


def test_the_code_that_keep_shows_computes_the_views_numbers(capsys):
    at = opened(PAGE, {f"{PAGE}_T": "30", f"{PAGE}_hidden": "8"})
    _, code = kept(at, PAGE)
    found = {}
    exec(code, found)
    settings = at.session_state[f"{PAGE}:settings"]
    push, carried = caches.jacobians_push(settings), caches.jacobians_carried(settings)
    assert found["pushed"].left.tolist() == push.left.tolist()
    assert found["back"].transport.reach == carried.transport.reach
    assert str(carried.transport.reach) in capsys.readouterr().out
