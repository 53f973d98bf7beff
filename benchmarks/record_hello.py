"""Record what the unrolling page opens on: HELLO, trained, read and nudged. In a second.

PYTHONPATH=. python benchmarks/record_hello.py
"""

from dataclasses import fields
from typing import Any

import numpy as np
import torch

from rnnviz.recorded import FILE, HELLO
from rnnviz.tasks.letters import STEPS, learn, nudged, read


def record() -> None:
    """Train, and write every number that the page draws, in float64."""
    torch.set_num_threads(1)
    cell, word, _, step, size = HELLO
    learned = learn(cell, word, STEPS)
    reading, push = read(cell, learned), nudged(cell, learned, step, size)
    arrays: dict[str, Any] = {f"weights.{name}": value for name, value in reading.weights.items()}
    for part, result in (("reading", reading), ("push", push)):
        values = {field.name: getattr(result, field.name) for field in fields(result)}
        arrays |= {
            f"{part}.{name}": np.asarray(value) for name, value in values.items() if name not in ("letters", "weights")
        }
    file = FILE.with_name("hello.npz")
    np.savez_compressed(file, **arrays)
    print(f"{file.name}: {file.stat().st_size / 1000:.1f} kB, {reading.says}, loss {reading.loss:.6f}")


if __name__ == "__main__":
    record()
