"""Who runs a run: the work in this process with a training that is made up, then real processes with the real one."""

import dataclasses
import functools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rnnviz.config import TrainConfig
from rnnviz.results import Record
from rnnviz.runs import worker
from rnnviz.runs.packing import pack_configs
from rnnviz.runs.run import Limits, Lost
from rnnviz.runs.store import RunStore, StoreError
from rnnviz.runs.supervisor import TAKEN, Supervisor, _spawn, default_slots
from rnnviz.runs.worker import work
from rnnviz.training import Snapshot, train

TINY = TrainConfig(hidden=4, length=3, batch=2, steps=20, probe_every=8)
LONG = dataclasses.replace(TINY, cell="rnn", steps=20_000, probe_every=500)
PAIR = tuple(
    TrainConfig(cell=cell, hidden=4, length=20, batch=4, steps=300, probe_every=50) for cell in ("lstm", "rnn")
)
"""Small, and still slow enough to be interrupted on a fast machine."""
HOUSE = Path(__file__).parents[2]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    store = RunStore(f"sqlite:///{tmp_path / 'runs.sqlite'}", limits=Limits(live_per_owner=100))
    yield store
    store.close()


def claimed(store: RunStore, *configs: TrainConfig) -> tuple[str, int]:
    store.create(configs, "ann")
    claim = store.claim()
    assert claim is not None
    return claim


def eventually(what: Callable[[], Any], seconds: float = 30.0) -> Any:
    """Wait until it is true: the machine of a test may be busy."""
    until = time.monotonic() + seconds
    while not (value := what()):
        assert time.monotonic() < until, "it has not come about"
        time.sleep(0.05)
    return value


@functools.cache
def undisturbed(config: TrainConfig) -> tuple[tuple[Record, ...], Snapshot]:
    records, last = [], None
    for record in train(config):
        records.append(record)
        last = record.snapshot
    assert last is not None
    return tuple(records), last()


def assert_same_state(ours: bytes, theirs: Snapshot) -> None:
    one = Snapshot.from_bytes(ours)
    assert one.step == theirs.step
    for before, after in ((theirs.weights, one.weights), (theirs.optimizer, one.optimizer)):
        assert before.keys() == after.keys()
        assert all(torch.equal(before[name], after[name]) for name in before)
    assert torch.equal(theirs.generator, one.generator)


def assert_same_numbers(store: RunStore, id: str) -> None:
    """The records and the last state of a run are those of train() alone, bit for bit."""
    run = store.read(id)
    for index, (config, curve) in enumerate(zip(run.configs, run.curves, strict=True)):
        records, last = undisturbed(config)
        assert curve.step.tolist() == [record.step for record in records]
        for name in ("loss", "grad_norm", "clipped", "update"):
            np.testing.assert_array_equal(getattr(curve, name), [getattr(record, name) for record in records])
        assert curve.error.tolist() == [record.probe.error for record in records if record.probe is not None]
        assert np.all(np.diff(curve.seconds) > 0)  # time spent goes on counting over an interruption
        assert_same_state(store.checkpoints(id)[index], last)


# The work, in this process.


def test_run_trains_a_step_of_each_in_turn_to_its_end(store: RunStore) -> None:
    configs = [TINY, dataclasses.replace(TINY, cell="lstm", steps=10), dataclasses.replace(TINY, cell="rnn")]
    id, attempt = claimed(store, *configs)
    order = []

    def noted(config: TrainConfig, start: Snapshot | None = None) -> Iterator[Record]:
        for record in train(config, start):
            order.append((record.step, configs.index(config)))
            yield record

    work(store, id, attempt, noted)
    run = store.read(id)
    assert (run.state, run.reason, run.done, run.total) == ("finished", "", 50, 50)
    assert order == sorted(order)
    assert_same_numbers(store, id)
    assert store.snapshots(id, 0) == (0, 8, 16)
    newest = run.curves[1].newest
    assert newest is not None
    assert set(newest.gates) == {"i", "f", "g", "o"}


