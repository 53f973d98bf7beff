"""The cell, drawn: a diagram of rnnviz.figures.diagrams as SVG with live numbers, under the page's cursor."""

from collections.abc import Mapping

from rnnviz.figures.diagrams import Diagram
from rnnviz.ui.components import registered
from rnnviz.ui.components.payload import pack


def cell(
    diagram: Diagram, *, key: str, group: str, token: str, at: Mapping[str, int] | None = None, bar: bool = False
) -> None:
    """Draws a diagram that obeys the cursor of its group, whose dimensions are "step" and "unit", both from 1.

    token: which view this is; with another one the cursor starts at `at`, where it says nothing at what another drawing
    says, else at 1. bar: with the cursor's own controls under it, where no other drawing of the group has them.
    """
    tree = {**diagram.tree(), "name": key, "group": group, "token": token, "at": dict(at or {}), "bar": bar}
    registered("cell")(key=key, data=pack(tree))
