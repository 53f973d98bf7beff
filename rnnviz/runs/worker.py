"""The process of one run.

    python -m rnnviz.runs.worker [nice]

loads torch, waits for one line on its standard input that names a run, trains it, and ends. It also ends when that
input closes: then its server is gone.
"""

import gc
import json
import logging
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from rnnviz.config import CELLS, TrainConfig
from rnnviz.results import Record
from rnnviz.runs.run import Lost, Wish
from rnnviz.runs.store import RunStore, StoreError

log = logging.getLogger(__name__)

Train = Callable[[TrainConfig, Any], Iterator[Record]]
T = TypeVar("T")

BEAT = 0.25
"""Seconds between two batches, at which the worker also asks what is wanted."""
CHECKPOINT = 5.0
"""Seconds between two checkpoints."""
STORE_PATIENCE = 30.0
"""For how many seconds a worker tries again to write, before it gives up."""
SERVER_GONE = "The server stopped while it trained. It can go on from here."


@dataclass(slots=True)
class Lane:
    """One config of a run on its way: its records to come, the last one drawn, how many steps are done."""

    config: TrainConfig
    coming: Iterator[Record]
    done: int = 0
    last: Record | None = None
    over: bool = False

    def step(self) -> Record | None:
        """Train a step; None when there is none left."""
        record = next(self.coming, None)
        self.over = record is None or record.fault is not None or record.step + 1 >= self.config.steps
        if record is not None:
            self.last, self.done = record, record.step + 1
        return record


def work(store: RunStore, id: str, attempt: int, train: Train, interrupted: Callable[[], bool] = lambda: False) -> None:
    """Train a run to its end, or until something else is wanted, and leave it resumable.

    A step of each config in turn; a resumed run goes on from its checkpoint. interrupted says at each beat whether the
    process has to go; the run is paused then. Raises Lost, and StoreError when the store stays out of reach.
    """
    rows: list[tuple[int, Record]] = []
    beat = time.monotonic() - BEAT  # the first record is written at once: somebody is waiting for it
    kept = time.monotonic()
    wish: Wish = "run"
    gone = False
    try:
        lanes = _lanes(store, id, train)
        while wish == "run" and not gone and (open_ := [lane for lane in lanes if not lane.over]):
            lane = min(open_, key=lambda lane: lane.done)
            record = lane.step()
            if record is not None:
                rows.append((lanes.index(lane), record))
            if (now := time.monotonic()) - beat >= BEAT:
                due = now - kept >= CHECKPOINT
                wish = _save(store, id, attempt, rows, lanes if due else [])
                beat, kept, gone = time.monotonic(), now if due else kept, interrupted()
    except (Lost, StoreError):
        raise
    except Exception as error:  # whatever it is, people shall read it and keep what was there before
        log.exception("run %s", id)
        _save(store, id, attempt, rows, [])
        reason = f"The training broke off: {type(error).__name__}, {error}"[:300]
        _insist(lambda: store.settle(id, "failed", reason, attempt=attempt))
        return
    wish = _save(store, id, attempt, rows, lanes)
    if all(lane.over for lane in lanes):
        faults = " ".join(lane.last.fault for lane in lanes if lane.last is not None and lane.last.fault)
        _insist(lambda: store.settle(id, "finished", faults, attempt=attempt))
    elif gone and wish == "run":
        _insist(lambda: store.settle(id, "paused", SERVER_GONE, attempt=attempt))
    else:
        _insist(lambda: store.obey(id, attempt=attempt))


def _lanes(store: RunStore, id: str, train: Train) -> list[Lane]:
    from rnnviz.training import Snapshot  # here, so that the supervisor can read this file's names without torch

    starts = {index: Snapshot.from_bytes(data) for index, data in store.checkpoints(id).items()}
    lanes = []
    for index, config in enumerate(store.find(id).configs):
        start = starts.get(index)
        done = 0 if start is None else start.step
        lanes.append(Lane(config, train(config, start), done, over=done >= config.steps))
    return lanes


def _save(store: RunStore, id: str, attempt: int, rows: list[tuple[int, Record]], checkpoint: list[Lane]) -> Wish:
    """Write the rows and empty the list; try again while the store is out of reach. checkpoint: the lanes, or none."""
    saved = {}
    for index, lane in enumerate(checkpoint):
        if lane.last is not None:
            snapshot = lane.last.snapshot()
            saved[index] = (snapshot.step, snapshot.to_bytes())
    wish = _insist(lambda: store.append(id, rows, checkpoints=saved, attempt=attempt))
    rows.clear()
    return wish


def _insist(act: Callable[[], T]) -> T:
    """Do it, again and again while the store is out of reach."""
    until = time.monotonic() + STORE_PATIENCE
    while True:
        try:
            return act()
        except StoreError:
            if time.monotonic() > until:
                raise
            time.sleep(BEAT)


def main() -> int:
    """Wait for the name of a run on standard input, and train it; nothing to do is no error."""
    os.nice(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
    parent = os.getppid()
    import torch

    from rnnviz.training import train

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    for (
        cell
    ) in CELLS:  # the first step of an optimiser loads 800 modules more: now, not when somebody waits for a point
        next(train(TrainConfig(cell=cell, hidden=1, length=2, batch=1, steps=1)))
    # torch brings some hundred thousand objects that stay: each full collection would go through all of them
    gc.collect()
    gc.freeze()
    line = _read_line(0)
    if not line:
        return 0
    told: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: told.append(number))

    def interrupted() -> bool:
        return bool(told) or os.getppid() != parent or _closed(0)

    job = json.loads(line)
    store = RunStore(job["url"])
    try:
        work(store, job["id"], job["attempt"], train, interrupted)
    except Lost:
        log.info("run %s belongs to another process now", job["id"])
    finally:
        store.close()
    return 0


def _read_line(descriptor: int) -> bytes:
    """Bytes up to a line's end, without Python's buffer, so that what comes later can be seen; b"" if it closes."""
    line = b""
    while not line.endswith(b"\n"):
        more = os.read(descriptor, 65536)
        if not more:
            return b""
        line += more
    return line


def _closed(descriptor: int) -> bool:
    ready, _, _ = select.select([descriptor], [], [], 0)
    return bool(ready) and not os.read(descriptor, 1)


if __name__ == "__main__":
    sys.exit(main())
