"""The chart component: a figure of rnnviz.figures, drawn in the browser on one Plotly node that is kept."""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rnnviz.figures.theme import DIMENSIONS
from rnnviz.ui.components import registered
from rnnviz.ui.components.payload import pack

FEW = 8
"""Steps, up to which each has its tick."""


def chart(
    figure: go.Figure,
    *,
    key: str,
    alt: str,
    group: str,
    token: str = "",
    bar: bool = False,
    live: str | None = None,
    says: Mapping[int, str] | None = None,
) -> None:
    """Draw a figure.

    alt: what it shows, in words. group: the drawings that share a cursor; token: which view of the group this is, with
    another one the cursor begins anew. bar: with the cursor's controls. live: the address of a run's stream, which
    fills the traces that say meta.column. says: a sentence for values of the cursor's first dimension, which stands
    under the picture; of markup it may hold sup and sub.
    """
    more = {"group": group, "token": token, "bar": bar}
    data = payload(figure, name=key, alt=alt, cursor=more, live=live, says=says or {})
    registered("chart")(key=key, data=data, height="content")


def payload(
    figure: go.Figure, *, name: str, alt: str, cursor: dict[str, Any], live: str | None, says: Mapping[int, str]
) -> bytes:
    """A figure and all that its drawing has to know, as one message."""
    plain: Any = _arrays(figure.to_dict())
    layout = plain["layout"]
    layout.pop("template", None)  # the page's colours stand in for plotly's own
    dims = dimensions(plain)
    for axis, dim in (layout.get("meta") or {}).get("cursor", {}).items():
        if axis[0] == "x" and dims[dim]["high"] - dims[dim]["low"] < FEW:
            layout.setdefault(f"xaxis{axis[1:]}", {})["dtick"] = 1  # there is no half step
    return pack(
        {
            "figure": {"data": plain["data"], "layout": layout},
            "height": layout.get("height", 436),
            "name": name,
            "alt": alt,
            "cursor": {**cursor, "dims": dims} if dims else None,
            "live": None if live is None else {"path": live},
            "says": {"at": list(says), "texts": list(says.values())} if says else None,
        }
    )


def dimensions(figure: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What a figure knows of each dimension of its cursor: extent, stride, where it stands at first, and its name."""
    meta = figure["layout"].get("meta") or {}
    found: dict[str, dict[str, Any]] = {}
    for axis, dim in meta.get("cursor", {}).items():
        low, high = _extent(figure, axis, meta)
        if dim in found:
            low, high = min(low, found[dim]["low"]), max(high, found[dim]["high"])
        given = meta.get("at", {}).get(dim)
        at = None if given is None else min(max(int(given), low), high)
        stride = max(1, round((high - low) / 200))
        each = max(_spacing(figure, axis), found.get(dim, {}).get("each", 1))
        found[dim] = {"low": low, "high": high, "each": each, "stride": stride, "at": at, "label": DIMENSIONS[dim]}
    return found


def _spacing(figure: dict[str, Any], axis: str) -> int:
    """From one value of an axis to the next, as the longest of its lines has them."""
    gaps = [np.diff(values) for values in _values(figure, axis) if len(values) > 1]
    return max(1, round(float(np.median(max(gaps, key=len))))) if gaps and axis[0] == "x" else 1


def _extent(figure: dict[str, Any], axis: str, meta: dict[str, Any]) -> tuple[int, int]:
    if axis[0] == "y" and "lines" in meta:
        return 1, max(1, len(meta["lines"]))
    known = np.concatenate([np.zeros(0), *_values(figure, axis)])
    return (int(np.ceil(known.min())), int(np.floor(known.max()))) if known.size else (0, 0)


def _values(figure: dict[str, Any], axis: str) -> list[np.ndarray]:
    """What the traces of an axis have on it, as far as it is known."""
    of = f"{axis[0]}axis"
    mine = [trace.get(axis[0]) for trace in figure["data"] if trace.get(of, axis[0]) == axis]
    values = [np.asarray(given, dtype=float) for given in mine if isinstance(given, np.ndarray | list)]
    return [row[np.isfinite(row)] for row in values]


def _arrays(value: Any) -> Any:
    """Plotly's base64 back into arrays, which travel as bytes."""
    if isinstance(value, dict):
        if "bdata" in value and "dtype" in value:
            flat = np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
            shape = value.get("shape")
            return flat.reshape([int(n) for n in shape.split(",")]) if shape else flat
        return {key: _arrays(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_arrays(item) for item in value]
    return value
