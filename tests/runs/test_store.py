"""What a run is: one contract, for every database that the store can stand on."""

import dataclasses
import math
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.config import TrainConfig
from rnnviz.results import Probe, Record
from rnnviz.runs.packing import pack_configs, pack_probe, spacing, unpack_configs, unpack_probe
from rnnviz.runs.run import LIVE, Lost, expected_size
from rnnviz.runs.store import WATCHING, Limits, Refused, RunStore, StoreError, UnknownRun

SMALL = TrainConfig(hidden=4, length=5, batch=4, steps=100, probe_every=10)
LOOSE = Limits(live_per_owner=100)


class Clock:
    def __init__(self) -> None:
        self.now = 1.8e9

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite:///{folder}/runs.sqlite", "sqlite://"], ids=["file", "memory"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Callable[..., RunStore]]:
    opened = []

    def open_(**options: Any) -> RunStore:
        opened.append(RunStore(request.param.format(folder=tmp_path), clock=clock, **options))
        return opened[-1]

    yield open_
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Callable[..., RunStore]) -> RunStore:
    return open_store(limits=LOOSE)


def probe(error: float = 0.25, reach: int | None = 3, seed: int = 0) -> Probe:
    rng = np.random.default_rng(seed)
    return Probe(
        error=error,
        reach=reach,
        listening=(0.5, -0.25, 1e-300),
        log_answer=np.array([-math.inf, -800.0, -1.0, -0.5, -0.1, 0.0]),
        log_grad_norm=np.array([-np.inf, -690.0, -46.0, -11.5, -2.3, 0.0]),
        inputs=rng.random((5, 2)),
        gates={"z": rng.random((5, 4)).astype(np.float32), "h": np.full((5, 4), 1e5, np.float32)},
        predictions=rng.random(8),
        targets=rng.random(8),
        weights={"W_z": rng.standard_normal((4, 2)).astype(np.float32), "b_y": np.array([0.1], np.float32)},
    )


def record(step: int, loss: float = 0.5, probe: Probe | None = None, **fields: Any) -> Record:
    values = {"grad_norm": 1.5, "clipped": step % 2 == 0, "update": 0.01, "seconds": 0.1 * (step + 1)}
    parts = {"W_h": 0.25 * step, "b": 1e-3}
    return Record(**({"step": step, "loss": loss, "parts": parts, "probe": probe} | values | fields))


def test_configs_survive_with_their_numbers() -> None:
    odd = TrainConfig(cell="lstm", learning_rate=0.1 + 0.2, clip=None, forget_bias=-5e-324, seed=2**63 - 1)
    assert unpack_configs(pack_configs([odd, SMALL])) == (odd, SMALL)
    numpy = TrainConfig(hidden=np.int64(8), learning_rate=np.float64(1 / 3), gain=np.float32(0.5))  # type: ignore[arg-type]
    assert unpack_configs(pack_configs([numpy])) == (TrainConfig(hidden=8, learning_rate=1 / 3, gain=0.5),)


def test_probe_survives_and_only_gates_that_fit_lose_digits() -> None:
    before = probe(reach=None)
    exact, small = unpack_probe(pack_probe(before)), unpack_probe(pack_probe(before, small=True))
    for after in (exact, small):
        assert (after.error, after.reach, after.listening) == (0.25, None, (0.5, -0.25, 1e-300))
        for name in ("log_answer", "log_grad_norm", "inputs", "predictions", "targets"):
            np.testing.assert_array_equal(getattr(after, name), getattr(before, name), strict=True)
        np.testing.assert_array_equal(after.weights["W_z"], before.weights["W_z"], strict=True)
        assert list(after.weights) == ["W_z", "b_y"]
        np.testing.assert_array_equal(after.gates["h"], before.gates["h"], strict=True)
    np.testing.assert_array_equal(exact.gates["z"], before.gates["z"], strict=True)
    assert small.gates["z"].dtype == np.float16
    np.testing.assert_allclose(small.gates["z"], before.gates["z"], rtol=2**-11)
    assert unpack_probe(pack_probe(probe(reach=0))).reach == 0


