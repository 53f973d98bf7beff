"""The home page, run as a script."""

import subprocess
import sys

import pytest

from rnnviz.scenes import PAGES, SCENES
from rnnviz.ui import caches
from rnnviz.ui.controls import CONTROLS
from rnnviz.ui.links import Choice, Flag, Number
from rnnviz.verdicts import home as words
from tests.pages.opening import HOUSE, address, kept, opened, sent, text

PAGE = "home"


def stands(at):
    """Where the cursor stands at first, in the one picture that the page draws."""
    (message,) = sent(at)
    return tuple(message["dims"][dim]["at"] for dim in ("training", "number"))


def test_it_opens_with_question_claim_picture_verdict_one_control_and_four_doors():
    at = opened(PAGE)
    assert PAGES[PAGE].question in text(at)
    assert SCENES[PAGE][0].claim in text(at)
    (message,) = sent(at)
    assert stands(at) == (900, 16)
    assert [lane["cell"] for lane in message["lanes"]] == ["rnn", "gru"]
    assert "it has met the mark" in message["says"][45]
    assert not at.slider
    assert len(at.get("button_group")) == 1
    doors = [door.proto for door in at.get("page_link")]
    assert [door.page for door in doors] == [name for name in PAGES if name != PAGE]
    assert all(PAGES[door.page].question in door.label for door in doors)


def test_it_plays_by_itself_only_at_the_front_door():
    assert sent(opened(PAGE))[0]["tour"]["points"][-1] == [8000, 1600]
    for query in ({"home_step": "0"}, {"home_scene": "late"}, {"home_second": "lstm"}):
        assert sent(opened(PAGE, query))[0]["tour"] is None
    at = opened(PAGE, {"home_predict": "on"})
    assert not sent(at)  # the veil
    at.button(f"{PAGE}_answer_0").click().run()
    assert sent(at)[0]["tour"] is None


def test_it_paints_before_torch_is_loaded():
    code = f"""
import sys
from streamlit.testing.v1 import AppTest
at = AppTest.from_file({str(HOUSE / "rnnviz/ui/frame.py")!r}, default_timeout=60).run()
assert len(at.get("bidi_component")) == 1 and not at.exception
sys.exit("torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=HOUSE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("scene", SCENES[PAGE], ids=lambda scene: scene.name)
def test_every_scene_opens_by_its_link_and_can_be_predicted(scene):
    at = opened(PAGE, {f"{PAGE}_scene": scene.name, f"{PAGE}_predict": "on"})
    assert not at.warning
    assert scene.question in text(at)
    assert scene.claim not in text(at)
    assert not sent(at)
    wrong = 1 if scene.right == 0 else 0
    at.button(f"{PAGE}_answer_{wrong}").click().run()
    assert "✗" in text(at)
    assert scene.claim in text(at)
    at.button(f"{PAGE}_again").click().run()
    at.button(f"{PAGE}_answer_{scene.right}").click().run()
    assert "✓" in text(at)
    assert stands(at) == (scene.settings.get("step", 900), round(20 * scene.settings.get("number", 0.8)))


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
        at = opened(PAGE, {f"{PAGE}_{control.name}": str(value)})
        assert not at.warning
        assert at.session_state[f"{PAGE}:settings"][control.name] == (True if value == "on" else value)


def test_every_control_changes_the_picture_and_the_address():
    at = opened(PAGE)
    before = sent(at)
    at.get("button_group")[0].set_value("lstm").run()
    assert not at.exception
    assert address(at) == {"home_second": "lstm"}
    assert sent(at)[0]["lanes"][1]["cell"] == "lstm"
    assert sent(at)[0]["says"] != before[0]["says"]
    assert stands(opened(PAGE, {"home_step": "1300"})) == (1300, 16)
    assert stands(opened(PAGE, {"home_number": "0.2"})) == (900, 4)


@pytest.mark.parametrize(
    ("query", "says", "holds"),
    [
        ({"home_step": "banana"}, "is not a number", {}),
        ({"home_step": "999999"}, "is outside 0 to 3200", {"home_step": "3200"}),
        ({"home_step": "-1"}, "is outside 0 to 3200", {"home_step": "0"}),
        ({"home_step": "911"}, "is between two steps of 20", {"home_step": "920"}),
        ({"home_number": "nan"}, "is not a number", {}),
        ({"home_number": "2"}, "is outside 0 to 1", {"home_number": "1.0"}),
        ({"home_second": "rnn"}, "is not one of gru, lstm", {}),
        ({"home_scene": "foo"}, "is not one of", {}),
        ({"home_colour": "red"}, "names nothing on this page", {}),
    ],
)
def test_a_wrong_link_opens_the_nearest_view_and_says_so_once(query, says, holds):
    at = opened(PAGE, query)
    assert [says in warning.value for warning in at.warning] == [True]
    assert address(at) == holds
    assert [sent(at)[0]["dims"]["training"][end] for end in ("low", "high")] == [0, 3200]
    at.get("button_group")[0].set_value("lstm").run()
    assert not at.warning


def test_the_setting_ends_where_the_recording_ends():
    step = next(c for c in CONTROLS[PAGE] if c.name == "step")
    for second in ("gru", "lstm"):
        moment = caches.home({"second": second, "step": step.high, "number": 0.8})
        assert all(lane.steps[-1] == step.high and lane.steps[1] == step.step for lane in moment.lanes.values())


@pytest.mark.parametrize(
    ("cursor", "looks"),
    [
        ({}, (1300, 6)),
        ({"at_training": "600", "at_number": "20"}, (600, 20)),
        ({"at_training": "911"}, (920, 6)),  # to the nearest snapshot
        ({"at_training": "999999", "at_number": "999"}, (3200, 20)),
        ({"at_training": "banana", "at_number": "-1", "at_unit": "3"}, (1300, 6)),
        ({"at_training": "٩", "at_number": "1e1"}, (1300, 6)),
    ],
)
def test_what_is_kept_is_what_is_looked_at(cursor, looks, capsys):
    at = opened(PAGE, {"home_step": "1300", "home_second": "lstm", "home_number": "0.3"} | cursor)
    assert stands(at) == (1300, 6)
    link, code = kept(at, PAGE)
    assert all(f"{name}={value}" in link for name, value in cursor.items() if value.isascii())
    found = {}
    exec(code, found)
    moment = caches.home(at.session_state[f"{PAGE}:settings"], cursor)
    assert (moment.step, moment.value) == looks
    assert words.verdict(found["moment"]) == words.verdict(moment)
    assert str(moment.answer("rnn")) in capsys.readouterr().out
