"""What belongs to a run, into the tables and out of them, inside a transaction that the store has opened."""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, Table, delete, func, insert, literal, select, update

from rnnviz.config import TrainConfig
from rnnviz.results import Array, Probe, Record
from rnnviz.runs.packing import pack_probe, spacing, unpack_configs, unpack_probe
from rnnviz.runs.run import LIVE, RECORD_SIZE, Curve, Limits, Lost, Run, UnknownRun
from rnnviz.runs.tables import BELONGING, checkpoints, lanes, probes, records, runs, snapshots

_NUMBERS = ("loss", "grad_norm", "update", "seconds", "rho")
_PROBED = ("error", "reach", "listening_first", "listening_second", "listening_unmarked")


def of(table: Table, run: str, config: int) -> Any:
    """The condition that a row belongs to one config of a run."""
    return (table.c.run == run) & (table.c.config == config)


def pairs(db: Connection, query: Select[Any]) -> dict[Any, Any]:
    """A query of two columns as a dict from the first to the second."""
    return {key: value for key, value in db.execute(query)}


def put(db: Connection, table: Table, run: str, config: int, **values: Any) -> None:
    """Write the one row of a config, over the one that may be there."""
    db.execute(delete(table).where(of(table, run, config)))
    db.execute(insert(table).values(run=run, config=config, **values))


def append(db: Connection, run: str, config: int, batch: Sequence[Record], every: int) -> float:
    """Write records of consecutive steps over those that may be there, and their probes as snapshots.

    every: the steps between two probes. The least error of the probes, inf if there is none.
    """
    first, last = int(batch[0].step), int(batch[-1].step)
    db.execute(delete(records).where(of(records, run, config), records.c.step.between(first, last)))
    key = {"run": run, "config": config}
    db.execute(insert(records), [key | _fields(record) for record in batch])
    fault = batch[-1].fault  # such a step was not done
    progress = {"done": last + (fault is None), "seconds": float(batch[-1].seconds), "fault": fault}
    db.execute(update(lanes).where(of(lanes, run, config)).values(progress))
    probed = [(int(record.step), record.probe) for record in batch if record.probe is not None]
    if probed:
        _keep(db, run, config, probed, every)
        step, probe = probed[-1]
        data = pack_probe(probe)
        put(db, probes, run, config, step=step, data=data, size=len(data))
    return min((float(probe.error) for _, probe in probed if not math.isnan(probe.error)), default=math.inf)


def _fields(record: Record) -> dict[str, Any]:
    probe = record.probe
    heard: tuple[Any, ...] = (None,) * 5
    if probe is not None:
        reach = None if probe.reach is None else int(probe.reach)
        heard = (float(probe.error), reach, *map(float, probe.listening))
    return {
        "step": int(record.step),
        "loss": float(record.loss),
        "grad_norm": float(record.grad_norm),
        "clipped": bool(record.clipped),
        "update": float(record.update),
        "seconds": float(record.seconds),
        "rho": None if record.rho is None else float(record.rho),
        "parts": json.dumps({name: float(norm) for name, norm in record.parts.items()}),
        "probed": probe is not None,
        **dict(zip(_PROBED, heard, strict=True)),
    }


def curve(db: Connection, run: str, index: int, config: TrainConfig, since: int) -> Curve:
    """The records of one config from step since."""
    names = ("step", "clipped", "parts", "probed", *_NUMBERS, *_PROBED)
    query = select(*(records.c[name] for name in names)).where(of(records, run, index), records.c.step >= since)
    rows = db.execute(query.order_by(records.c.step)).all()
    column = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ())
    number = {name: np.array(column[name], np.float64) for name in (*_NUMBERS, *_PROBED)}  # None becomes NaN
    probed = np.array(column["probed"], bool)
    step = np.array(column["step"], np.int64)
    # a reach that is NULL is known, it is beyond T; and a row without a probe has none at all
    reach = np.where(np.isnan(number["reach"]), np.inf, number["reach"])[probed]
    lane = db.execute(select(lanes).where(of(lanes, run, index))).one()
    newest = db.execute(select(probes).where(of(probes, run, index))).first()
    return Curve(
        config=config,
        done=lane.done,
        fault=lane.fault,
        step=step,
        clipped=np.array(column["clipped"], bool),
        parts=_parts(column["parts"]),
        probe_step=step[probed],
        error=number["error"][probed],
        reach=reach,
        listening=np.stack([number[name][probed] for name in _PROBED[2:]], axis=1),
        newest=None if newest is None else unpack_probe(newest.data),
        newest_step=None if newest is None else newest.step,
        **{name: number[name] for name in _NUMBERS},
    )


def _parts(texts: Sequence[str]) -> dict[str, Array]:
    rows = json.loads(f"[{','.join(texts)}]")  # one call for all is several times faster than one a row
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: np.array([row.get(name, math.nan) for row in rows], np.float64) for name in names}