@given(st.integers(0, 10**7), st.integers(1, 500), st.integers(1, 300))
def test_spacing_keeps_at_most_the_limit_and_not_less_than_half(step: int, first: int, limit: int) -> None:
    gap = spacing(step, first, limit)
    kept = step // gap + 1
    assert kept <= limit
    assert gap == first or kept >= limit // 2  # it never throws away more than every other one
    doublings = gap // first
    assert gap % first == 0
    assert doublings & (doublings - 1) == 0


@given(st.integers(1, 600), st.integers(1, 60))
def test_thinning_as_a_run_goes_on_ends_as_thinning_at_once(last: int, limit: int) -> None:
    kept: list[int] = []
    for step in range(last + 1):
        gap = spacing(step, 1, limit)
        kept = [old for old in [*kept, step] if old % gap == 0]
        assert len(kept) <= limit
    assert kept == list(range(0, last + 1, spacing(last, 1, limit)))


def test_spacing_refuses_nonsense() -> None:
    with pytest.raises(ValueError, match="limit 0"):
        spacing(10, 1, 0)


def test_new_run_waits_in_the_queue(store: RunStore, clock: Clock) -> None:
    first = store.create((SMALL,), "ann", "mine")
    clock.now += 1
    second = store.create((SMALL, dataclasses.replace(SMALL, cell="rnn")), "bob")
    run = store.read(second)
    assert (run.state, run.wish, run.place, run.live, run.owner, run.name) == ("queued", "run", 2, True, "bob", "")
    assert (run.done, run.total, run.seconds, run.best, run.heartbeat) == (0, 200, 0.0, None, None)
    assert run.configs == (SMALL, dataclasses.replace(SMALL, cell="rnn"))
    assert [curve.step.shape for curve in run.curves] == [(0,), (0,)]
    assert run.curves[0].listening.shape == (0, 3)
    assert run.curves[0].newest is None
    assert len(first) >= 16
    assert [r.id for r in store.list()] == [second, first]
    assert [r.name for r in store.list("ann")] == ["mine"]
    assert store.list("nobody") == ()
    assert len({store.create((SMALL,), "ann") for _ in range(5)}) == 5


def test_every_float_comes_back_as_it_was(store: RunStore) -> None:
    id = store.create((SMALL,), "ann")
    odd = [0.1 + 0.2, 5e-324, 1.7976931348623157e308, math.inf, -math.inf, math.nan, float(np.float32(1 / 3))]
    rows = [
        record(i, x, grad_norm=x, update=x, seconds=x, rho=x, parts={"W": x}, probe=probe(x, None))
        for i, x in enumerate(odd)
    ]
    store.append(id, [(0, row) for row in rows])
    curve = store.read(id).curves[0]
    bits = np.array(odd).view(np.int64)
    for column in (curve.loss, curve.grad_norm, curve.update, curve.seconds, curve.rho, curve.parts["W"], curve.error):
        np.testing.assert_array_equal(column.view(np.int64), bits)
    np.testing.assert_array_equal(curve.reach, np.full(7, math.inf))
    assert store.read(id).best == -math.inf  # the least of them, and NaN is none


def smuggle(frozen: Any, **fields: Any) -> Any:
    """Set fields past the check of types, as a caller without that check can."""
    for name, value in fields.items():
        object.__setattr__(frozen, name, value)
    return frozen


