"""RunStore: what a run is, append and read. Pages, workers and the supervisor meet here and nowhere else."""

import math
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, delete, func, insert, inspect, select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnection

from rnnviz.config import TrainConfig
from rnnviz.results import Record
from rnnviz.runs import contents, tables
from rnnviz.runs.packing import pack_configs, unpack_configs, unpack_probe
from rnnviz.runs.run import LIVE, Limits, Refused, Run, State, Still, UnknownRun, Wish
from rnnviz.runs.tables import StoreError, lanes, runs, snapshots, viewers

__all__ = ["Limits", "Refused", "RunStore", "StoreError", "UnknownRun"]

WATCHING = 10.0
"""For how many seconds after watch() a person counts as watching."""


class RunStore:
    """The runs in one database, by default SQLite in the folder RNNVIZ_DATA; any thread and any process may have one.

    patience: for how many seconds a locked database is waited for. clock: seconds since 1970.
    Every method raises StoreError if the database fails; those that name a run raise UnknownRun if there is none.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        limits: Limits | None = None,
        patience: float = 5.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.url = tables.default_url() if url is None else url
        self.limits = limits or Limits()
        self._clock = clock
        try:
            self._engine = tables.open_engine(self.url, patience)
            if not inspect(self._engine).has_table(tables.viewers.name):  # a read-only store can still be read
                tables.metadata.create_all(self._engine.execution_options(write=True))
        except (DBAPIError, NoConnection, OSError) as error:
            raise StoreError(tables.in_words(error)) from error

    def close(self) -> None:
        """Close the connections; the store can be used again."""
        self._engine.dispose()

    # What pages call.

    def create(self, configs: Sequence[TrainConfig], owner: str, name: str = "", *, join: bool = False) -> str:
        """Put a run in the queue and return its id, which cannot be guessed.

        join: return the id of a live run of the same configs instead, if there is one. Raises Refused.
        """
        if not configs or not owner:
            raise ValueError(f"configs is {configs!r}, owner {owner!r}: a run takes at least one config, and an owner")
        self.limits.check(configs)
        with self._connect(write=True) as db:
            live = contents.find_live(db, configs) if join else None
            return live or self._insert(db, configs, owner, name)

    def find_live(self, configs: Sequence[TrainConfig]) -> str | None:
        """The id of the oldest running or queued run of exactly these configs, or None."""
        with self._connect() as db:
            return contents.find_live(db, configs)

    def continue_from(
        self, id: str, owner: str, name: str | None = None, configs: Sequence[TrainConfig] | None = None
    ) -> str:
        """A new run of this owner that goes on from the last checkpoint of another; returns its id.

        It takes over records and snapshots up to there. configs may differ from the other's in learning_rate, clip,
        clip_mode and steps; ValueError otherwise. Raises Refused.
        """
        with self._connect(write=True) as db:
            old = contents.row(db, id)
            before = unpack_configs(old.configs)
            after = before if configs is None else tuple(configs)
            if list(map(_network, after)) != list(map(_network, before)):
                raise ValueError(
                    "configs is another network: it takes the same but learning_rate, clip, clip_mode, steps"
                )
            self.limits.check(after)
            kept = tables.checkpoints
            steps = contents.pairs(db, select(kept.c.config, kept.c.step).where(kept.c.run == id))
            if all(steps.get(index, 0) >= config.steps for index, config in enumerate(after)):
                raise Refused("This run has done all its steps: there is nothing to go on with. Start it afresh.")
            new = self._insert(db, after, owner, old.name if name is None else name)
            for config, step in steps.items():
                contents.copy(db, id, new, config, step)
            return new

    def want(self, id: str, wish: Wish, owner: str) -> None:
        """Ask for a run to run, pause or stop; only its owner may, and pause or stop it only while nobody else watches.

        What is so already stays so. Raises Refused.
        """
        with self._connect(write=True) as db:
            row = contents.row(db, id)
            verb = {"run": "start it again", "pause": "pause it", "stop": "stop it"}[wish]
            self._only_owner(db, row, owner, verb, alone=wish != "run")
            if wish == "run" and row.state not in LIVE:
                if row.state == "finished":
                    raise Refused("This run has finished: there is nothing to go on with. Start it afresh.")
                self._check_room(db, owner)
            self._turn_to(db, row, wish, "")

    def delete(self, id: str, owner: str) -> None:
        """Delete a run that is not running; only its owner may, and only while nobody else watches. Raises Refused."""
        with self._connect(write=True) as db:
            row = contents.row(db, id)
            self._only_owner(db, row, owner, "delete it", alone=True)
            if row.state == "running":
                raise Refused("This run is still training: stop it first, then delete it.")
            contents.remove(db, id)

    def watch(self, id: str, owner: str) -> None:
        """Say that this owner has the run open; to be said again every few seconds, at most WATCHING apart."""
        now = self._clock()
        mine = (viewers.c.run == id) & (viewers.c.owner == owner)
        with self._connect() as db:
            contents.row(db, id)
            seen = db.scalar(select(viewers.c.seen).where(mine))
        if seen is not None and 0 <= now - seen < WATCHING / 4:
            return  # thirty viewers who say so every second shall not be thirty writes a second
        with self._connect(write=True) as db:
            contents.row(db, id)
            db.execute(delete(viewers).where(mine))
            db.execute(insert(viewers).values(run=id, owner=owner, seen=now))
            db.execute(update(runs).where(runs.c.id == id).values(watched=now))

    def find(self, id: str) -> Run:
        """A run as it stands, without its curves."""
        with self._connect() as db:
            return self._runs(db, [contents.row(db, id)])[0]

    def list(self, owner: str | None = None) -> tuple[Run, ...]:
        """The runs of an owner, or all, newest first, without their curves."""
        with self._connect() as db:
            query = select(runs).order_by(runs.c.created.desc(), runs.c.id)
            return self._runs(db, db.execute(query if owner is None else query.where(runs.c.owner == owner)).all())

    def read(self, id: str, since: int = 0) -> Run:
        """A run as it stands, with the records of every config from step since."""
        with self._connect() as db:
            run = self._runs(db, [contents.row(db, id)])[0]
            return replace(run, curves=tuple(contents.curve(db, id, i, c, since) for i, c in enumerate(run.configs)))

    def snapshots(self, id: str, config: int = 0) -> tuple[int, ...]:
        """The steps at which a config has a snapshot, ascending."""
        with self._connect() as db:
            contents.row(db, id)
            mine = (snapshots.c.run == id) & (snapshots.c.config == config)
            return tuple(db.scalars(select(snapshots.c.step).where(mine).order_by(snapshots.c.step)))

    def snapshot(self, id: str, config: int = 0, step: int | None = None) -> Still | None:
        """The last snapshot of a config at or before a step, the last of all if left out; None if there is none."""
        with self._connect() as db:
            contents.row(db, id)
            mine = (snapshots.c.run == id) & (snapshots.c.config == config)
            if step is not None:
                mine &= snapshots.c.step <= step
            row = db.execute(select(snapshots).where(mine).order_by(snapshots.c.step.desc()).limit(1)).first()
        return None if row is None else Still(config, row.step, unpack_probe(row.data))

    def checkpoints(self, id: str) -> dict[int, bytes]:
        """The newest checkpoint of each config that has one: what Snapshot.to_bytes() gave."""
        with self._connect() as db:
            contents.row(db, id)
            kept = tables.checkpoints
            return contents.pairs(db, select(kept.c.config, kept.c.data).where(kept.c.run == id))

    # What workers call. attempt is the claim's: with that of an earlier claim they raise Lost and write nothing.

    def append(
        self,
        id: str,
        rows: Sequence[tuple[int, Record]],
        *,
        checkpoints: Mapping[int, tuple[int, bytes]] | None = None,
        attempt: int | None = None,
    ) -> Wish:
        """Write records as (config, record) and checkpoints as config -> (step, bytes); return what is wanted.

        The records of a config are of consecutive steps. All is written or nothing; a step that is there is replaced.
        Probes become snapshots on the spacing of packing.spacing. An empty call is a heartbeat.
        """
        now = self._clock()
        with self._connect(write=True) as db:
            row = contents.claimed(db, id, attempt)
            best = math.inf if row.best is None else row.best
            configs = unpack_configs(row.configs)
            for index in sorted({index for index, _ in rows}):
                batch = [record for other, record in rows if other == index]
                best = min(best, contents.append(db, id, index, batch, configs[index].probe_every))
            for config, (step, data) in (checkpoints or {}).items():
                contents.put(db, tables.checkpoints, id, config, step=int(step), data=data, size=len(data))
            values = {"heartbeat": now, "changed": now, "best": best if best < math.inf else None}
            db.execute(update(runs).where(runs.c.id == id).values(values))
            wish: Wish = row.wish
            return wish

    def settle(self, id: str, state: State, reason: str = "", *, attempt: int | None = None) -> None:
        """Give a run the state in which its process left it, with the reason as a sentence."""
        with self._connect(write=True) as db:
            contents.claimed(db, id, attempt)
            self._set(db, id, state=state, reason=reason)

    def obey(self, id: str, *, attempt: int | None = None) -> None:
        """Settle a run as is wanted: paused, stopped, or back in the queue if the wish has changed meanwhile."""
        with self._connect(write=True) as db:
            row = contents.claimed(db, id, attempt)
            state = {"pause": "paused", "stop": "stopped", "run": "queued"}[row.wish]
            self._set(db, id, state=state, reason=row.why, wish="run", why="", turn=contents.last_turn(db) + 1)

    # What the supervisor calls.

    def claim(self) -> tuple[str, int] | None:
        """Take the first run of the queue: it is running from now on. Its id and attempt, or None."""
        first = select(runs).where(runs.c.state == "queued").order_by(runs.c.turn).limit(1)
        with self._connect() as db:
            if db.execute(first).first() is None:  # five times a second: look before asking for the right to write
                return None
        with self._connect(write=True) as db:
            row = db.execute(first).first()
            if row is None:
                return None
            now, attempt = self._clock(), row.attempt + 1
            self._set(db, row.id, state="running", reason="", wish="run", why="", attempt=attempt, heartbeat=now)
            return row.id, attempt

    def running(self) -> dict[str, Wish]:
        """What is wanted of each running run."""
        with self._connect() as db:
            return contents.pairs(db, select(runs.c.id, runs.c.wish).where(runs.c.state == "running"))

    def recover(self, reason: str, ids: Collection[str] | None = None) -> None:
        """Mark what a server that is gone left running as paused: its processes, should one live, can write no more.

        ids: of these runs only.
        """
        which = runs.c.state == "running"
        with self._connect(write=True) as db:
            for row in db.execute(select(runs).where(which if ids is None else which & runs.c.id.in_(ids))).all():
                state, why = ("stopped", row.why) if row.wish == "stop" else ("paused", reason)
                self._set(db, row.id, state=state, reason=why, wish="run", why="")

    def tend(self, unwatched: float) -> None:
        """Pause what nobody has watched for so many seconds, stop what has trained for too long, delete old runs."""
        now = self._clock()
        with self._connect(write=True) as db:
            for row in db.execute(select(runs).where(runs.c.state.in_(LIVE), runs.c.wish == "run")).all():
                spent = db.scalar(select(func.sum(lanes.c.seconds)).where(lanes.c.run == row.id)) or 0.0
                if spent > self.limits.seconds:
                    why = f"It has trained for {_span(self.limits.seconds)}, as long as a run may on this server."
                    self._turn_to(db, row, "stop", why)
                elif now - row.watched > unwatched:
                    why = f"Nobody watched it for {_span(unwatched)}, so it paused itself. It can go on from here."
                    self._turn_to(db, row, "pause", why)
            db.execute(delete(viewers).where(viewers.c.seen < now - 3600))
            contents.prune(db, self.limits, now - WATCHING)

    # Inside one transaction.

    @contextmanager
    def _connect(self, write: bool = False) -> Iterator[Connection]:
        try:
            with self._engine.execution_options(write=write).begin() as db:
                yield db
        except (DBAPIError, NoConnection) as error:
            raise StoreError(tables.in_words(error)) from error

    def _insert(self, db: Connection, configs: Sequence[TrainConfig], owner: str, name: str) -> str:
        self._check_room(db, owner)
        id, now = secrets.token_urlsafe(12), self._clock()
        text = pack_configs(configs)
        values = {"id": id, "owner": owner, "name": name[:200], "configs": text, "state": "queued", "wish": "run"}
        times = {"created": now, "changed": now, "watched": now}
        more = {"why": "", "reason": "", "attempt": 0, "turn": contents.last_turn(db) + 1}
        db.execute(insert(runs).values(values | times | more))
        lane = {"run": id, "done": 0, "seconds": 0.0}
        db.execute(insert(lanes), [lane | {"config": index} for index in range(len(configs))])
        return id

    def _check_room(self, db: Connection, owner: str) -> None:
        live = select(func.count()).select_from(runs).where(runs.c.state.in_(LIVE))
        most = self.limits.live_per_owner
        if (db.scalar(live.where(runs.c.owner == owner)) or 0) >= most:
            raise Refused(f"You have {most} runs going already: pause or stop one of them first.")
        if (db.scalar(live.where(runs.c.state == "queued")) or 0) >= self.limits.queue:
            raise Refused(f"The queue is full, {self.limits.queue} runs wait in it: try again when some have finished.")

    def _only_owner(self, db: Connection, row: Any, owner: str, verb: str, *, alone: bool) -> None:
        if row.owner != owner:
            raise Refused(f"This run is somebody else's: only who started it can {verb}.", offer=True)
        others = self._watching(db, row.id, viewers.c.owner != owner)
        if alone and others:
            people = "Somebody else is" if others == 1 else f"{others} others are"
            raise Refused(f"{people} watching this run: you can {verb} when you are alone with it.", offer=True)

    def _watching(self, db: Connection, id: str, *which: Any) -> int:
        recent = viewers.c.seen > self._clock() - WATCHING
        return db.scalar(select(func.count()).select_from(viewers).where(viewers.c.run == id, recent, *which)) or 0

    def _turn_to(self, db: Connection, row: Any, wish: Wish, why: str) -> None:
        if row.state == "running":
            db.execute(update(runs).where(runs.c.id == row.id).values(wish=wish, why=why))
        elif wish == "run" and row.state != "queued":
            turn, now = contents.last_turn(db) + 1, self._clock()
            self._set(db, row.id, state="queued", reason="", wish="run", why="", turn=turn, watched=now)
        elif wish == "pause" and row.state == "queued":
            self._set(db, row.id, state="paused", reason=why)
        elif wish == "stop" and row.state in ("queued", "paused"):
            self._set(db, row.id, state="stopped", reason=why)

    def _set(self, db: Connection, id: str, **values: Any) -> None:
        db.execute(update(runs).where(runs.c.id == id).values(changed=self._clock(), **values))

    def _runs(self, db: Connection, rows: Sequence[Any]) -> tuple[Run, ...]:
        queue = db.scalars(select(runs.c.id).where(runs.c.state == "queued").order_by(runs.c.turn))
        sums = select(lanes.c.run, func.sum(lanes.c.done), func.sum(lanes.c.seconds)).group_by(lanes.c.run)
        if len(rows) == 1:
            sums = sums.where(lanes.c.run == rows[0].id)
        place = {id: index for index, id in enumerate(queue, 1)}
        spent = {id: (int(done), float(seconds)) for id, done, seconds in db.execute(sums)}
        recent = viewers.c.seen > self._clock() - WATCHING
        watching = contents.pairs(db, select(viewers.c.run, func.count()).where(recent).group_by(viewers.c.run))
        return tuple(contents.run(row, place.get(row.id), *spent[row.id], watching.get(row.id, 0)) for row in rows)


def _network(config: TrainConfig) -> TrainConfig:
    """A config without what a run that goes on from a checkpoint may change."""
    return replace(config, learning_rate=1.0, clip=None, clip_mode="global", steps=1)


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} seconds"
