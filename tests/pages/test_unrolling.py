"""The unrolling page, run as a script."""

import pytest

from rnnviz.scenes import SCENES
from rnnviz.ui import caches
from rnnviz.ui.controls import CONTROLS
from rnnviz.ui.links import Choice, Flag, Number, Text
from tests.pages.opening import drawn, kept, opened, sent, text

PAGE = "unrolling"


def link(**settings):
    return {f"{PAGE}_{name}": str(value) for name, value in settings.items()}


def address(at):
    """What the page wrote into the address, without the version."""
    one = {key: value if isinstance(value, str) else value[-1] for key, value in at.query_params.items()}
    return {key: value for key, value in one.items() if key != "v"}


def setting(at, name):
    return at.session_state[f"{PAGE}:settings"][name]


def test_it_opens_with_question_claim_picture_verdict_and_three_controls():
    at = opened(PAGE)
    assert "Same letter in. Same answer out?" in text(at)
    assert SCENES[PAGE][0].claim in text(at)
    assert "Steps 3 and 4 read the same L. Their states differ by 2.01, so the net says L, then O." in text(at)
    assert "Without memory the loss cannot go below 0.347; here 0.0006." in text(at)
    assert len(drawn(at)) == 1
    assert at.text_input(f"{PAGE}_word").value == "HELLO"
    assert "Step 4 reads L and answers O" in sent(at)[0]["alt"]


@pytest.mark.parametrize("scene", SCENES[PAGE], ids=lambda scene: scene.name)
def test_every_scene_opens_by_its_link(scene):
    at = opened(PAGE, link(scene=scene.name))
    assert scene.claim in text(at)
    assert not at.warning
    assert len(drawn(at)) == (2 if "why" in scene.settings else 1)


@pytest.mark.parametrize("control", CONTROLS[PAGE], ids=lambda control: control.name)
def test_every_control_takes_its_extremes(control):
    match control:
        case Number():
            values = [control.low, control.high]
        case Choice():
            values = list(control.options)
        case Text():
            values = ["A", "x" * control.longest]
        case Flag():
            values = ["on"]
    for value in values:
        at = opened(PAGE, link(**{control.name: value}))
        assert not at.warning
        assert setting(at, control.name) == (True if value == "on" else value)


def test_a_word_a_slider_and_the_network_change_the_picture():
    at = opened(PAGE)
    before = drawn(at)
    at.text_input(f"{PAGE}_word").set_value("NOON").run()
    assert "Steps 2 and 3 read the same O" in text(at)
    assert address(at) == link(word="NOON")
    at.slider(f"{PAGE}_units").set_value(1).run()
    at.button_group(f"{PAGE}_net").set_value("untrained").run()
    assert "Untrained, their states are already" in text(at)
    assert not at.exception
    assert drawn(at) != before


def test_one_why_view_at_a_time_and_only_that_one():
    for word, says in (("loss", "it remembers"), ("parameters", "at T = 500"), ("generate", "is a guess")):
        at = opened(PAGE, link(why=word))
        assert says in text(at)
        assert len(drawn(at)) == 2
    at = opened(PAGE, link(why="generate", start=4))
    assert len(drawn(at)) == 2
    assert [s.value for s in at.slider if s.key == f"{PAGE}_start"] == [4]


def test_why_says_nothing_before_the_answer():
    scene = next(s for s in SCENES[PAGE] if "why" in s.settings)
    at = opened(PAGE, link(scene=scene.name, predict="on"))
    assert not drawn(at)
    assert "at T = 500" not in text(at)


def test_predict_then_reveal():
    scene = SCENES[PAGE][0]
    at = opened(PAGE, link(predict="on"))
    assert scene.question in text(at)
    assert scene.claim not in text(at)
    assert not drawn(at)
    at.button(f"{PAGE}_answer_0").click().run()
    assert "✗" in text(at)
    assert len(drawn(at)) == 1
    at.button(f"{PAGE}_again").click().run()
    at.button(f"{PAGE}_answer_{scene.right}").click().run()
    assert "✓" in text(at)


@pytest.mark.parametrize(
    ("query", "says", "holds"),
    [
        ({"units": "banana"}, "is not a number", {}),
        ({"units": "999999"}, "is outside 1 to 8", link(units=8)),
        ({"net": "foo"}, "is not one of untrained, trained", {}),
        ({"word": ""}, "is too short", {}),
        ({"word": "x" * 10_000}, "is too long", link(word="x" * 24)),
        ({"word": "AB\n\u202eC"}, "cannot be shown", link(word="ABC")),
        ({"scene": "<script>"}, "is not one of twins", {}),
    ],
)
def test_a_wild_link_opens_the_nearest_view_and_says_so(query, says, holds):
    at = opened(PAGE, link(**query))
    assert [says in warning.value for warning in at.warning] == [True]
    assert address(at) == holds


@pytest.mark.parametrize(
    "word", ["<b>&</b><script>", "😀😀!😀", "שלום שלום", "a b a c", "$x$ $y$", "**a** `b`", "e\u0301e"]
)
def test_any_text_is_read_as_letters_and_shown_as_text(word):
    for why in ("closed", "generate"):
        at = opened(PAGE, link(word=word, why=why))
        assert setting(at, "word") == word
        assert not at.warning
        assert "<script>" not in text(at).lower()
        assert "<b>&" not in text(at)


def test_a_step_beyond_the_word_is_the_last_that_has_a_later_one():
    reading, push = caches.unrolling(
        {"word": "HELLO", "units": 2, "seed": 0, "net": "untrained", "step": 23, "size": -1}
    )
    assert push.step == 4
    assert len(push.left) == 2
    assert reading.steps == 0


@pytest.mark.parametrize("settings", [{}, {"word": "'\\\"}", "net": "untrained", "step": 2, "size": -3}])
def test_the_code_that_keep_shows_computes_the_views_numbers(settings, capsys):
    at = opened(PAGE, link(**settings))
    _, code = kept(at, PAGE)
    found = {}
    exec(code, found)
    reading, push = caches.unrolling(at.session_state[f"{PAGE}:settings"])
    assert found["push"].left.tolist() == push.left.tolist()
    assert found["reading"].states.tolist() == reading.states.tolist()
    assert found["reading"].loss == reading.loss
    assert reading.says in capsys.readouterr().out
