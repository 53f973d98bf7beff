"""Keep: the link of a view, the code that computes it again, its data."""

import csv
import io
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import numpy as np
import streamlit as st

from rnnviz.scenes import SCENES
from rnnviz.ui import links
from rnnviz.ui.controls import CONTROLS
from rnnviz.ui.scenes import View


def keep(view: View, code: str, data: Mapping[str, Any]) -> None:
    """Draw Keep, folded: data maps a column's name to an array; columns of several lengths are padded with nothing."""
    with st.expander("Keep · link, code, data", key=f"{view.page}_keep"):
        st.caption("The link opens exactly this view.")
        st.code(link(view), language=None, wrap_lines=True)
        st.caption("The code computes it again, with the package alone.")
        st.code(code, language="python")
        with st.container(horizontal=True):
            st.download_button(
                "Data as CSV", as_csv(data), f"{view.page}.csv", "text/csv", key=f"{view.page}_csv", on_click="ignore"
            )
            st.download_button(
                "Data as JSON",
                as_json(data),
                f"{view.page}.json",
                "application/json",
                key=f"{view.page}_json",
                on_click="ignore",
            )


def link(view: View) -> str:
    """The address of this view, from the one under which the page was opened."""
    scenes = {scene.name: dict(scene.settings) for scene in SCENES[view.page]}
    query = links.write(view.page, CONTROLS[view.page], scenes, view.settings)
    here = urlsplit(st.context.url or "")
    return urlunsplit((here.scheme, here.netloc, here.path, urlencode(query), ""))


def as_csv(data: Mapping[str, Any]) -> str:
    columns = {name: np.asarray(values).ravel() for name, values in data.items()}
    longest = max((len(c) for c in columns.values()), default=0)
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(columns)
    for row in range(longest):
        table.writerow([repr(c[row].item()) if row < len(c) else "" for c in columns.values()])
    return out.getvalue()


def as_json(data: Mapping[str, Any]) -> str:
    """What is not finite is null: JSON has no word for it."""

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(v) for v in value]
        return value if not isinstance(value, float) or np.isfinite(value) else None

    return json.dumps({name: plain(np.asarray(values).tolist()) for name, values in data.items()})
