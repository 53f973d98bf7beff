"""The cursor that a reader chose: it stands in the address of its view, in the view's link, and goes with the view."""

import pytest

from tests.pages.opening import address, kept, opened

CURSOR = {"at_step": "12", "at_unit": "3"}


def cursor(at):
    """What the address says of it."""
    return {key: value for key, value in address(at).items() if key.startswith("at_")}


def gone_to(at, query):
    """The browser went there in its history."""
    at.query_params.clear()
    at.query_params.update(query)
    at.run()
    assert not at.exception


def link(at, page):
    return kept(at, page)[0].partition("?")[2]


def test_a_link_holds_the_chosen_cursor_and_opens_with_it():
    assert link(opened("gates", CURSOR | {"utm_source": "x"}), "gates") == "at_step=12&at_unit=3"
    both = {"gates_show": "lstm", **CURSOR}
    at = opened("gates", both)
    assert address(at) == both
    assert link(at, "gates") == "v=1&gates_show=lstm&at_step=12&at_unit=3"
    assert "at_" not in link(opened("gates"), "gates")


@pytest.mark.parametrize("key", ["gates_next", "gates_previous"])
def test_another_scene_has_a_cursor_of_its_own(key):
    at = opened("gates", CURSOR)
    at.button(key).click().run()
    assert cursor(at) == {}
    assert "gates_scene" in address(at)
    assert "at_" not in link(at, "gates")


def test_what_stays_in_a_view_keeps_its_cursor():
    at = opened("gates", CURSOR)
    at.run()
    at.slider("gates_hold").set_value(3.0).run()
    assert cursor(at) == CURSOR
    at.toggle("gates_predict").set_value(True).run()
    assert cursor(at) == CURSOR
    assert not at.exception


def test_a_moved_step_begins_anew():
    at = opened("jacobians", CURSOR)
    at.slider("jacobians_gain").set_value(2.0).run()
    assert cursor(at) == CURSOR
    at.slider("jacobians_step").set_value(20).run()
    assert cursor(at) == {}
    assert address(at) == {"jacobians_gain": "2.0", "jacobians_step": "20"}


def test_the_back_button_brings_a_view_with_its_cursor():
    at = opened("gates", CURSOR)
    at.button("gates_next").click().run()
    ahead = address(at)
    gone_to(at, CURSOR)
    assert address(at) == CURSOR
    gone_to(at, {"v": "1", **ahead, "at_step": "40"})
    assert address(at) == {**ahead, "at_step": "40"}
    at.button("gates_next").click().run()
    assert cursor(at) == {}