def _keep(db: Connection, run: str, config: int, probed: Sequence[tuple[int, Probe]], every: int) -> None:
    """Write the probes that stand on the spacing as snapshots, and let those go that do not."""
    mine = of(snapshots, run, config)
    reached = db.scalar(select(func.max(snapshots.c.step)).where(mine)) or 0
    gap = spacing(max(reached, probed[-1][0]), every)  # a replay reaches less, and shall not refine what is coarse
    db.execute(delete(snapshots).where(mine, snapshots.c.step % gap != 0))
    for step, probe in probed:
        if step % gap == 0:
            data = pack_probe(probe, small=True)
            db.execute(delete(snapshots).where(mine, snapshots.c.step == step))
            db.execute(insert(snapshots).values(run=run, config=config, step=step, data=data, size=len(data)))


def copy(db: Connection, old: str, new: str, config: int, step: int) -> None:
    """Give a new run what a config of an old one has up to a checkpoint at step: that many steps, 0 to step - 1."""
    _copy(db, checkpoints, old, new, config)
    _copy(db, records, old, new, config, records.c.step < step)
    _copy(db, snapshots, old, new, config, snapshots.c.step <= step)
    _copy(db, probes, old, new, config, probes.c.step < step)
    seconds = db.scalar(select(func.max(records.c.seconds)).where(of(records, new, config))) or 0.0
    db.execute(update(lanes).where(of(lanes, new, config)).values(done=step, seconds=seconds))


def _copy(db: Connection, table: Table, old: str, new: str, config: int, *which: Any) -> None:
    others = [column for column in table.c if column.name != "run"]
    query = select(literal(new), *others).where(of(table, old, config), *which)
    db.execute(insert(table).from_select(["run", *(column.name for column in others)], query))


def remove(db: Connection, run: str) -> None:
    """Delete a run and all that belongs to it."""
    for table in BELONGING:
        db.execute(delete(table).where(table.c.run == run))
    db.execute(delete(runs).where(runs.c.id == run))


def row(db: Connection, id: str) -> Any:
    """The row of a run; UnknownRun if there is none."""
    found = db.execute(select(runs).where(runs.c.id == id)).first()
    if found is None:
        raise UnknownRun
    return found


def claimed(db: Connection, id: str, attempt: int | None) -> Any:
    """The row of a run whose claim holds; Lost if it does not. attempt None is not checked."""
    found = db.execute(select(runs).where(runs.c.id == id)).first()
    if found is None or (attempt is not None and (found.attempt != attempt or found.state != "running")):
        raise Lost(f"Claim {attempt} of this run does not hold any more.")
    return found


def find_live(db: Connection, configs: Sequence[TrainConfig]) -> str | None:
    """The id of the oldest run of these configs that trains or waits, and is not about to end."""
    live = select(runs.c.id, runs.c.configs).where(runs.c.state.in_(LIVE), runs.c.wish == "run")
    found = pairs(db, live.order_by(runs.c.created))
    return next((id for id, text in found.items() if unpack_configs(text) == tuple(configs)), None)


def last_turn(db: Connection) -> int:
    """The last place that the queue has given away."""
    return db.scalar(select(func.max(runs.c.turn))) or 0


def run(row: Any, place: int | None, done: int, seconds: float, watching: int) -> Run:
    """A row as a Run without curves."""
    configs = unpack_configs(row.configs)
    same = ("id", "owner", "name", "state", "reason", "wish", "best", "created", "changed", "heartbeat")
    return Run(
        **{name: getattr(row, name) for name in same},
        configs=configs,
        place=place,
        done=done,
        total=sum(config.steps for config in configs),
        seconds=seconds,
        watching=watching,
    )


def prune(db: Connection, limits: Limits, recent: float) -> None:
    """Delete the runs that were quiet for longest, until number and size are within the limits.

    What trains, waits for its turn, or was watched since recent stays in any case.
    """
    size: dict[str, int] = {}
    for table in (probes, checkpoints, snapshots):
        for id, stored in db.execute(select(table.c.run, func.sum(table.c.size)).group_by(table.c.run)):
            size[id] = size.get(id, 0) + int(stored)
    for id, done in db.execute(select(lanes.c.run, func.sum(lanes.c.done)).group_by(lanes.c.run)):
        size[id] = size.get(id, 0) + RECORD_SIZE * int(done)
    kept = kept_size = 0
    for old in db.execute(select(runs).order_by(runs.c.changed.desc())).all():
        kept, kept_size = kept + 1, kept_size + size[old.id]
        too_much = kept > limits.kept or kept_size > limits.kept_size
        if too_much and old.state not in LIVE and old.watched < recent:
            remove(db, old.id)
