"""The components' scripts in Node, the one that Playwright brings; and what Python sends them."""

import json
import subprocess
from pathlib import Path

import numpy as np
import playwright
import plotly.graph_objects as go
import pytest

from rnnviz.figures import theme
from rnnviz.ui.components.chart import dimensions, payload
from rnnviz.ui.components.payload import pack

HOUSE = Path(__file__).parents[2]
SCRIPTS = sorted(Path(__file__).with_name("components").glob("*.test.mjs"))
NODE = str(Path(playwright.__file__).parent / "driver" / "node")


def node(*arguments: str, **options):
    return subprocess.run([NODE, *arguments], capture_output=True, text=True, cwd=HOUSE, timeout=120, **options)


def read(message: bytes):
    """The tree of a message as its reader in the browser gives it, arrays as lists, not a number as text."""
    script = """
        const { unpack } = await import("./rnnviz/ui/components/payload.js");
        const chunks = [];
        for await (const chunk of process.stdin) chunks.push(chunk);
        const plain = (key, value) => ArrayBuffer.isView(value) ? [value.constructor.name, ...Array.from(value)]
            : typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
        console.log(JSON.stringify(unpack(new Uint8Array(Buffer.concat(chunks))), plain));
    """
    done = subprocess.run([NODE, "--input-type=module", "-e", script], input=message, capture_output=True, cwd=HOUSE)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name.removesuffix(".test.mjs"))
def test_what_the_scripts_compute(script):
    done = node("--test", str(script))
    assert done.returncode == 0, done.stdout[-6000:]
    assert "# pass 0" not in done.stdout


def test_a_message_arrives_as_it_was_sent():
    tree = {
        "double": np.array([1 / 3, np.nan, np.inf]),
        "single": np.array([[1.5, -2], [0, 4]], dtype=np.float32),
        "whole": [np.array([1, -2]), np.array([2**40])],
        "flags": np.array([True, False]),
        "none": np.zeros((0, 3)),
        "text": ["<img onerror=alert(1)>", "ש", None, 3, float("nan")],
        "names": np.array(["a", "b"]),
    }
    assert read(pack(tree)) == {
        "double": ["Float64Array", 1 / 3, "NaN", "Infinity"],
        "single": [["Float32Array", 1.5, -2], ["Float32Array", 0, 4]],
        "whole": [["Int32Array", 1, -2], ["Float64Array", 2**40]],
        "flags": ["Uint8Array", 1, 0],
        "none": [],
        "text": ["<img onerror=alert(1)>", "ש", None, 3, None],
        "names": ["a", "b"],
    }


def sent(figure, **more):
    options = {"name": "n", "alt": "a", "cursor": {"group": "g", "token": "t", "bar": True}, "live": None, "says": {}}
    return payload(figure, **(options | more))


def test_arrays_of_a_figure_travel_as_bytes_and_not_as_text():
    fig = theme.figure()
    fig.add_scatter(x=np.arange(1000), y=np.linspace(0, 1, 1000), name="line")
    message = sent(fig)
    assert len(message) < 1000 * 12 + 2000
    (line,) = read(message)["figure"]["data"]
    assert line["x"][:4] == ["Int32Array", 0, 1, 2]
    assert line["y"][0] == "Float64Array"
    assert line["y"][1000] == 1.0


def test_a_cursor_spans_what_its_axes_draw_and_starts_where_the_figure_says():
    fig = theme.figure()
    fig.add_scatter(x=[3, 9, None], y=[1, 2, 3])
    fig.add_scatter(x=[0.5, 700], y=[1, 2])
    fig.add_heatmap(z=np.zeros((4, 2)), yaxis="y2", xaxis="x2", x=[1, 2])
    theme.cursor(fig, {"lag": 5000}, x="lag", x2="step", y2="unit")
    theme.tell(fig, lines=[3, 2, 1, 0])
    found = dimensions({"data": [t.to_plotly_json() for t in fig.data], "layout": fig.layout.to_plotly_json()})
    assert found == {
        "lag": {"low": 1, "high": 700, "each": 6, "stride": 3, "at": 700, "label": "lag"},
        "step": {"low": 1, "high": 2, "each": 1, "stride": 1, "at": None, "label": "step"},
        "unit": {"low": 1, "high": 4, "each": 1, "stride": 1, "at": None, "label": "unit"},
    }


def test_a_figure_without_a_cursor_joins_no_group_and_an_empty_one_has_an_extent():
    assert read(sent(theme.figure()))["cursor"] is None
    empty = theme.figure()
    theme.cursor(empty, x="lag")
    assert read(sent(empty))["cursor"]["dims"]["lag"]["high"] == 0


def test_what_is_said_stands_at_its_values():
    fig = go.Figure()
    assert read(sent(fig, says={0: "zero", 50: "fifty"}))["says"] == {"at": [0, 50], "texts": ["zero", "fifty"]}
    assert read(sent(fig, live="/api/runs/x/stream"))["live"] == {"path": "/api/runs/x/stream"}
