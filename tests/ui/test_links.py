"""Addresses: any query gives a valid view and says what was changed; every view survives its own link."""

import re
from collections.abc import Mapping
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as some

from rnnviz import own
from rnnviz.scenes import SCENES
from rnnviz.ui import links
from rnnviz.ui.controls import CONTROLS
from rnnviz.ui.links import Choice, Flag, Number, Table, Text

PAGES = list(CONTROLS)


def scenes(page: str) -> dict[str, links.Settings]:
    return {scene.name: dict(scene.settings) for scene in SCENES[page]}


def read(page: str, query: Mapping[str, list[str]]) -> tuple[links.Settings, list[str]]:
    return links.read(page, CONTROLS[page], scenes(page), query)


def valid(control: links.Control, value: links.Value) -> bool:
    match control:
        case Number():
            steps = (float(value) - control.low) / control.step
            return control.low <= value <= control.high and abs(steps - round(steps)) < 1e-6
        case Choice():
            return value in control.options or value == control.empty
        case Text():
            text = str(value)
            return control.shortest <= len(text) <= control.longest and len(set(text)) <= control.different
        case Table():
            return own.write(own.table(str(value))) == value
        case Flag():
            return isinstance(value, bool)


@pytest.mark.parametrize(
    ("query", "name", "value", "says"),
    [
        ("jacobians_T=banana", "T", 100, "banana is not a number: it takes 2 to 400; now 100"),
        ("jacobians_T=999999", "T", 400, "999999 is outside 2 to 400; now 400"),
        ("jacobians_T=-5", "T", 2, "outside 2 to 400; now 2"),
        ("jacobians_T=1e999999999", "T", 400, "outside"),
        ("jacobians_T=-inf", "T", 2, "outside"),
        ("jacobians_T=nan", "T", 100, "not a number"),
        ("jacobians_T=", "T", 100, "not a number"),
        ("jacobians_T=50.4", "T", 50, "between two steps of 1; now 50"),
        ("jacobians_T=5_0", "T", 100, "not a number"),
        ("jacobians_gain=1.234", "gain", 1.23, "between two steps of 0.01; now 1.23"),
        ("jacobians_gain=1e-99999999", "gain", 0.0, "between two steps"),
        ("jacobians_cell=foo", "cell", "rnn", "foo is not one of rnn, lstm, gru; now rnn"),
        ("jacobians_T=30&jacobians_T=40", "T", 40, "given 2 times"),
        ("jacobians_predict=maybe", "predict", False, "neither on nor off"),
        ("jacobians_scene=nowhere", "scene", "push", "jacobians_scene=nowhere is not one of"),
        ("jacobians_nothing=1", "T", 100, "names nothing on this page"),
        ("v=99&jacobians_T=30", "T", 30, "version '99'"),
    ],
)
def test_a_wrong_link_opens_the_nearest_view_and_says_what_was_changed(query, name, value, says):
    settings, notices = read("jacobians", parse_qs(query, keep_blank_values=True))
    assert settings[name] == value
    assert len(notices) == 1
    assert says in notices[0]


@pytest.mark.parametrize(
    ("query", "name", "value"),
    [
        ("jacobians_T=24", "T", 24),
        ("jacobians_T=24.0", "T", 24),
        ("jacobians_T=+24", "T", 24),
        ("jacobians_cell=GRU", "cell", "gru"),
        ("jacobians_gain=0.30", "gain", 0.3),
        ("jacobians_why=tug", "why", "tug"),
        ("jacobians_predict=on", "predict", True),
        ("gates_T=5", "T", 100),
        ("utm_source=x", "T", 100),
        ("", "T", 100),
    ],
)
def test_a_right_link_says_nothing(query, name, value):
    settings, notices = read("jacobians", parse_qs(query))
    assert (settings[name], notices) == (value, [])
    assert type(settings[name]) is type(value)


def test_a_scene_is_a_short_link_and_a_control_counts_more_than_its_scene():
    other = SCENES["jacobians"][1]
    short, notices = read("jacobians", {"jacobians_scene": [other.name]})
    assert notices == []
    assert all(short[name] == value for name, value in other.settings.items())
    assert read("jacobians", {"jacobians_scene": [other.name], "jacobians_T": ["77"]})[0]["T"] == 77
    assert links.write("jacobians", CONTROLS["jacobians"], scenes("jacobians"), short) == {
        "v": "1",
        "jacobians_scene": other.name,
    }


def test_a_wrong_control_falls_back_to_its_scene():
    changed = next(s for s in SCENES["jacobians"] if "gain" in s.settings)
    settings, _ = read("jacobians", {"jacobians_scene": [changed.name], "jacobians_gain": ["banana"]})
    assert settings["gain"] == changed.settings["gain"]


def test_the_message_shows_a_long_or_odd_value_short_and_plain():
    _, (notice,) = read("jacobians", {"jacobians_T": ["x" * 10_000]})
    assert len(notice) < 150
    _, (notice,) = read("jacobians", {"jacobians_T": ["a\nb\u202e"]})
    assert "\n" not in notice
    assert "\u202e" not in notice


@pytest.mark.parametrize("page", PAGES)
@given(data=some.data())
def test_no_query_ever_leaves_the_limits(page, data):
    names = [f"{page}_{control.name}" for control in CONTROLS[page]] + [f"{page}_scene", f"{page}_x", "v", "run"]
    odd = some.one_of(
        some.text(max_size=30),
        some.integers().map(str),
        some.floats().map(repr),
        some.sampled_from(["on", "off", "1e400", "-1e-400", "٣", "NaN", "sNaN", "Infinity", "0x10", " 7 ", "banana"]),
    )
    query = data.draw(some.dictionaries(some.sampled_from(names), some.lists(odd, min_size=1, max_size=3), max_size=8))
    settings, _ = read(page, query)
    assert settings["scene"] in scenes(page)
    for control in CONTROLS[page]:
        assert valid(control, settings[control.name]), control.name
    again = links.write(page, CONTROLS[page], scenes(page), settings)
    assert read(page, parse_qs(urlencode(again), keep_blank_values=True)) == (settings, [])


@pytest.mark.parametrize("page", PAGES)
def test_every_scene_names_controls_of_its_page_and_values_that_they_take(page):
    controls = {control.name: control for control in CONTROLS[page]}
    for scene in SCENES[page]:
        for name, value in scene.settings.items():
            assert controls[name].nearest(value, controls[name].default) == (value, None), (scene.name, name)


@pytest.mark.parametrize("page", PAGES)
def test_every_default_is_one_that_its_control_takes(page):
    for control in CONTROLS[page]:
        assert control.nearest(control.default, 0) == (control.default, None), control.name
    assert len({control.name for control in CONTROLS[page]}) == len(CONTROLS[page])


@pytest.mark.parametrize(
    "text",
    ["![a](http://x.invalid/a.png)", "[free](http://x)", "www.x.invalid", "*b* _c_ `d`", "$x^2$", "<b>", ":red[a]"],
)
def test_a_notice_shows_what_a_link_holds_letter_by_letter(text):
    shown = links.plain(f"own={text} cannot be used; now 0.5.")
    assert re.sub(r"\\(.)", r"\1", shown) == f"own={text} cannot be used; now 0.5."
    assert not re.search(r"(?<!\\)[\[\]`*_<>$:]|\w(?<!\\)\.(?=[a-z])", shown)
