"""The lanes: two networks of a race drawn as SVG under a cursor of training step and first number."""

from collections.abc import Mapping
from typing import Any

from rnnviz.ui.components import registered
from rnnviz.ui.components.payload import pack


def lanes(race: Mapping[str, Any], *, key: str, group: str, token: str, tour: Mapping[str, Any] | None = None) -> Any:
    """Draw what rnnviz.figures.home.lanes() gives, with the cursor's controls and its verdict under it.

    group, token: which cursor it obeys, and which view that is. tour: {"dim", "points"}, a list of [milliseconds,
    value]; it plays once by itself in a browser's tab, unless a cursor stands in the address or the reader wishes less
    motion, and again by the play button at its end. Returns the cursor as the browser told it when it was last about
    to be kept, {"token": ..., dimension: value}, or None.
    """
    tree = {**race, "group": group, "token": token, "tour": None if tour is None else dict(tour)}
    told = registered("lanes")(
        key=key, data=pack(tree), height="content", default={"at": None}, on_at_change=lambda: None
    )
    return told["at"]
