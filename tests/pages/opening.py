"""A page run as a script, without a browser."""

import json
import math
import struct
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
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
    """What the page wrote as HTML, as a reader sees its letters; and what its charts say in words."""
    written = [element.proto.body for element in at.get("html")]
    return unescape("\n".join([*written, *(message["alt"] for message in sent(at) if "alt" in message)]))


def address(at: AppTest) -> dict[str, str]:
    """The query that the page has written, without its version."""
    values = {key: value if isinstance(value, str) else value[-1] for key, value in at.query_params.items()}
    return {key: value for key, value in values.items() if key != "v"}


def sent(at: AppTest) -> list[Any]:
    """What the charts got, arrays as lists."""
    return [unpacked(component.proto.bytes) for component in at.get("bidi_component")]


def drawn(at: AppTest) -> list[Any]:
    """The figures of the charts."""
    return [message["figure"] for message in sent(at) if "figure" in message]


def unpacked(message: bytes) -> Any:
    """The tree of a message of components/payload.py, read without it."""
    (length,) = struct.unpack_from("<I", message)
    memory = message[-(-(4 + length) // 8) * 8 :]

    def array(found: dict[str, Any]) -> Any:
        if "$array" not in found:
            return found
        kind, shape, offset = found["$array"]
        values = np.frombuffer(memory, dtype=f"<{kind}", count=math.prod(shape), offset=offset)
        return values.reshape(shape).tolist()

    return json.loads(message[4 : 4 + length], object_hook=array)


def kept(at: AppTest, page: str) -> tuple[str, str]:
    """Keep, unfolded: the link and the code. Folded it sends neither."""
    assert not at.code
    at.session_state[f"{page}_keep"] = True
    at.run()
    assert not at.exception
    link, code = (block.value for block in at.code)
    return link, code
