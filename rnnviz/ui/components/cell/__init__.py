"""The cell, drawn: a diagram of rnnviz.figures.diagrams as SVG with live numbers, under the page's cursor."""

from collections.abc import Callable, Mapping
from functools import cache

import streamlit as st

from rnnviz.figures.diagrams import Diagram
from rnnviz.ui import serving
from rnnviz.ui.components.payload import pack

# What draws is a served file, which a browser keeps: the stub alone rides on each message.
STUB = """const ready = import(new URL("{address}", location.origin).href);
export default (c) => {{ ready.then((m) => m.draw(c)); return () => ready.then((m) => m.leave(c.parentElement)); }}
"""


@cache
def _component() -> Callable[..., object]:
    """Registered once a process: again at each run would be a new component to the browser."""
    stub = STUB.format(address=serving.address("cell/cell.js"))
    return st.components.v2.component("rnnviz_cell", js=stub, isolate_styles=False)


def cell(
    diagram: Diagram, *, key: str, group: str, token: str, at: Mapping[str, int] | None = None, bar: bool = False
) -> None:
    """Draws a diagram that obeys the cursor of its group, whose dimensions are "step" and "unit", both from 1.

    token: which view this is; with another one the cursor starts at `at`, {"step": 1, "unit": 1} where it says
    nothing. bar: with the cursor's own controls under it, where no other drawing of the group has them.
    """
    tree = {**diagram.tree(), "group": group, "token": token, "at": {"step": 1, "unit": 1, **(at or {})}, "bar": bar}
    _component()(key=key, data=pack(tree))
