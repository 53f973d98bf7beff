"""The home page, run as a script."""

import subprocess
import sys

import pytest

from rnnviz.scenes import PAGES, SCENES
from rnnviz.ui import caches
from rnnviz.ui.controls import CONTROLS
from rnnviz.ui.links import Choice, Flag, Number
from tests.pages.opening import HOUSE, drawn, kept, opened, text

PAGE = "home"


def slider(at, name):
    return next(s for s in at.slider if s.key == f"{PAGE}_{name}")


def address(at):
    """What the address says of this page, the last value of each name."""
    return {k: v[-1] if isinstance(v, list) else v for k, v in at.query_params.items() if k != "v"}


def test_it_opens_with_question_claim_picture_verdict_three_controls_and_four_doors():
    at = opened(PAGE)
    assert PAGES[PAGE].question in text(at)
    assert SCENES[PAGE][0].claim in text(at)
    assert "truth 1.25" in text(at)
    assert len(drawn(at)) == 1
    assert [s.key for s in at.slider] == [f"{PAGE}_step", f"{PAGE}_number"]
    doors = [door.proto for door in at.get("page_link")]
    assert [door.page for door in doors] == [name for name in PAGES if name != PAGE]
    assert all(PAGES[door.page].question in door.label for door in doors)


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
    assert not drawn(at)
    wrong = 1 if scene.right == 0 else 0
    at.button(f"{PAGE}_answer_{wrong}").click().run()
    assert "✗" in text(at)
    assert scene.claim in text(at)
    at.button(f"{PAGE}_again").click().run()
    at.button(f"{PAGE}_answer_{scene.right}").click().run()
    assert "✓" in text(at)
    assert len(drawn(at)) == 1


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


def test_every_control_changes_the_picture_the_verdict_and_the_address():
    at = opened(PAGE)
    seen = [(drawn(at), text(at))]
    for change, key, value in (
        (lambda: slider(at, "step").set_value(1300), "step", "1300"),
        (lambda: slider(at, "number").set_value(0.2), "number", "0.2"),
        (lambda: at.get("button_group")[0].set_value("lstm"), "second", "lstm"),
    ):
        change().run()
        assert not at.exception
        assert address(at)[f"{PAGE}_{key}"] == value
        assert all(drawn(at) != picture and text(at) != words for picture, words in seen)
        seen.append((drawn(at), text(at)))


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
    assert (slider(at, "step").min, slider(at, "step").max) == (0, 3200)
    slider(at, "number").set_value(0.5).run()
    assert not at.warning


def test_the_slider_ends_where_the_recording_ends():
    step = next(c for c in CONTROLS[PAGE] if c.name == "step")
    for second in ("gru", "lstm"):
        moment = caches.home({"second": second, "step": step.high, "number": 0.8})
        assert all(lane.steps[-1] == step.high and lane.steps[1] == step.step for lane in moment.lanes.values())


def test_the_code_that_keep_shows_reads_the_views_numbers(capsys):
    at = opened(PAGE, {"home_step": "1300", "home_second": "lstm", "home_number": "0.3"})
    _, code = kept(at, PAGE)
    found = {}
    exec(code, found)
    moment = caches.home(at.session_state[f"{PAGE}:settings"])
    assert found["moment"].answer("lstm") == moment.answer("lstm")
    assert str(moment.answer("rnn")) in capsys.readouterr().out