@pytest.mark.parametrize("after", [1, 10, 19])
def test_interrupted_run_goes_on_to_the_same_numbers(
    store: RunStore, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    monkeypatch.setattr(worker, "BEAT", 0.0)
    id, attempt = claimed(store, TINY, dataclasses.replace(TINY, cell="lstm"))
    asked = iter(range(10_000))
    work(store, id, attempt, train, lambda: next(asked) >= 2 * after)
    run = store.find(id)
    assert (run.state, run.reason) == ("paused", worker.SERVER_GONE)
    assert 2 * after <= run.done < run.total
    store.want(id, "run", "ann")
    _, attempt = store.claim() or ("", 0)
    work(store, id, attempt, train)
    assert store.find(id).state == "finished"
    assert_same_numbers(store, id)


def test_steps_after_the_last_checkpoint_are_replayed(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process: its records reach further than its checkpoint."""
    monkeypatch.setattr(worker, "BEAT", 0.0)
    monkeypatch.setattr(worker, "CHECKPOINT", 0.02)
    id, attempt = claimed(store, TINY)

    def killed(config: TrainConfig, start: Snapshot | None = None) -> Iterator[Record]:
        for record in train(config, start):
            if record.step == 17:
                raise KeyboardInterrupt  # not an Exception: nothing in work() handles it, as nothing handles a kill
            if record.step == 10:
                time.sleep(0.03)
            yield record
            if record.step == 10:
                monkeypatch.setattr(worker, "CHECKPOINT", 100.0)

    with pytest.raises(KeyboardInterrupt):
        work(store, id, attempt, killed)
    assert store.read(id).curves[0].step[-1] == 16
    assert Snapshot.from_bytes(store.checkpoints(id)[0]).step == 11
    store.settle(id, "failed", "killed")
    store.want(id, "run", "ann")
    _, attempt = store.claim() or ("", 0)
    work(store, id, attempt, train)
    assert_same_numbers(store, id)


def test_continued_run_of_somebody_else_ends_with_the_same_numbers(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "BEAT", 0.0)
    id, attempt = claimed(store, TINY)
    asked = iter(range(1000))
    work(store, id, attempt, train, lambda: next(asked) > 10)
    new = store.continue_from(id, "bob")
    _, attempt = store.claim() or ("", 0)
    work(store, new, attempt, train)
    assert_same_numbers(store, new)
    assert store.find(id).state == "paused"


def test_wish_is_seen_within_a_step_after_the_beat(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "BEAT", 0.0)
    for wish, state in (("pause", "paused"), ("stop", "stopped")):
        id, attempt = claimed(store, TINY)

        def asking(config: TrainConfig, start: Snapshot | None, id: str = id, wish: Any = wish) -> Iterator[Record]:
            for record in train(config, start):
                if record.step == 7:
                    store.want(id, wish, "ann")
                yield record

        work(store, id, attempt, asking)
        assert (store.find(id).state, store.find(id).done) == (state, 8)
        assert Snapshot.from_bytes(store.checkpoints(id)[0]).step == 8


def test_run_that_is_not_finite_ends_with_the_reason_and_its_last_finite_state(store: RunStore) -> None:
    wild = dataclasses.replace(TINY, cell="rnn", activation="relu", recurrent="identity", gain=1e30, clip=None)
    id, attempt = claimed(store, wild, TINY)
    work(store, id, attempt, train)
    run = store.read(id)
    assert run.state == "finished"
    assert run.reason == run.curves[0].fault
    assert "not finite" in run.reason
    assert run.curves[0].done < run.curves[0].step.size  # the step that failed is recorded, but was not done
    assert run.curves[1].done == TINY.steps
    weights = Snapshot.from_bytes(store.checkpoints(id)[0]).weights
    assert all(bool(torch.isfinite(value).all()) for value in weights.values())


def test_fault_of_the_program_is_said_and_loses_nothing(store: RunStore, caplog: pytest.LogCaptureFixture) -> None:
    id, attempt = claimed(store, TINY)

    def broken(config: TrainConfig, start: Snapshot | None) -> Iterator[Record]:
        for record in train(config, start):
            if record.step == 5:
                raise RuntimeError("out of memory")
            yield record

    work(store, id, attempt, broken)
    run = store.read(id)
    assert (run.state, run.reason) == ("failed", "The training broke off: RuntimeError, out of memory")
    assert run.curves[0].step.tolist() == [0, 1, 2, 3, 4]
    assert "out of memory" in caplog.text


def test_checkpoint_that_does_not_fit_is_said(store: RunStore) -> None:
    id, attempt = claimed(store, TINY)
    _, other = undisturbed(dataclasses.replace(TINY, hidden=3))
    store.append(id, [], checkpoints={0: (other.step - 1, other.to_bytes())}, attempt=attempt)
    work(store, id, attempt, train)
    run = store.find(id)
    assert run.state == "failed"
    assert "The training broke off: ValueError" in run.reason
    assert "this config takes" in run.reason


class Stubborn(RunStore):
    """A store whose first writes of records fail."""

    failures = 3

    def append(self, *args: Any, **options: Any) -> Any:
        if self.failures > 0:
            self.failures -= 1
            raise StoreError("busy")
        return super().append(*args, **options)


def test_store_out_of_reach_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "BEAT", 0.01)
    store = Stubborn(f"sqlite:///{tmp_path / 'runs.sqlite'}")
    id, attempt = claimed(store, TINY)
    work(store, id, attempt, train)
    assert store.failures == 0
    assert_same_numbers(store, id)
    id, attempt = claimed(store, TINY)
    store.failures = 1_000_000
    monkeypatch.setattr(worker, "STORE_PATIENCE", 0.05)
    with pytest.raises(StoreError, match="busy"):
        work(store, id, attempt, train)
    store.close()


def test_process_whose_run_was_taken_over_writes_nothing(store: RunStore) -> None:
    id, attempt = claimed(store, TINY)
    store.recover("gone")
    with pytest.raises(Lost):
        work(store, id, attempt, train)
    assert (store.find(id).state, store.find(id).done) == ("paused", 0)


# Real processes.


@pytest.fixture
def supervise(store: RunStore) -> Iterator[Callable[..., Supervisor]]:
    started = []

    def start(**options: Any) -> Supervisor:
        # beside other tests on two cores, a worker that stands back would hardly get to its turn
        started.append(Supervisor(lambda: store, **({"poll": 0.05, "nice": 0} | options)))
        started[-1].start()
        return started[-1]

    yield start
    for supervisor in started:
        supervisor.close()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # an orphan that has ended may wait for long until somebody asks for its exit code
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return not Path("/proc/self/stat").exists()  # gone meanwhile, or a system without /proc


ALONE = """
import sys
from rnnviz.config import TrainConfig
from rnnviz.runs.packing import unpack_configs
from rnnviz.runs.store import RunStore
from rnnviz.runs.worker import work
from rnnviz.training import train
store = RunStore(sys.argv[1])
store.create(unpack_configs(sys.argv[2]), "alone")
work(store, *store.claim(), train)
"""


@pytest.fixture(scope="module")
def pair_alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], tuple[RunStore, str]]]:
    """PAIR trained to its end by a process that nobody disturbs, at the same time as the tests."""
    url = f"sqlite:///{tmp_path_factory.mktemp('alone') / 'runs.sqlite'}"
    with subprocess.Popen([sys.executable, "-c", ALONE, url, pack_configs(PAIR)], cwd=HOUSE) as process:
        store = RunStore(url)

        def wait() -> tuple[RunStore, str]:
            assert process.wait(60) == 0
            return store, store.list()[0].id

        yield wait
        store.close()


def assert_same_as_alone(store: RunStore, id: str, other: RunStore, alone: str) -> None:
    for mine, theirs in zip(store.read(id).curves, other.read(alone).curves, strict=True):
        assert mine.step.tolist() == list(range(300))
        for name in ("loss", "grad_norm", "clipped", "update", "rho", "error", "reach", "listening"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))
        assert np.all(np.diff(mine.seconds) > 0)
    states = other.checkpoints(alone)
    for config, ours in store.checkpoints(id).items():
        assert_same_state(ours, Snapshot.from_bytes(states[config]))
    assert store.snapshots(id, 1) == other.snapshots(alone, 1) == (0, 50, 100, 150, 200, 250)


def test_queue_pause_and_resume(
    store: RunStore,
    supervise: Callable[..., Supervisor],
    pair_alone: Callable[[], tuple[RunStore, str]],
) -> None:
    supervisor = supervise(slots=1)
    first = store.create(PAIR, "ann")
    second, third = store.create((LONG,), "bob"), store.create((LONG,), "cat")
    eventually(lambda: store.find(first).done)
    assert [store.find(id).place for id in (first, second, third)] == [None, 1, 2]
    store.want(first, "pause", "ann")
    eventually(lambda: store.find(first).state == "paused")
    assert 0 < store.find(first).done < 600
    eventually(lambda: store.find(second).done > 0)  # its turn has come
    assert store.find(third).place == 1
    store.want(first, "run", "ann")
    assert store.find(first).place == 2

    store.want(third, "stop", "cat")
    pid = supervisor.pids()[second]
    began = time.monotonic()
    store.want(second, "stop", "bob")
    eventually(lambda: store.find(second).state == "stopped" and not alive(pid))
    assert time.monotonic() - began < 3.0  # two seconds, and what the machine of a test may be late
    assert store.find(third).state == "stopped"

    eventually(lambda: store.find(first).state == "finished", 60.0)
    assert_same_as_alone(store, first, *pair_alone())


def test_killed_disobedient_and_terminated_workers(
    store: RunStore,
    supervise: Callable[..., Supervisor],
    pair_alone: Callable[[], tuple[RunStore, str]],
) -> None:
    supervisor = supervise(slots=2)
    id, other = store.create(PAIR, "ann"), store.create((LONG,), "ann")

    eventually(lambda: store.find(id).done > 1)
    os.kill(supervisor.pids()[id], signal.SIGKILL)
    eventually(lambda: store.find(id).state == "failed")
    run = store.read(id)
    assert "the process was killed (signal 9)" in run.reason
    assert [curve.step.tolist() for curve in run.curves] == [list(range(curve.done)) for curve in run.curves]
    assert 1 < run.done < 600
    store.want(id, "run", "ann")

    eventually(lambda: store.find(other).done > 0)
    pid = supervisor.pids()[other]
    os.kill(pid, signal.SIGSTOP)  # it will not hear anything any more
    began = time.monotonic()
    store.want(other, "stop", "ann")
    eventually(lambda: store.find(other).state == "stopped" and not alive(pid))
    assert 1.0 < time.monotonic() - began < 3.0

    store.want(other, "run", "ann")
    before = store.find(other).done
    eventually(lambda: store.find(other).done > before)
    os.kill(supervisor.pids()[other], signal.SIGTERM)
    eventually(lambda: store.find(other).state == "paused")
    assert Snapshot.from_bytes(store.checkpoints(other)[0]).step == store.find(other).done

    eventually(lambda: store.find(id).state == "finished", 60.0)
    assert_same_as_alone(store, id, *pair_alone())


SERVER = """
import sys, time
from rnnviz.runs.store import RunStore
from rnnviz.runs.supervisor import Supervisor
supervisor = Supervisor(lambda: RunStore(sys.argv[1]), slots=1, poll=0.05, nice=0)
supervisor.start()
while True:
    time.sleep(0.05)
    print(*supervisor.pids().values(), flush=True)
"""


def test_worker_outlives_its_server_by_moments_and_the_next_server_goes_on(
    store: RunStore, supervise: Callable[..., Supervisor]
) -> None:
    id = store.create((LONG,), "ann")
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, store.url], cwd=HOUSE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        pid = int(next(line for line in server.stdout if line.strip()))
        eventually(lambda: store.find(id).done > 0)
        server.kill()
    eventually(lambda: not alive(pid))
    run = store.find(id)
    assert (run.state, run.reason) == ("paused", worker.SERVER_GONE)
    assert Snapshot.from_bytes(store.checkpoints(id)[0]).step == run.done

    left = claimed(store, TINY)[0]  # as if the worker had been killed together with its server
    supervisor = supervise(slots=1)
    eventually(lambda: store.find(left).state == "paused")
    assert store.find(left).reason == worker.SERVER_GONE
    store.want(id, "run", "ann")
    eventually(lambda: store.find(id).done > run.done)
    pid = supervisor.pids()[id]
    began = time.monotonic()
    supervisor.close()
    assert time.monotonic() - began < 10.0
    assert not alive(pid)
    assert (store.find(id).state, store.find(id).reason) == ("paused", worker.SERVER_GONE)
    assert Snapshot.from_bytes(store.checkpoints(id)[0]).step == store.find(id).done


def test_idle_worker_is_warm_and_ends_with_the_server(store: RunStore, supervise: Callable[..., Supervisor]) -> None:
    supervisor = supervise(slots=1, nice=10)
    idle = eventually(lambda: supervisor._idle)
    assert supervisor.pids() == {}
    # it loads torch before it has a run: then libtorch stands in its map of memory
    process = Path(f"/proc/{idle.process.pid}")
    if process.exists():
        eventually(lambda: "libtorch" in (process / "maps").read_text())
        assert os.getpriority(os.PRIO_PROCESS, idle.process.pid) >= 10
    id = store.create((LONG,), "ann")
    eventually(lambda: supervisor.pids().get(id) == idle.process.pid)
    eventually(lambda: store.find(id).done > 0)
    os.kill(idle.process.pid, signal.SIGKILL)
    eventually(lambda: store.find(id).state == "failed")
    supervisor.close()
    assert supervisor._idle is None


def test_lonely_run_pauses_itself(store: RunStore, supervise: Callable[..., Supervisor]) -> None:
    supervise(slots=0, unwatched=0.3)
    id = store.create((LONG,), "ann")  # it waits for its turn: what nobody watches shall not stand in the queue either
    eventually(lambda: store.find(id).state == "paused")
    assert "Nobody watched it" in store.find(id).reason


def test_supervisor_survives_a_store_out_of_reach(
    store: RunStore, supervise: Callable[..., Supervisor], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def fail(*_: object) -> None:
        calls.append(1)
        raise StoreError("The disk is full.") if len(calls) < 3 else RuntimeError("a fault")

    monkeypatch.setattr(store, "running", fail)
    supervise(slots=1)
    eventually(lambda: len(calls) > 5)
    monkeypatch.undo()
    id = store.create((LONG,), "ann")
    eventually(lambda: store.find(id).state == "running")


def test_second_supervisor_leaves_the_runs_alone_until_the_first_ends(
    store: RunStore, supervise: Callable[..., Supervisor], caplog: pytest.LogCaptureFixture
) -> None:
    first = supervise(slots=1)
    id = store.create((LONG,), "ann")
    eventually(lambda: store.find(id).done > 0)
    guest = supervise(slots=1)
    eventually(lambda: guest._said)
    time.sleep(0.3)
    guest.close()
    assert store.find(id).state == "running"
    assert id in first.pids()
    assert caplog.text.count(TAKEN) == 1  # not at every look

    heir = supervise(slots=1)
    eventually(lambda: heir._said)
    first.close()
    assert (store.find(id).state, store.find(id).reason) == ("paused", worker.SERVER_GONE)
    store.want(id, "run", "ann")
    eventually(lambda: id in heir.pids())


def test_each_supervisor_of_a_database_without_a_file_pauses_its_own_runs_at_its_end() -> None:
    store = RunStore("sqlite://")
    other = claimed(store, TINY)[0]
    mine = claimed(store, LONG)[0]
    supervisor = Supervisor(lambda: store, slots=0)
    supervisor._active[mine] = _spawn(0)
    supervisor.close()
    assert [store.find(id).state for id in (other, mine)] == ["running", "paused"]
    store.close()


def test_store_that_opens_late_is_supervised_from_then_on(store: RunStore, caplog: pytest.LogCaptureFixture) -> None:
    ready = []

    def open_store() -> RunStore:
        if not ready:
            raise StoreError("The disk is full.")
        return store

    supervisor = Supervisor(open_store, slots=0, unwatched=0.1, poll=0.01)
    supervisor.start()
    eventually(lambda: supervisor._said)
    id = store.create((LONG,), "ann")
    time.sleep(0.2)
    assert store.find(id).state == "queued"
    ready.append(True)
    eventually(lambda: store.find(id).state == "paused")
    supervisor.close()
    assert caplog.text.count("The disk is full.") == 1


@pytest.mark.parametrize(("asked", "slots"), [("3", 3), ("0", 1), ("many", None), ("", None), ("²", None)])
def test_number_of_slots(monkeypatch: pytest.MonkeyPatch, asked: str, slots: int | None) -> None:
    monkeypatch.setenv("RNNVIZ_RUNS", asked)
    assert default_slots() == (slots or max(1, (os.cpu_count() or 1) - 1))