def test_numbers_of_numpy_go_in(store: RunStore) -> None:
    id = store.create((SMALL,), "ann")
    tenth = np.float32(0.1)
    heard = (np.float32(1), np.float32(0.5), np.float64(0))
    look = smuggle(probe(), error=tenth, reach=np.int64(2), listening=heard)
    row = smuggle(
        record(0), step=np.int64(0), loss=tenth, clipped=np.bool_(True), parts={"W": tenth}, rho=np.float64(2)
    )
    store.append(id, [(0, smuggle(row, probe=look))])
    curve = store.read(id).curves[0]
    assert curve.loss[0] == curve.parts["W"][0] == curve.error[0] == float(np.float32(0.1))
    assert (curve.clipped[0], curve.rho[0], curve.reach[0], curve.step[0]) == (True, 2.0, 2.0, 0)
    np.testing.assert_array_equal(curve.listening, [[1.0, 0.5, 0.0]])


def test_read_since_gives_the_rest_and_the_newest_probe(store: RunStore) -> None:
    id = store.create((SMALL, SMALL), "ann")
    rows = [(c, record(i, 0.1 * i, probe(0.01 * i, i, i) if i % 10 == 0 else None)) for i in range(25) for c in (0, 1)]
    assert store.append(id, rows) == "run"
    run = store.read(id, 15)
    for curve in run.curves:
        assert curve.step.tolist() == list(range(15, 25))
        np.testing.assert_array_equal(curve.loss, [0.1 * i for i in range(15, 25)])
        np.testing.assert_array_equal(curve.clipped, [i % 2 == 0 for i in range(15, 25)])
        np.testing.assert_array_equal(curve.parts["W_h"], [0.25 * i for i in range(15, 25)])
        assert (curve.probe_step.tolist(), curve.error.tolist(), curve.reach.tolist()) == ([20], [0.2], [20.0])
        assert np.isnan(curve.rho).all()
        assert curve.newest is not None
        assert curve.newest_step == 20
        np.testing.assert_array_equal(curve.newest.weights["W_z"], probe(seed=20).weights["W_z"])
        assert (curve.done, curve.fault, curve.config) == (25, None, SMALL)
    assert (run.done, run.best) == (50, 0.0)
    assert run.seconds == pytest.approx(5.0)
    assert store.read(id, 25).curves[0].newest_step == 20
    assert store.find(id).curves == ()


def test_replayed_steps_replace_their_records(store: RunStore) -> None:
    id = store.create((SMALL, SMALL), "ann")
    store.append(id, [(c, record(i, 1.0)) for i in range(20) for c in (0, 1)])
    store.append(id, [(0, record(i, 2.0, probe())) for i in range(15, 18)])
    first, second = store.read(id).curves
    assert first.step.tolist() == list(range(20))
    assert first.loss.tolist() == [1.0] * 15 + [2.0] * 3 + [1.0] * 2
    assert second.loss.tolist() == [1.0] * 20


def test_fault_ends_a_config_and_its_step_does_not_count(store: RunStore) -> None:
    id = store.create((SMALL, SMALL), "ann")
    bad = record(3, math.nan, grad_norm=math.inf, parts={}, fault="step 3: the gradient of W_h is not finite")
    store.append(id, [(0, record(i)) for i in range(3)] + [(0, bad)])
    first, second = store.read(id).curves
    assert (first.done, first.fault, second.fault) == (3, "step 3: the gradient of W_h is not finite", None)
    assert np.isnan(first.parts["W_h"][3])
    assert first.grad_norm[3] == math.inf


def test_snapshots_are_probes_on_a_spacing_that_doubles(store: RunStore) -> None:
    config = dataclasses.replace(SMALL, steps=20_000, probe_every=1)
    id = store.create((config,), "ann")
    for first in range(0, 600, 50):
        store.append(id, [(0, record(i, probe=probe(seed=i))) for i in range(first, first + 50)])
    assert store.snapshots(id) == tuple(range(0, 600, 4))
    store.append(id, [(0, record(i, probe=probe(seed=i + 1))) for i in range(120, 130)])  # a replay refines nothing
    assert store.snapshots(id) == tuple(range(0, 600, 4))
    still = store.snapshot(id, 0, 131)
    assert still is not None
    assert (still.config, still.step) == (0, 128)
    np.testing.assert_array_equal(still.probe.weights["W_z"], probe(seed=129).weights["W_z"])
    last = store.snapshot(id)
    assert last is not None
    assert last.step == 596
    assert store.snapshot(id, 1) is None
    assert store.snapshots(id, 1) == ()


