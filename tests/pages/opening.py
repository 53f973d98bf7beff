"""A page run as a script, without a browser."""

import json
from html import unescape
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

HOUSE = Path(__file__).parents[2]


def opened(page: str, query: dict[str, str] | None = None) -> AppTest:
    """The page as its link opens it; nothing failed, and no reader saw a traceback."""
    at = AppTest.from_file(str(HOUSE / "rnnviz/ui/frame.py"), default_timeout=60)
    at.switch_page(f"../../pages/{page}.py")
    for key, value in (query or {}).items():
        at.query_params[key] = value
    at.run()
    assert not at.exception
    assert not at.error
    return at


def text(at: AppTest) -> str:
    """What the page wrote as HTML, as a reader sees its letters."""
    return unescape("\n".join(element.proto.body for element in at.get("html")))


def address(at: AppTest) -> dict[str, str]:
    """The query that the page has written, without its version."""
    values = {key: value if isinstance(value, str) else value[-1] for key, value in at.query_params.items()}
    return {key: value for key, value in values.items() if key != "v"}


def drawn(at: AppTest) -> list[Any]:
    """The specs of the Plotly charts."""
    return [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]


def kept(at: AppTest, page: str) -> tuple[str, str]:
    """Keep, unfolded: the link and the code. Folded it sends neither."""
    assert not at.code
    at.session_state[f"{page}_keep"] = True
    at.run()
    assert not at.exception
    link, code = (block.value for block in at.code)
    return link, code
