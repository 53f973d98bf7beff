"""What of a run is kept as bytes or text, and which training steps are kept for scrubbing; knows no database."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from io import BytesIO
from typing import Any

import numpy as np

from rnnviz.config import TrainConfig
from rnnviz.results import Array, Probe

SNAPSHOTS = 200
"""At most this many snapshots a config."""

_HALF = 6e4  # float16 ends at 65504


def spacing(step: int, first: int = 1, limit: int = SNAPSHOTS) -> int:
    """The distance in steps between the snapshots of a config that has reached step; those on multiples of it stay.

    It is first, doubled until the multiples from 0 to step number at most limit. So when they are full, every other
    one goes. It depends on the step alone: a run that resumes, or replays, keeps the same ones.
    """
    if step < 0 or first < 1 or limit < 1:
        raise ValueError(f"step is {step}, first {first}, limit {limit}: they take at least 0, 1, 1")
    gap = first
    while step // gap + 1 > limit:
        gap *= 2
    return gap


def pack_configs(configs: Sequence[TrainConfig]) -> str:
    """Configs as JSON; the numbers of NumPy become Python's."""
    return json.dumps([asdict(config) for config in configs], default=lambda value: value.item())


def unpack_configs(text: str) -> tuple[TrainConfig, ...]:
    """The inverse of pack_configs; a field that is younger than the text takes its default."""
    return tuple(TrainConfig(**fields) for fields in json.loads(text))


def pack_probe(probe: Probe, *, small: bool = False) -> bytes:
    """A probe as an npz, uncompressed: weights hardly shrink, and a worker has better things to do.

    small stores gates as float16 where they fit, good to 0.05 % from 6e-5 up; everything else keeps its type: norms
    fall far below what float32 can hold, and none of them may become a zero.
    """
    reach = -1 if probe.reach is None else int(probe.reach)
    arrays = {
        "error": np.float64(probe.error),
        "reach": np.int64(reach),
        "listening": np.asarray(probe.listening, np.float64),
        "log_answer": probe.log_answer,
        "log_grad_norm": probe.log_grad_norm,
        "inputs": probe.inputs,
        "predictions": probe.predictions,
        "targets": probe.targets,
    }
    gates = {f"gate {name}": _half(gate) if small else gate for name, gate in probe.gates.items()}
    weights = {f"weight {name}": weight for name, weight in probe.weights.items()}
    named: dict[str, Any] = {name: np.asarray(array) for name, array in (arrays | gates | weights).items()}
    file = BytesIO()
    np.savez(file, **named)
    return file.getvalue()


def unpack_probe(data: bytes) -> Probe:
    """The inverse of pack_probe; gates come as they were stored, float16 or their own type."""
    with np.load(BytesIO(data), allow_pickle=False) as file:
        arrays: dict[str, Array] = {name: file[name] for name in file.files}
    reach = int(arrays["reach"])
    first, second, unmarked = (float(value) for value in arrays["listening"])
    return Probe(
        error=float(arrays["error"]),
        reach=None if reach < 0 else reach,
        listening=(first, second, unmarked),
        log_answer=arrays["log_answer"],
        log_grad_norm=arrays["log_grad_norm"],
        inputs=arrays["inputs"],
        gates=_named(arrays, "gate "),
        predictions=arrays["predictions"],
        targets=arrays["targets"],
        weights=_named(arrays, "weight "),
    )


def _named(arrays: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _half(gate: Array) -> Array:
    gate = np.asarray(gate)
    return gate.astype(np.float16) if np.all(np.abs(gate) < _HALF) else gate.astype(np.float32)