def test_checkpoints_are_overwritten(store: RunStore) -> None:
    id = store.create((SMALL, SMALL), "ann")
    assert store.checkpoints(id) == {}
    store.append(id, [], checkpoints={0: (5, b"five"), 1: (4, b"four")})
    store.append(id, [], checkpoints={0: (6, b"six")})
    assert store.checkpoints(id) == {0: b"six", 1: b"four"}


def test_a_batch_is_written_as_a_whole_or_not_at_all(store: RunStore) -> None:
    id = store.create((SMALL,), "ann")
    store.append(id, [(0, record(0))])
    broken = smuggle(record(2), parts={"W": "no number"})
    with pytest.raises(ValueError, match="no number"):
        store.append(id, [(0, record(1)), (0, broken)], checkpoints={0: (2, b"")})
    assert store.read(id).curves[0].step.tolist() == [0]
    assert store.checkpoints(id) == {}


def test_claim_takes_the_queue_in_order_and_only_once(store: RunStore, clock: Clock) -> None:
    ids = [store.create((SMALL,), "ann") for _ in range(3)]
    store.want(ids[0], "pause", "ann")
    store.want(ids[0], "run", "ann")  # who goes on stands at the end of the queue again
    assert [store.find(id).place for id in ids] == [3, 1, 2]
    assert [store.claim() for _ in range(4)] == [(ids[1], 1), (ids[2], 1), (ids[0], 1), None]
    assert store.running() == dict.fromkeys(ids, "run")
    assert store.find(ids[1]).heartbeat == clock.now


def test_wishes_reach_the_worker_and_are_settled(store: RunStore, clock: Clock) -> None:
    id = store.create((SMALL,), "ann")
    _, attempt = store.claim() or ("", 0)
    for wish, state in (("pause", "paused"), ("stop", "stopped")):
        store.want(id, wish, "ann")
        assert store.find(id).state == "running"  # until the worker has obeyed
        assert store.append(id, [(0, record(0))], attempt=attempt) == wish
        store.obey(id, attempt=attempt)
        assert (store.find(id).state, store.find(id).wish) == (state, "run")
        store.want(id, "run", "ann")
        _, attempt = store.claim() or ("", 0)
    store.want(id, "pause", "ann")
    store.want(id, "run", "ann")  # thinks better of it, when the worker is already on its way out
    store.obey(id, attempt=attempt)
    assert (store.find(id).state, store.find(id).place) == ("queued", 1)
    store.want(id, "stop", "ann")
    assert store.find(id).state == "stopped"
    store.want(id, "pause", "ann")
    assert store.find(id).state == "stopped"  # what is over stays as it is


def test_finished_run_does_not_start_again(store: RunStore) -> None:
    id = store.create((SMALL,), "ann")
    store.claim()
    store.settle(id, "finished", attempt=1)
    store.want(id, "stop", "ann")
    assert store.find(id).state == "finished"
    with pytest.raises(Refused, match="has finished") as refusal:
        store.want(id, "run", "ann")
    assert not refusal.value.offer


def test_failed_run_says_why_and_can_go_on(store: RunStore) -> None:
    id = store.create((SMALL,), "ann")
    store.claim()
    store.settle(id, "failed", "the process was killed (signal 9)", attempt=1)
    assert store.find(id).reason == "the process was killed (signal 9)"
    store.want(id, "run", "ann")
    assert (store.find(id).state, store.find(id).reason) == ("queued", "")


