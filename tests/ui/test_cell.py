"""The cell component: what reaches the browser is a stub, once, and the diagram as bytes."""

import json
import struct

from streamlit.testing.v1 import AppTest

from rnnviz.ui import components, serving


def drawn() -> None:
    import numpy as np

    from rnnviz.figures.diagrams import folded
    from rnnviz.results import Reading
    from rnnviz.ui.components.cell import cell

    reading = Reading("HI", ("H", "I"), 0, np.full((3, 2), 0.5), np.full((2, 2), 0.5), 1.0, 1.0, 0.5, 10, 12)
    cell(folded(reading), key="one", group="word", token="HI")
    cell(folded(reading), key="two", group="word", token="HI", at={"step": 2}, bar=True)


def heads(app: AppTest) -> list[dict]:
    """The trees of the messages, their arrays as references."""
    messages = [element.proto.bytes for element in app.get("bidi_component")]
    sizes = [struct.unpack("<I", message[:4])[0] for message in messages]
    return [json.loads(message[4 : 4 + size]) for message, size in zip(messages, sizes, strict=True)]


def test_a_diagram_travels_as_bytes_with_its_cursor():
    app = AppTest.from_function(drawn).run()
    assert not app.exception
    one, two = heads(app)
    assert (one["kind"], one["group"], one["token"], one["bar"]) == ("folded", "word", "HI", False)
    assert one["at"] == {}
    assert (two["at"], two["bar"]) == ({"step": 2}, True)
    assert one["values"]["h"]["$array"][:2] == ["f8", [3, 2]]


def test_it_is_registered_once_and_the_stub_imports_what_is_served():
    assert components.registered("cell") is components.registered("cell")
    stub = components.STUB.format(path=serving.address("cell/cell.js"))
    assert stub.count("\n") <= 3
    assert len(stub) < 300
    assert f'import(new URL("{serving.address("cell/cell.js")}", location.origin).href)' in stub
    assert "{{" not in stub
    served = serving.assets()
    assert {"cell/cell.js", "cell/cell.css", "cursor.js", "payload.js", "cursor.css"} <= set(served)


def test_the_scripts_parse_nothing():
    text = serving.assets()["cell/cell.js"].read_text(encoding="utf-8")
    for parser in ("innerHTML", "outerHTML", "insertAdjacentHTML", "DOMParser", "eval("):
        assert parser not in text
