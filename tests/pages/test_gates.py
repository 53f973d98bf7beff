"""The gates page, run as a script."""

import pytest

from rnnviz.scenes import PAGES, SCENES
from rnnviz.ui import caches, links
from rnnviz.ui.controls import CONTROLS
from rnnviz.ui.links import Choice, Flag, Number
from rnnviz.verdicts import gates as words
from tests.pages.opening import address, drawn, kept, opened, text

PAGE = "gates"
SMALL = {"gates_T": "12", "gates_hidden": "5"}
SHOWN = ["unit", "lstm", "gru"]


def settings(scene):
    named = {s.name: dict(s.settings) for s in SCENES[PAGE]}
    return links.base(CONTROLS[PAGE], named, scene)


def sliders(at):
    return [s.key.removeprefix(f"{PAGE}_") for s in at.slider]


def test_it_opens_with_question_claim_picture_verdict_and_three_dials():
    at = opened(PAGE)
    assert PAGES[PAGE].question in text(at)
    assert SCENES[PAGE][0].claim in text(at)
    assert "Score 0.0104 on 1,000 sequences" in text(at)
    assert len(drawn(at)) == 1
    assert sliders(at)[:3] == ["hold", "shut", "open"]


@pytest.mark.parametrize("scene", SCENES[PAGE], ids=lambda scene: scene.name)
def test_every_scene_shows_the_numbers_that_it_claims(scene):
    numbers = words.verdict(*caches.gates(settings(scene.name))).numbers
    for check in scene.checks:
        assert numbers[check.quantity] == pytest.approx(check.value, abs=check.tolerance), check.quantity


@pytest.mark.parametrize("scene", SCENES[PAGE], ids=lambda scene: scene.name)
def test_every_scene_opens_by_its_link_and_can_be_predicted(scene):
    at = opened(PAGE, {f"{PAGE}_scene": scene.name, f"{PAGE}_predict": "on"})
    assert not at.warning
    assert scene.question in text(at)
    assert scene.claim not in text(at)
    assert not drawn(at)  # nor what lies behind the picture
    at.button(f"{PAGE}_answer_{1 if scene.right == 0 else 0}").click().run()
    assert "✗" in text(at)
    assert len(drawn(at)) == 1 + ("why" in scene.settings)
    at.button(f"{PAGE}_again").click().run()
    at.button(f"{PAGE}_answer_{scene.right}").click().run()
    assert "✓" in text(at)
    assert scene.claim in text(at)


@pytest.mark.parametrize("why", ["half", "full", "reset", "equations"])
@pytest.mark.parametrize("show", SHOWN)
def test_every_view_behind_the_picture_opens_alone(show, why):
    at = opened(PAGE, {**SMALL, "gates_show": show, "gates_why": why})
    assert not at.warning
    assert len(drawn(at)) == 1 + (why in ("half", "reset"))
    charts = {"unit": 3, "lstm": 4, "gru": 3}[show] if why == "full" else 0
    assert len(at.get("vega_lite_chart")) == charts
    assert [block.value for block in at.get("latex")] != [] if why == "equations" else not at.get("latex")


@pytest.mark.parametrize("show", SHOWN)
@pytest.mark.parametrize("control", CONTROLS[PAGE], ids=lambda control: control.name)
def test_every_control_takes_its_extremes(control, show):
    match control:
        case Number():
            # the largest sizes together are a benchmark's business
            values = [control.low, 100 if control.name == "T" else control.high]
        case Choice():
            values = list(control.options)
        case Flag():
            values = ["on"]
    for value in values:
        at = opened(PAGE, {**SMALL, "gates_show": show, f"{PAGE}_{control.name}": str(value)})
        assert not at.warning
        assert at.session_state[f"{PAGE}:settings"][control.name] == (True if value == "on" else value)


@pytest.mark.parametrize(
    ("show", "biases", "near"),
    [
        ("unit", "both", ["hold", "shut", "open"]),
        ("lstm", "both", ["forget", "input", "hidden"]),
        ("lstm", "forget", ["forget", "gain", "hidden"]),
        ("lstm", "torch", ["gain", "hidden", "T"]),
        ("gru", "both", ["gain", "hidden"]),
    ],
)
def test_the_sliders_under_the_picture_all_change_it(show, biases, near):
    at = opened(PAGE, {**SMALL, "gates_show": show, "gates_biases": biases})
    assert sliders(at)[: len(near)] == near
    for name in near:
        seen = drawn(at), text(at)
        slider = next(s for s in at.slider if s.key == f"{PAGE}_{name}")
        slider.set_value(slider.max if name != "hidden" else 7).run()
        assert not at.exception
        assert (drawn(at), text(at)) != seen
        assert f"{PAGE}_{name}" in at.query_params


def test_what_is_shown_changes_the_picture_and_comes_back():
    at = opened(PAGE, SMALL)
    first = drawn(at)
    for show in ("lstm", "gru"):
        next(g for g in at.get("button_group") if g.key == f"{PAGE}_show").set_value(show).run()
        assert address(at)[f"{PAGE}_show"] == show
        assert drawn(at) != first
    next(g for g in at.get("button_group") if g.key == f"{PAGE}_show").set_value("unit").run()
    assert drawn(at) == first


@pytest.mark.parametrize(
    ("query", "says", "holds"),
    [
        ({"gates_hold": "banana"}, "is not a number", {}),
        ({"gates_hold": "999"}, "is outside -2 to 12", {"gates_hold": "12.0"}),
        ({"gates_shut": "-1.23"}, "is between two steps of 0.1", {"gates_shut": "-1.2"}),
        ({"gates_T": "1"}, "is outside 2 to 400", {"gates_T": "2"}),
        ({"gates_show": "rnn"}, "is not one of unit, lstm, gru", {}),
        ({"gates_scene": "foo"}, "is not one of", {}),
        ({"gates_keep": "1"}, "names nothing on this page", {}),
    ],
)
def test_a_wrong_link_opens_the_nearest_view_and_says_so(query, says, holds):
    at = opened(PAGE, query)
    assert [says in warning.value for warning in at.warning] == [True]
    assert address(at) == holds


@pytest.mark.parametrize(
    "query",
    [
        {"gates_hold": "3", "gates_T": "50"},
        {"gates_show": "lstm", "gates_forget": "2", **SMALL},
        {"gates_show": "lstm", "gates_biases": "torch", **SMALL},
        {"gates_show": "gru", "gates_reset": "after", **SMALL},
    ],
)
def test_the_code_that_keep_shows_computes_the_views_numbers(query, capsys):
    at = opened(PAGE, query)
    _, code = kept(at, PAGE)
    found = {}
    exec(code, found)
    shown, ways, parted = caches.gates(at.session_state[f"{PAGE}:settings"])
    assert found["ways"].whole.tolist() == ways.whole.tolist()
    assert {k: v.tolist() for k, v in found["shown"].columns.items()} == {
        k: v.tolist() for k, v in shown.columns.items()
    }
    if parted is not None:
        assert found["apart"].apart.tolist() == parted.apart.tolist()
        assert str(parted.apart[-1]) in capsys.readouterr().out