def test_an_earlier_process_may_write_no_more(store: RunStore) -> None:
    id = store.create((SMALL,), "ann")
    store.claim()
    store.recover("The server is gone.")
    run = store.find(id)
    assert (run.state, run.reason, run.live) == ("paused", "The server is gone.", False)
    store.want(id, "run", "ann")
    _, attempt = store.claim() or ("", 0)
    for write in (
        lambda: store.append(id, [(0, record(0, 9.0))], checkpoints={0: (1, b"late")}, attempt=1),
        lambda: store.settle(id, "finished", attempt=1),
        lambda: store.obey(id, attempt=1),
    ):
        with pytest.raises(Lost):
            write()
    assert store.find(id).state == "running"
    assert store.checkpoints(id) == {}
    store.append(id, [(0, record(0))], attempt=attempt)
    store.settle(id, "paused", attempt=attempt)
    with pytest.raises(Lost):
        store.append(id, [], attempt=attempt)  # it has settled: what comes after is a mistake


def test_recover_keeps_what_was_wanted_and_the_queue(store: RunStore) -> None:
    running, stopping, waiting = (store.create((SMALL,), "ann") for _ in range(3))
    store.claim()
    store.claim()
    store.want(stopping, "stop", "ann")
    store.recover("The server is gone.")
    assert [store.find(id).state for id in (running, stopping, waiting)] == ["paused", "stopped", "queued"]
    assert store.running() == {}


def test_only_the_owner_alone_with_it_decides(store: RunStore, clock: Clock) -> None:
    id = store.create((SMALL,), "ann")
    for wish in ("run", "pause", "stop"):
        with pytest.raises(Refused, match="continue it as your own") as refusal:
            store.want(id, wish, "bob")
        assert refusal.value.offer
    with pytest.raises(Refused, match="only who started it can delete it"):
        store.delete(id, "bob")
    store.watch(id, "ann")
    store.watch(id, "bob")
    assert store.find(id).watching == 2
    for wish in ("pause", "stop"):
        with pytest.raises(Refused, match="Somebody else is watching") as refusal:
            store.want(id, wish, "ann")
        assert refusal.value.offer
    store.watch(id, "cat")
    with pytest.raises(Refused, match="2 others are watching"):
        store.delete(id, "ann")
    assert store.find(id).state == "queued"
    clock.now += WATCHING + 1
    assert store.find(id).watching == 0
    store.want(id, "pause", "ann")
    store.watch(id, "bob")
    store.want(id, "run", "ann")  # to go on takes nothing from who watches
    assert store.find(id).state == "queued"


def test_watching_lasts_while_it_is_said(store: RunStore, clock: Clock) -> None:
    id = store.create((SMALL,), "ann")
    for _ in range(30):
        store.watch(id, "bob")
        assert store.find(id).watching == 1
        clock.now += 1.0
    clock.now += WATCHING
    assert store.find(id).watching == 0


def test_delete_leaves_nothing(store: RunStore) -> None:
    id, other = store.create((SMALL,), "ann"), store.create((SMALL,), "ann")
    for run in (id, other):
        store.append(run, [(0, record(0, probe=probe()))], checkpoints={0: (1, b"x")})
    store.claim()
    with pytest.raises(Refused, match="stop it first"):
        store.delete(id, "ann")
    store.settle(id, "stopped")
    store.delete(id, "ann")
    calls: list[Callable[[], object]] = [
        lambda: store.read(id),
        lambda: store.find(id),
        lambda: store.watch(id, "ann"),
        lambda: store.want(id, "run", "ann"),
        lambda: store.delete(id, "ann"),
        lambda: store.snapshots(id),
        lambda: store.snapshot(id),
        lambda: store.checkpoints(id),
        lambda: store.continue_from(id, "ann"),
    ]
    for call in calls:
        with pytest.raises(UnknownRun, match="no such run"):
            call()
    with pytest.raises(Lost):
        store.append(id, [])
    assert store.read(other).curves[0].step.tolist() == [0]
    assert (store.snapshots(other), store.checkpoints(other)) == ((0,), {0: b"x"})


