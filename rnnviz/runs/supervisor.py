"""The supervisor of all runs: a thread of the server that starts their processes, buries them, and keeps order.

A page never calls it: it writes what it wants into the store, and the supervisor finds it there.
"""

import fcntl
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from rnnviz.runs import tables
from rnnviz.runs.run import Lost
from rnnviz.runs.store import RunStore, StoreError
from rnnviz.runs.worker import SERVER_GONE

log = logging.getLogger(__name__)

OBEY = 1.6
"""For how many seconds a worker may go on against what is wanted; with the polls around it, it is dead within two."""

TAKEN = "Another server trains the runs of this data folder: this one only shows them, and takes over when that ends."


@dataclass(slots=True)
class Worker:
    """A process with its run, once it has one; disobeys is since when it does something else than is wanted."""

    process: subprocess.Popen[bytes]
    attempt: int = 0
    disobeys: float | None = None
    killed: bool = False

    def take(self, url: str, id: str, attempt: int) -> None:
        """Send it to work; a process that is dead already is noticed later, by its end."""
        self.attempt = attempt
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps({"url": url, "id": id, "attempt": attempt}).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def end(self, number: int) -> None:
        """Send a signal, if it still lives."""
        if self.process.poll() is None:
            self.process.send_signal(number)

    def bury(self) -> None:
        """Wait for its end and close its input."""
        self.process.wait()
        if self.process.stdin is not None:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass


class Supervisor:
    """Starts queued runs, keeps one idle worker warm, notices the dead, kills what does not obey, pauses and prunes.

    The server starts one, and closes it at its end. Of several servers on one SQLite file one supervises, and the
    next takes over when it ends. open_store is called until it gives a store. slots: how many runs at once, by default
    RNNVIZ_RUNS, else the number of cores - 1, at least 1. unwatched: after how many seconds without a viewer a run
    pauses. poll: seconds between two looks at the store. nice: how far workers stand back behind the pages.
    """

    def __init__(
        self,
        open_store: Callable[[], RunStore],
        *,
        slots: int | None = None,
        unwatched: float = 600.0,
        poll: float = 0.2,
        nice: int = 10,
    ) -> None:
        self.slots = default_slots() if slots is None else slots
        self._open, self._unwatched, self._poll, self._nice = open_store, unwatched, poll, nice
        self._active: dict[str, Worker] = {}
        self._idle: Worker | None = None
        self._warm_at = self._tend_at = 0.0
        self._recovered = False
        self._lock: IO[Any] | None = None
        self._said = ""
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="supervisor", daemon=True)

    def start(self) -> None:
        """Begin, in a thread of its own; what a dead server left running is marked as paused first."""
        self._thread.start()

    def pids(self) -> dict[str, int]:
        """The process of each run that has one, by the run's id."""
        return {id: worker.process.pid for id, worker in list(self._active.items())}

    def close(self, timeout: float = 4.0) -> None:
        """Stop all workers, by force those that take longer than timeout, and leave their runs resumable."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(2.0)  # longer if the store is out of reach, and nobody waits for that
        workers = [*self._active.values(), *([self._idle] if self._idle else [])]
        for worker in workers:
            worker.end(signal.SIGTERM)
        until = time.monotonic() + timeout
        while any(worker.process.poll() is None for worker in workers) and time.monotonic() < until:
            time.sleep(0.02)
        for worker in workers:
            worker.end(signal.SIGKILL)
            worker.bury()
        self._idle = None
        if self._active:
            try:
                self._store.recover(SERVER_GONE, list(self._active))
            except StoreError as error:
                log.warning("%s", error)  # the next server will mark them
        self._active.clear()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @cached_property
    def _store(self) -> RunStore:
        return self._open()

    def _watch(self) -> None:
        while not self._closing.is_set():
            try:
                self._tick()
                self._said = ""
            except StoreError as error:  # it is said on the pages; here it is enough to go on trying
                if str(error) != self._said:
                    log.warning("%s", error)
                self._said = str(error)
            except Exception:
                log.exception("supervisor")  # a fault in here must not leave the queue without anybody
            self._closing.wait(self._poll)

    def _tick(self) -> None:
        self._lead()
        if not self._recovered:
            self._store.recover(SERVER_GONE)
            self._recovered = True
        now = time.monotonic()
        self._reap()
        self._enforce(now)
        while len(self._active) < self.slots and (claim := self._store.claim()) is not None:
            late = self._active.pop(claim[0], None)  # it has paused this run, and is not quite gone yet
            if late is not None:
                late.end(signal.SIGKILL)
                late.bury()
            worker, self._idle = self._idle or _spawn(self._nice), None
            self._active[claim[0]] = worker
            worker.take(self._store.url, *claim)
            self._warm_at = now + 2.0  # loading torch again shall not slow the first second of this run
        if self._idle is not None and self._idle.process.poll() is not None:
            self._idle.bury()
            self._idle, self._warm_at = None, now + 5.0  # one that dies by itself is not started again at full speed
        if self._idle is None and now >= self._warm_at:
            self._idle = _spawn(self._nice)
        if now >= self._tend_at:
            self._store.tend(self._unwatched)
            self._tend_at = now + max(self._poll, min(10.0, self._unwatched / 4))

    def _lead(self) -> None:
        """Be the one supervisor of an SQLite file until the end; StoreError while another is.

        The system takes the lock from a process that dies, and workers do not inherit it.
        """
        path = tables.lock_file(self._store.url)
        if path is None or self._lock is not None:
            return
        try:
            lock = path.open("ab")
        except OSError as error:
            raise StoreError(tables.in_words(error)) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            if isinstance(error, BlockingIOError):
                raise StoreError(TAKEN) from error
            raise StoreError(tables.in_words(error)) from error
        self._lock = lock

    def _reap(self) -> None:
        """Say of each run whose process has ended without a word how it ended."""
        for id, worker in list(self._active.items()):
            code = worker.process.poll()
            if code is None:
                continue
            try:
                if worker.killed:
                    self._store.obey(id, attempt=worker.attempt)
                else:
                    self._store.settle(id, "failed", _ending(code), attempt=worker.attempt)
            except Lost:
                pass  # it had said so itself, or was deleted
            worker.bury()
            del self._active[id]

    def _enforce(self, now: float) -> None:
        """Kill what still goes on some time after something else was wanted."""
        wishes = self._store.running()
        for id, worker in self._active.items():
            if wishes.get(id, "stop") == "run":  # a run that is not there any more is to be stopped
                worker.disobeys = None
            elif worker.disobeys is None:
                worker.disobeys = now
            elif now - worker.disobeys > OBEY:
                worker.killed = True
                worker.end(signal.SIGKILL)


def default_slots() -> int:
    """RNNVIZ_RUNS, else the number of cores - 1, at least 1."""
    try:
        return max(1, int(os.environ.get("RNNVIZ_RUNS", "")))
    except ValueError:
        return max(1, (os.cpu_count() or 1) - 1)


def _spawn(nice: int) -> Worker:
    # A fresh interpreter, never multiprocessing: that would run the script of a page again in the child. A session of
    # its own: a Ctrl-C in the server's terminal reaches the server, which then ends its workers in order.
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    process = subprocess.Popen(
        [sys.executable, "-m", "rnnviz.runs.worker", str(nice)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        start_new_session=True,
    )
    return Worker(process)


def _ending(code: int) -> str:
    """The end of a process in words."""
    cause = f"the process was killed (signal {-code})" if code < 0 else f"the process ended by itself (code {code})"
    return f"Training broke off: {cause}. Everything up to its last batch is kept, and it can go on from there."
