"""Keep: the link of a view, the code that computes it again, its data."""

import csv
import io
import json
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import numpy as np
import streamlit as st

from rnnviz.scenes import SCENES
from rnnviz.ui import links
from rnnviz.ui.controls import CONTROLS
from rnnviz.ui.scenes import View, cursor


def keep(view: View, code: str, data: Mapping[str, Any]) -> None:
    """Draw Keep, folded: data maps a column's name to an array; columns of several lengths are padded with nothing.

    What is folded is not sent: a code block brings a highlighter of all languages, which delays every first picture.
    """
    fold = st.expander("Keep · link, code, data", key=f"{view.page}_keep", on_change="rerun")
    if not fold.open:
        return
    with fold:
        st.caption("The link opens exactly this view.")
        st.code(link(view), language=None, wrap_lines=True)
        st.caption("The code computes it again. In the project's folder: PYTHONPATH=. .venv/bin/python FILE")
        st.code(code, language="python")
        with st.container(horizontal=True):
            # Written when somebody takes it, not at every move of a slider.
            for word, write, mime in (("csv", as_csv, "text/csv"), ("json", as_json, "application/json")):
                st.download_button(
                    f"Data as {word.upper()}",
                    partial(write, data),
                    f"{view.page}.{word}",
                    mime,
                    key=f"{view.page}_{word}",
                    on_click="ignore",
                )


def link(view: View) -> str:
    """The address of this view, from the one under which the page was opened."""
    scenes = {scene.name: dict(scene.settings) for scene in SCENES[view.page]}
    query = links.write(view.page, CONTROLS[view.page], scenes, view.settings)
    if view.page == "adding_problem" and "run" in st.query_params:
        query["run"] = st.query_params["run"]
    query |= cursor(st.query_params)
    here = urlsplit(st.context.url or "")
    return urlunsplit((here.scheme, here.netloc, here.path, urlencode(query), ""))


def as_csv(data: Mapping[str, Any]) -> str:
    """A column a name, of a table one a column of it, numbered from 1; exact digits."""
    columns: dict[str, Any] = {}
    for name, values in data.items():
        array = np.asarray(values)
        parts = array.reshape(len(array), -1).T if array.ndim > 1 else [array]
        columns |= {name if array.ndim == 1 else f"{name}_{n}": part for n, part in enumerate(parts, 1)}
    longest = max((len(c) for c in columns.values()), default=0)
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(columns)
    for row in range(longest):
        table.writerow([_cell(c[row].item()) if row < len(c) else "" for c in columns.values()])
    return out.getvalue()


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def as_json(data: Mapping[str, Any]) -> str:
    """What is not finite is null: JSON has no word for it."""

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(v) for v in value]
        return value if not isinstance(value, float) or np.isfinite(value) else None

    return json.dumps({name: plain(np.asarray(values).tolist()) for name, values in data.items()})