def test_same_preset_is_joined_unless_it_is_about_to_end(store: RunStore, clock: Clock) -> None:
    id = store.create((SMALL, dataclasses.replace(SMALL, cell="rnn")), "ann")
    same = (dataclasses.replace(SMALL), dataclasses.replace(SMALL, cell="rnn"))
    assert store.find_live(same) == id
    assert store.create(same, "bob", join=True) == id
    clock.now += 1
    assert store.create(same, "bob") != id
    assert store.find_live(same) == id
    assert store.find_live((SMALL,)) is None
    store.claim()
    store.want(id, "stop", "ann")
    assert store.find_live(same) not in (id, None)


def test_continue_as_my_own_from_the_last_checkpoint(store: RunStore) -> None:
    id = store.create((SMALL, SMALL), "ann", "the book")
    rows = [(c, record(i, 0.1 * i, probe(seed=i) if i % 10 == 0 else None)) for i in range(25) for c in (0, 1)]
    store.append(id, rows, checkpoints={0: (20, b"twenty"), 1: (15, b"fifteen")})
    new = store.continue_from(id, "bob")
    run = store.read(new)
    assert (run.owner, run.name, run.state, run.done) == ("bob", "the book", "queued", 35)
    assert run.curves[0].step.tolist() == list(range(20))
    assert run.curves[1].step.tolist() == list(range(15))
    np.testing.assert_array_equal(run.curves[1].loss, store.read(id).curves[1].loss[:15])
    assert run.seconds == pytest.approx(2.0 + 1.5)
    assert store.checkpoints(new) == {0: b"twenty", 1: b"fifteen"}
    assert (store.snapshots(new, 0), store.snapshots(new, 1)) == ((0, 10, 20), (0, 10))
    assert (run.curves[0].newest, run.curves[1].newest) == (None, None)  # the newest was of step 20, still to come
    assert store.read(id).done == 50  # the other goes its own way
    faster = store.continue_from(id, "bob", "faster", [dataclasses.replace(SMALL, learning_rate=0.1, steps=500)] * 2)
    assert (store.find(faster).configs[1].learning_rate, store.find(faster).total) == (0.1, 1000)
    for other in ([SMALL], [SMALL, dataclasses.replace(SMALL, seed=1)]):
        with pytest.raises(ValueError, match="another network"):
            store.continue_from(id, "bob", configs=other)


def test_nothing_to_go_on_with_is_said(store: RunStore) -> None:
    id = store.create((SMALL,), "ann")
    store.append(id, [], checkpoints={0: (100, b"")})
    with pytest.raises(Refused, match="done all its steps"):
        store.continue_from(id, "bob")
    assert store.continue_from(id, "bob", configs=[dataclasses.replace(SMALL, steps=200)])


def test_one_person_cannot_starve_the_rest(open_store: Callable[..., RunStore]) -> None:
    store = open_store(limits=Limits(live_per_owner=2, queue=3))
    first = store.create((SMALL,), "ann")
    store.create((SMALL,), "ann")
    for call in (lambda: store.create((SMALL,), "ann"), lambda: store.continue_from(first, "ann")):
        with pytest.raises(Refused, match="2 runs going already"):
            call()
    assert store.create((SMALL,), "ann", join=True) == first
    store.create((SMALL,), "bob")
    with pytest.raises(Refused, match="queue is full"):
        store.create((SMALL,), "cat")
    store.want(first, "pause", "ann")
    third = store.create((SMALL,), "ann")
    with pytest.raises(Refused, match="2 runs going already"):
        store.want(first, "run", "ann")
    store.want(third, "run", "ann")  # it is so already: no refusal


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"steps": 20_001}, "steps is 20001: on this server a run takes at most 20000"),
        ({"hidden": 129}, "hidden is 129"),
        ({"length": 1001}, "length is 1001"),
        ({"batch": 513}, "batch is 513"),
        ({"hidden": 128, "length": 500, "batch": 512}, "length × batch × hidden is 32,768,000"),
        ({"hidden": 128, "length": 1000, "batch": 1, "steps": 20_000, "probe_every": 1}, "would store about"),
    ],
)
def test_sizes_of_a_run_are_bounded(store: RunStore, change: dict[str, int], words: str) -> None:
    wild = dataclasses.replace(SMALL, cell="lstm", **change)
    with pytest.raises(Refused, match=words):
        store.create((wild, wild), "ann")
    assert store.list() == ()


