"""One message of numbers: a tree of plain values whose arrays travel as bytes, not as text.

    4 bytes        length n of the tree, little-endian
    n bytes        the tree as JSON; an array stands there as {"$array": [type, shape, offset]}
    from a multiple of 8 on: the arrays, each at its offset from there, a multiple of 8

The reader is payload.js. A chart's arrays, a cell's values and a live run's columns all come this way.
"""

import json
import struct
from typing import Any

import numpy as np

TYPES = {"f8": "<f8", "f4": "<f4", "i4": "<i4", "u1": "u1"}
ALIGN = 8


def pack(tree: Any) -> bytes:
    """A tree of dicts, lists, numpy arrays and plain values as one message; NaN outside an array becomes null."""
    arrays: list[bytes] = []
    head = json.dumps(_plain(tree, arrays), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    start = -(-(4 + len(head)) // ALIGN) * ALIGN
    return b"".join([struct.pack("<I", len(head)), head, bytes(start - 4 - len(head)), *arrays])


def _plain(value: Any, arrays: list[bytes]) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item, arrays) for key, item in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return _reference(value, arrays)
    if isinstance(value, np.ndarray):
        return _plain(value.tolist(), arrays)
    if isinstance(value, list | tuple):
        return [_plain(item, arrays) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item(), arrays)
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def _reference(array: np.ndarray, arrays: list[bytes]) -> dict[str, list[Any]]:
    kind = "f4" if array.dtype == np.float32 else "f8"
    if array.dtype.kind == "b" or array.dtype == np.uint8:
        kind = "u1"
    elif array.dtype.kind in "iu" and (not array.size or np.abs(array).max() < 2**31):
        kind = "i4"
    data = np.ascontiguousarray(array, dtype=TYPES[kind]).tobytes()
    offset = sum(map(len, arrays))
    arrays.append(data + bytes(-len(data) % ALIGN))
    return {"$array": [kind, list(array.shape), offset]}
