"""The tables of the store, its connections, and what a database error means in words."""

import os
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    Engine,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    event,
    make_url,
)
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection

metadata = MetaData()


def _key(name: str, kind: Any = Integer) -> Column[Any]:
    return Column(name, kind, primary_key=True, autoincrement=False)


runs = Table(
    "runs",
    metadata,
    _key("id", String(64)),
    Column("owner", String(128), nullable=False, index=True),
    Column("name", String(200), nullable=False),
    Column("configs", Text, nullable=False),
    Column("state", String(16), nullable=False, index=True),
    Column("wish", String(8), nullable=False),
    Column("why", Text, nullable=False),  # the reason that goes with the wish, if the wish is not a person's
    Column("reason", Text, nullable=False),
    Column("attempt", Integer, nullable=False),  # counts claims: a process of an earlier claim may write no more
    Column("turn", Integer, nullable=False),  # the order of the queue
    Column("best", Double),
    Column("created", Double, nullable=False),
    Column("changed", Double, nullable=False),
    Column("watched", Double, nullable=False),
    Column("heartbeat", Double),
)

lanes = Table(
    "lanes",
    metadata,
    _key("run", String(64)),
    _key("config"),
    Column("done", Integer, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("fault", Text),
)

# SQLite stores NaN as NULL: every float here may be NULL, and is read as NaN then. inf and all
# other bits survive, save the sign of zero.
records = Table(
    "records",
    metadata,
    _key("run", String(64)),
    _key("config"),
    _key("step"),
    Column("loss", Double),
    Column("grad_norm", Double),
    Column("clipped", Boolean, nullable=False),
    Column("update", Double),
    Column("seconds", Double),
    Column("rho", Double),
    Column("parts", Text, nullable=False),
    Column("probed", Boolean, nullable=False),
    Column("error", Double),
    Column("reach", Integer),
    Column("listening_first", Double),
    Column("listening_second", Double),
    Column("listening_unmarked", Double),
    sqlite_with_rowid=False,  # rows lie in the order of the key, so that read(since) is one stretch of the file
)


def _bytes(name: str, *key: Column[Any]) -> Table:
    # size stands before data: to sum it up, SQLite then need not walk through the pages of the data
    data = (Column("size", Integer, nullable=False), Column("data", LargeBinary, nullable=False))
    return Table(name, metadata, _key("run", String(64)), _key("config"), *key, *data)


probes = _bytes("probes", Column("step", Integer, nullable=False))  # the newest of each config
snapshots = _bytes("snapshots", _key("step"))
checkpoints = _bytes("checkpoints", Column("step", Integer, nullable=False))

viewers = Table("viewers", metadata, _key("run", String(64)), _key("owner", String(128)), Column("seen", Double))

BELONGING = (lanes, records, probes, checkpoints, snapshots, viewers)
"""The tables whose rows belong to a run, by their column run."""


class StoreError(RuntimeError):
    """The database could not do its part; the message is a sentence for people, without a path."""


def default_url() -> str:
    """The SQLite file runs.sqlite in the folder RNNVIZ_DATA, by default data under the working directory."""
    folder = Path(os.environ.get("RNNVIZ_DATA") or "data").resolve()
    return f"sqlite:///{folder / 'runs.sqlite'}"


def lock_file(address: str) -> Path | None:
    """The file whose lock says who supervises the runs of an SQLite file; None for any other database."""
    url = make_url(address)
    path = url.database or ":memory:"
    if url.get_backend_name() != "sqlite" or path == ":memory:" or path.startswith("file:"):
        return None
    return Path(f"{path}-lock")


def open_engine(address: str, patience: float) -> Engine:
    """An engine whose transactions are whole; patience is for how many seconds a locked SQLite file is waited for.

    connection options: write=True begins a transaction that may write. Raises OSError if the folder cannot be made.
    """
    url = make_url(address)
    if url.get_backend_name() != "sqlite":
        return create_engine(url)
    path = url.database
    if not path or path == ":memory:":
        engine = create_engine(url)
    else:
        if not path.startswith("file:"):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        # a class of thirty opens more connections at once than the default of 15 lets through
        engine = create_engine(url, connect_args={"timeout": patience}, pool_size=8, max_overflow=56)

    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # Python's own BEGIN comes late, and only before writes
        connection.execute("PRAGMA journal_mode=WAL")
        # WAL with NORMAL survives the death of any process; only a power cut may lose the last moments
        connection.execute("PRAGMA synchronous=NORMAL")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        # a transaction that turns from reading to writing midway fails at once instead of waiting for its turn
        writing = connection.get_execution_options().get("write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def in_words(error: Exception) -> str:
    """What a database error means for the person at the page."""
    text = str(error.orig).lower() if isinstance(error, DBAPIError) else ""
    if isinstance(error, OSError):
        text = os.strerror(error.errno or 0).lower()
    if isinstance(error, NoConnection) or "locked" in text or "busy" in text:
        return "The store of runs is busy: nothing was lost, try again in a moment."
    if "full" in text or "no space" in text:
        return "The disk of the store of runs is full: free some space or delete old runs, then try again."
    if "readonly" in text or "read-only" in text:
        return "The store of runs is read-only: this server can show runs, but not change them."
    if "malformed" in text or "not a database" in text:
        return "The store of runs is damaged: whoever runs this server has to put it back from a copy."
    if isinstance(error, OSError | OperationalError):
        return "The store of runs cannot be reached: whoever runs this server has to look at its data folder."
    return "The store of runs did not understand a request: this is a fault of the program."