def test_number_of_networks_is_bounded(store: RunStore) -> None:
    with pytest.raises(Refused, match="1 to 12 networks, not 13"):
        store.create((SMALL,) * 13, "ann")
    for configs, owner in (((), "ann"), ((SMALL,), "")):
        with pytest.raises(ValueError, match="at least one config"):
            store.create(configs, owner)


def test_the_book_race_is_within_the_bounds() -> None:
    race = [TrainConfig(cell=cell) for cell in ("rnn", "lstm", "gru")]
    Limits().check(race)
    assert 10e6 < sum(map(expected_size, race)) < 100e6


def test_unwatched_runs_pause_and_long_ones_stop(open_store: Callable[..., RunStore], clock: Clock) -> None:
    store = open_store(limits=Limits(live_per_owner=9, seconds=3600.0))
    lonely, watched, long, waiting = (store.create((SMALL,), "ann") for _ in range(4))
    for _ in range(3):
        store.claim()
    store.append(long, [(0, record(0, seconds=3601.0))])
    clock.now += 601
    store.watch(watched, "bob")
    store.tend(600.0)
    assert store.running() == {lonely: "pause", watched: "run", long: "stop"}
    store.obey(lonely)
    store.obey(long)
    assert store.find(lonely).reason == "Nobody watched it for 10 minutes, so it paused itself. It can go on from here."
    assert store.find(long).reason.startswith("It has trained for 60 minutes")
    assert (store.find(waiting).state, store.find(waiting).reason[:14]) == ("paused", "Nobody watched")
    store.want(lonely, "run", "ann")
    store.tend(600.0)
    assert store.find(lonely).state == "queued"  # who starts it again counts as looking at it


def test_old_runs_are_pruned_by_count(open_store: Callable[..., RunStore], clock: Clock) -> None:
    store = open_store(limits=Limits(live_per_owner=9, kept=3))
    ids = []
    for _ in range(6):
        ids.append(store.create((SMALL,), "ann"))
        clock.now += 60
    for id in (ids[0], ids[2], ids[3], ids[4]):
        store.settle(id, "finished")
        clock.now += 60
    store.watch(ids[2], "bob")
    store.tend(1e9)
    # the three touched last are 4, 3, 2; of the older ones 0 goes, 1 and 5 wait for their turn
    assert {run.id for run in store.list()} == {ids[1], ids[2], ids[3], ids[4], ids[5]}
    for id in (ids[1], ids[5]):
        store.settle(id, "finished")
    store.tend(1e9)
    # now 5, 1, 4 are the last three; 2 is still watched
    assert {run.id for run in store.list()} == {ids[1], ids[2], ids[4], ids[5]}
    clock.now += 60
    store.tend(1e9)
    assert {run.id for run in store.list()} == {ids[1], ids[4], ids[5]}


def test_old_runs_are_pruned_by_size(open_store: Callable[..., RunStore], clock: Clock) -> None:
    store = open_store(limits=Limits(live_per_owner=9, kept_size=250_000))
    ids = []
    for _ in range(4):
        ids.append(store.create((SMALL,), "ann"))
        store.append(ids[-1], [], checkpoints={0: (1, b"x" * 100_000)})
        store.settle(ids[-1], "finished")
        clock.now += 60
    store.tend(1e9)
    assert [run.id for run in store.list()] == [ids[3], ids[2]]


# What only a database in a file can show.


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite"


