"""Record what pages open on: the race of three cells on the adding problem, T = 100, by the book's recipe, and the
two short trainings of the learning page's scenes.

    PYTHONPATH=. python benchmarks/record_race.py [folder | short]

Trains for a quarter of an hour on one core and writes rnnviz/recorded/*.npz. Each cell's run stays in the folder
(data/race) with its last snapshot: a recording that was stopped goes on, and writing the file anew takes seconds.
"short" records the two short trainings alone, in seconds.
"""

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnviz.analysis.learning import escape, smoothed
from rnnviz.config import TrainConfig
from rnnviz.recorded import BEYOND, FILE, SHORT
from rnnviz.results import reach
from rnnviz.scenes import SCENES
from rnnviz.trace import unroll
from rnnviz.training import Snapshot, network, train
from rnnviz.ui import caches, links
from rnnviz.ui.controls import CONTROLS

CELLS = ("gru", "rnn", "lstm")
STEPS = 3200
EVERY = 20
SAVED = 100

# The sequence of the home picture: fixed noise, two marks (steps counted from 1); the first number is the reader's.
MARKS = (12, 71)
SECOND = 0.45
VALUES = np.linspace(0, 1, 21)


def recipe(cell: str) -> TrainConfig:
    """Torch's initialisation and Adam, as the learning page runs it: Le et al. (2015), Arjovsky et al. (2016)."""
    return TrainConfig(
        cell=cell,
        hidden=64,
        length=100,
        batch=64,
        steps=STEPS + 1,
        learning_rate=1e-3,
        clip=1.0,
        seed=0,
        probe_every=EVERY,
        probe_batch=64,
    )


def record(folder: Path) -> None:
    """Train each cell to the end, from where the folder has it, then write what the pages show."""
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {"values": VALUES, "marks": np.array(MARKS), "sequence": sequence()[:, 0].numpy()}
    for cell in CELLS:
        looks = run(folder, cell)
        arrays |= {f"{cell}_{name}": array for name, array in shown(cell, looks).items()}
        report(cell, arrays)
    np.savez_compressed(FILE, **arrays)
    print(f"{FILE.name}: {FILE.stat().st_size / 1000:.0f} kB")


def run(folder: Path, cell: str) -> dict[str, np.ndarray]:
    """All losses, and at each EVERY-th step listening, log_answer and the weights, before the step's update."""
    file, state = folder / f"{cell}.npz", folder / f"{cell}.snapshot"
    columns: dict[str, list[Any]] = {}
    start = None
    if file.exists():
        with np.load(file) as kept:
            columns = {name: list(kept[name]) for name in kept.files}
        start = Snapshot.from_bytes(state.read_bytes())
        if start.step > STEPS:
            return {name: np.array(values) for name, values in columns.items()}
    for seen in train(recipe(cell), start=start):
        columns.setdefault("losses", []).append(seen.loss)
        look = seen.probe
        if look is not None and seen.step % EVERY == 0:
            columns.setdefault("steps", []).append(seen.step)
            columns.setdefault("listening", []).append(look.listening)
            columns.setdefault("log_answer", []).append(look.log_answer)
            for name, weight in look.weights.items():
                columns.setdefault(name, []).append(weight)
        if seen.step % SAVED == 0:
            print(
                f"{cell} {seen.step:5d}  {smoothed(np.array(columns['losses']))[-1]:.4f}",
                None if look is None else look.reach,
                flush=True,
            )
            np.savez(file, **{name: np.array(values) for name, values in columns.items()})
            state.write_bytes(seen.snapshot().to_bytes())
    return {name: np.array(values) for name, values in columns.items()}


