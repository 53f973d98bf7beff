"""Every picture in every state is built and packed; and the developers' page that shows them is for developers."""

import inspect

import numpy as np
import pytest
import streamlit as st

from rnnviz.figures import adding_problem, gates, gates_why, home, jacobians, letters, unrolling
from rnnviz.scenes import PAGES
from rnnviz.ui import states
from rnnviz.ui.components.chart import payload
from rnnviz.ui.components.payload import pack
from tests.pages.opening import opened, sent, text, unpacked

MODULES = (home, unrolling, letters, jacobians, gates, gates_why, adding_problem)


@pytest.fixture(scope="module")
def kinds():
    return states.kinds()


@pytest.fixture(scope="module")
def cells():
    return states.cells()


def packed(figure):
    """A figure as its chart gets it."""
    options = {"name": "n", "alt": "a", "cursor": {"group": "g", "token": "", "bar": True}, "live": None, "says": {}}
    return unpacked(payload(figure, **options))


def arrives(figure):
    """The message, in which every curve is what was drawn."""
    message = packed(figure)
    for trace, got in zip(figure.data, message["figure"]["data"], strict=True):
        assert got["type"] == trace.type
        for axis, values in trace.to_plotly_json().items():
            if axis in "xyz" and np.asarray(values).dtype.kind in "if":
                np.testing.assert_array_equal(np.array(got[axis], dtype=float), values)
    return message


@pytest.mark.parametrize("name", states.STATES)
def test_every_state_is_built_and_packed_and_is_the_same_again(name):
    figure = states.STATES[name]()
    message = arrives(figure)
    assert message["figure"]["data"]
    assert message["cursor"]["dims"]
    assert figure == states.STATES[name]()


def test_the_states_are_what_they_say():
    data = {name: packed(draw())["figure"]["data"] for name, draw in states.STATES.items()}
    assert data["empty"][0]["y"] == []
    assert len(data["one point"][0]["y"]) == 1
    curve = np.array(data["NaN and infinity"][0]["y"])
    assert (np.isnan(curve).sum(), np.isposinf(curve).sum(), np.isneginf(curve).sum()) == (20, 1, 1)
    assert np.isnan(data["NaN and infinity"][1]["y"]).all()
    peaks = data["10,000 points"][0]["y"]
    assert (len(peaks), max(peaks), min(peaks)) == (10_000, 4, -4)
    assert len({(line["line"]["color"], line["line"]["dash"]) for line in data["ten series"]}) == 10
    up, down, within = (line["y"] for line in data["600 decades"])
    assert (up[-1], down[89] < -300, down[90:], within[0], within[-1]) == (420, True, [-np.inf] * 11, -300, 300)
    assert np.isnan(data["heat map"][0]["z"][3][10:20]).all()


def test_a_hostile_text_arrives_as_the_text_it_is():
    figure = packed(states.STATES["hostile text"]())["figure"]
    assert figure["layout"]["title"]["text"] == states.HOSTILE
    assert figure["layout"]["annotations"][0]["text"] == states.HOSTILE
    assert figure["data"][0]["name"] == f"{states.HOSTILE} 1"


def test_every_kind_of_picture_is_built_and_packed(kinds):
    for name, figure in kinds.items():
        assert arrives(figure)["figure"]["data"], name


def test_every_figure_of_the_house_is_among_the_kinds(monkeypatch):
    known, drawn = set(), set()

    def counted(draw):
        def again(*arguments, **more):
            drawn.add(draw)
            return draw(*arguments, **more)

        return again

    for module in MODULES:
        for name, draw in inspect.getmembers(module, inspect.isfunction):
            if draw.__module__ == module.__name__ and not name.startswith("_") and name != "histograms":  # Altair's
                if "Figure" in str(inspect.signature(draw).return_annotation):
                    known.add(draw)
                    monkeypatch.setattr(module, name, counted(draw))
    states.kinds()
    assert len(known) >= 15
    assert drawn == known


def test_every_cell_is_built_and_packed(cells):
    for diagram in cells.values():
        tree = unpacked(pack(diagram.tree()))
        assert (tree["kind"], tree["steps"], tree["hidden"]) == (diagram.kind, len(diagram.labels), diagram.hidden)
        assert tree["values"].keys() == diagram.values.keys()
        for k, values in diagram.values.items():
            np.testing.assert_array_equal(tree["values"][k], values)


def test_the_cells_are_of_every_kind_and_the_gru_of_both(cells):
    drawn = {(diagram.kind, diagram.reset) for diagram in cells.values()}
    assert {kind for kind, _ in drawn} == {"folded", "unrolled", "lstm", "gru"}
    assert {("gru", "before"), ("gru", "after")} <= drawn


def test_a_group_is_one_cursor_over_the_same_100_steps():
    figures, diagram = states.group()
    assert unpacked(pack(diagram.tree()))["steps"] == 100
    for figure in figures.values():
        step = arrives(figure)["cursor"]["dims"]["step"]
        assert (step["low"] in (0, 1), step["high"], step["label"]) == (True, 100, "step")


# ---------------------------------------------------------------- the developers' page


@pytest.fixture
def navigation(monkeypatch):
    """What the frame puts into it."""
    found, navigate = [], st.navigation

    def looked(pages, **more):
        found[:] = pages
        return navigate(pages, **more)

    monkeypatch.setattr(st, "navigation", looked)
    return found


def names(pages):
    return [page.url_path or "home" for page in pages]


@pytest.mark.parametrize("value", [None, ""])
def test_readers_have_no_page_of_states(navigation, monkeypatch, value):
    monkeypatch.delenv("RNNVIZ_DEVELOPER", raising=False)
    if value is not None:
        monkeypatch.setenv("RNNVIZ_DEVELOPER", value)
    at = opened("states")
    assert names(navigation) == list(PAGES)
    assert PAGES["home"].question in text(at)  # as for every page that there is not
    assert not at.subheader


@pytest.mark.parametrize("shown", ["states", "kinds", "cells", "group"])
def test_developers_see_every_view_of_it(navigation, monkeypatch, kinds, cells, shown):
    monkeypatch.setenv("RNNVIZ_DEVELOPER", "1")
    at = opened("states", {"show": shown})
    assert names(navigation) == [*PAGES, "states"]
    assert navigation[-1].visibility == "hidden"  # there by its address, and not in the row at the top
    assert PAGES["home"].question not in text(at)
    headings = {"states": states.STATES, "kinds": kinds, "cells": cells, "group": {}}[shown]
    assert [heading.value for heading in at.subheader] == list(headings)
    assert len(sent(at)) == (5 if shown == "group" else len(headings))
    assert [link.proto.label for link in at.get("page_link")] == ["states", "kinds", "cells", "group"]


def test_the_group_is_one_cursor_and_stays_when_the_page_runs_again(monkeypatch):
    monkeypatch.setenv("RNNVIZ_DEVELOPER", "1")
    at = opened("states", {"show": "group"})
    before = [component.proto.id for component in at.get("bidi_component")]
    messages = sent(at)
    groups = [message["cursor"] if "cursor" in message else message for message in messages]
    assert {one["group"] for one in groups} == {"group"}
    assert [one["bar"] for one in groups] == [True, False, False, False, False]
    at.button[0].click().run()
    assert [component.proto.id for component in at.get("bidi_component")] == before
    assert sent(at) == messages