@pytest.fixture
def file_store(path: Path) -> Iterator[RunStore]:
    store = RunStore(f"sqlite:///{path}", patience=0.05, limits=LOOSE)
    yield store
    store.close()


def test_folder_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RNNVIZ_DATA", str(tmp_path / "new" / "folder"))
    store = RunStore()
    id = store.create((SMALL,), "ann")
    assert (tmp_path / "new" / "folder" / "runs.sqlite").exists()
    monkeypatch.delenv("RNNVIZ_DATA")
    monkeypatch.chdir(tmp_path)
    other = RunStore()
    assert (tmp_path / "data" / "runs.sqlite").exists()
    with pytest.raises(UnknownRun):
        other.find(id)
    store.close()
    other.close()


def test_two_stores_on_one_file_see_each_other(path: Path, file_store: RunStore) -> None:
    other = RunStore(f"sqlite:///{path}")
    id = other.create((SMALL,), "ann")
    file_store.append(id, [(0, record(0))])
    assert other.read(id).curves[0].step.tolist() == [0]
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    db.close()
    other.close()


def test_thirty_clicks_at_once_start_one_run(path: Path) -> None:
    store = RunStore(f"sqlite:///{path}")
    together = threading.Barrier(30)

    def click(person: int) -> str:
        together.wait()
        return store.create((SMALL,), f"person {person}", join=True)

    with ThreadPoolExecutor(30) as class_:
        ids = set(class_.map(click, range(30)))
    assert len(ids) == len(store.list()) == 1
    store.close()


def test_readers_are_not_held_up_by_a_writer_and_writers_hear_it_in_words(path: Path, file_store: RunStore) -> None:
    id = file_store.create((SMALL,), "ann")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert file_store.find(id).state == "queued"
    with pytest.raises(StoreError, match="busy") as error:
        file_store.want(id, "pause", "ann")
    assert str(path.parent) not in str(error.value)
    other.execute("ROLLBACK")
    other.close()
    file_store.want(id, "pause", "ann")
    assert file_store.find(id).state == "paused"


def test_full_disk_is_said_in_words(path: Path, file_store: RunStore) -> None:
    id = file_store.create((SMALL,), "ann")
    with file_store._engine.connect() as db:
        pages = db.exec_driver_sql("PRAGMA page_count").scalar()
        db.exec_driver_sql(f"PRAGMA max_page_count = {pages + 2}")  # the pool gives this connection again
    with pytest.raises(StoreError, match="disk of the store of runs is full"):
        file_store.append(id, [(0, record(i)) for i in range(5000)])
    assert file_store.read(id).curves[0].step.tolist() == []


def test_read_only_store_can_still_be_read(path: Path, file_store: RunStore) -> None:
    id = file_store.create((SMALL,), "ann")
    store = RunStore(f"sqlite:///file:{path}?mode=ro&uri=true")
    assert store.find(id).place == 1
    with pytest.raises(StoreError, match="read-only"):
        store.create((SMALL,), "ann")
    store.close()


def test_damaged_file_and_impossible_folder_are_said_in_words(path: Path) -> None:
    path.write_bytes(b"this is no database" * 100)
    for place, words in ((path, "damaged"), (path / "below", "cannot be reached"), (path.parent, "cannot be reached")):
        with pytest.raises(StoreError, match=words) as error:
            RunStore(f"sqlite:///{place}")
        assert str(path.parent) not in str(error.value)


def test_a_state_is_live_only_while_it_trains_or_waits() -> None:
    assert LIVE == ("queued", "running")


def test_store_loads_neither_torch_nor_streamlit() -> None:
    code = (
        "import rnnviz.runs.store, rnnviz.runs.supervisor, sys;"
        "sys.exit(' '.join({'torch', 'streamlit', 'plotly', 'altair'} & set(sys.modules)) or 0)"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert ended.stderr == ""
    assert ended.returncode == 0