def shown(cell: str, looks: dict[str, np.ndarray]) -> dict[str, Any]:
    """What the pages show of a run. The reach is that of the rounded curve: what is drawn agrees to the step."""
    log_answer = looks["log_answer"].astype(np.float16)
    reaches = [reach(curve.astype(float)) for curve in log_answer]
    loss = smoothed(looks["losses"])
    left = escape(np.arange(len(loss)), loss)
    weights = {name: looks[name] for name in looks if name not in ("losses", "steps", "listening", "log_answer")}
    return {
        "steps": looks["steps"].astype(np.int32),
        "loss": loss[looks["steps"]].astype(np.float32),
        "escape": np.array(BEYOND if left is None else left),
        "reach": np.array([BEYOND if k is None else k for k in reaches], np.int16),
        "listening": looks["listening"].astype(np.float32),
        "log_answer": log_answer,
        "answers": np.array([answers(cell, {n: w[k] for n, w in weights.items()}) for k in range(len(looks["steps"]))]),
    }


def sequence() -> Tensor:
    """The home picture's sequence, as often as its first number has values: [time, values, 2]."""
    noise = torch.rand(100, generator=torch.Generator().manual_seed(0))
    noise[MARKS[1] - 1] = SECOND
    x = torch.zeros(100, len(VALUES), 2)
    x[..., 0] = noise.unsqueeze(1)
    x[MARKS[0] - 1, :, 0] = torch.from_numpy(VALUES).float()
    for step in MARKS:
        x[step - 1, :, 1] = 1
    return x


def answers(cell: str, weights: dict[str, np.ndarray]) -> np.ndarray:
    net, named = network(recipe(cell), weights)
    h = unroll(net, sequence())["h"][-1]
    return (h @ named["W_y"] + named["b_y"]).numpy()


def short(scene: str) -> TrainConfig:
    """What the button Train yours of a scene of the learning page trains."""
    known = {s.name: dict(s.settings) for s in SCENES["adding_problem"]}
    return caches.train_config(links.base(CONTROLS["adding_problem"], known, scene))


def record_short() -> None:
    """Train what the scenes train, seconds each, and write every step's smoothed loss and every probe."""
    torch.set_num_threads(1)
    for scene, (cell, _) in SHORT.items():
        config = short(scene)
        seen = list(train(config))
        looks = [(record.step, record.probe) for record in seen if record.probe is not None]
        file = FILE.with_name(f"{scene}.npz")
        np.savez_compressed(
            file,
            length=np.array(config.length, np.int32),
            step=np.array([record.step for record in seen], np.int32),
            loss=smoothed(np.array([record.loss for record in seen])).astype(np.float32),
            probe_step=np.array([step for step, _ in looks], np.int32),
            reach=np.array([BEYOND if look.reach is None else look.reach for _, look in looks], np.int16),
            listening=np.array([look.listening for _, look in looks], np.float32),
        )
        with np.load(file) as kept:
            left = escape(kept["step"], kept["loss"])
            print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB, {cell}, escape {left}")
            for row in range(len(looks)):
                print(f"  {kept['probe_step'][row]:5d}  {kept['reach'][row]}  {kept['listening'][row]}")


def report(cell: str, arrays: dict[str, Any]) -> None:
    """The numbers that scenes and their checks stand on."""
    steps = list(arrays[f"{cell}_steps"])
    print(f"{cell}: escape {arrays[f'{cell}_escape']}, last loss {arrays[f'{cell}_loss'][-1]:.4f}")
    for step in (0, 260, 500, 700, 800, 900, 940, 1000, STEPS):
        k = steps.index(step)
        parts = [f"{arrays[f'{cell}_{name}'][k]}" for name in ("loss", "reach", "listening")]
        print(f"  {step:5d}  " + "  ".join(parts), flush=True)
    if not all(math.isfinite(v) for v in arrays[f"{cell}_loss"]):
        raise RuntimeError(f"{cell}: a loss is not finite")


if __name__ == "__main__":
    record_short()
    if sys.argv[1:] != ["short"]:
        record(Path(sys.argv[1] if len(sys.argv) > 1 else "data/race"))
