"""The components that draw: chart, for every Plotly figure; cell and lanes, for networks as SVG."""

from functools import cache
from typing import Any

import streamlit as st

from rnnviz.ui.serving import address

# The script is imported from its own address, where a browser keeps it: here it would ride on every message.
STUB = """const ready = import(new URL("{path}", location.origin).href);
export default (c) => {{ ready.then((m) => m.draw(c)); return () => ready.then((m) => m.leave(c.parentElement)); }};
"""


@cache
def registered(name: str) -> Any:
    """A component, by its folder's name, registered once a process: again at each run it would be a new one to the
    browser."""
    script = STUB.format(path=address(f"{name}/{name}.js"))
    return st.components.v2.component(f"rnnviz_{name}", js=script, isolate_styles=False)
