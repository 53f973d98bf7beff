"""Live runs: a read-only WebSocket that sends a run's columns while it trains.

    {base}/api/runs/{id}/stream?from=N

From the server, binary, each a message of components/payload.py:
    {"lane": i, "first": N, "loss": float32 [n], "probe_step": int32 [m], "reach": float32 [m], "listening": float32
    [m, 3]}: the steps N..N+n-1 of config i, its smoothed loss and the probes among these steps, reach inf beyond T;
    {"state": ..., "done": ..., "total": ...}: after the columns, when it is not what was said last.
From the client, text: {"from": N}, to go on from there in every lane. What was under way still arrives: first tells.

One poller a run reads the store, whoever watches; a viewer is nothing but a position, so a refresh, a second viewer, a
slow one and a reconnect are one and the same.
"""

import asyncio
import json
import logging
import os
import re
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from starlette.datastructures import Headers
from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect

from rnnviz.analysis.learning import smoothed
from rnnviz.results import Array
from rnnviz.runs.run import Curve, UnknownRun
from rnnviz.runs.store import RunStore, StoreError
from rnnviz.ui.components.payload import pack
from rnnviz.ui.serving import COOKIE, owner

log = logging.getLogger(__name__)

# Seconds:
LIVE_TICK = 0.5  # between two looks at a run that trains or waits
REST_TICK = 2.0  # and at one that rests: its owner may send it on, at another browser
WATCH = 2.5  # between two words to the store that somebody watches
ASK = 0.25  # before a client may ask again: that costs the client a few bytes, and the server a whole run
PATIENCE = 0.5  # that a client gets to take leave

ROWS = 2_400  # steps a message: with a probe at each it comes to 58 kB, below the 60 kB that a tick may have
PACKED = 64  # messages a run that are kept packed, for viewers at the same position
PER_RUN = 200  # viewers a run

# What a socket is closed with:
AWAY, UNSUPPORTED, POLICY, BROKEN, LATER, UNKNOWN = 1001, 1003, 1008, 1011, 1013, 4404


class Farewell(Exception):
    """Why a socket is closed: a code and a sentence for people, of at most the 123 bytes that a close can carry."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason.encode()[:123].decode(errors="ignore")


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """The first steps of a config without a gap: loss [n], smoothed; probes [m, 5] of step, reach, listening. over: no
    step will follow."""

    loss: Array
    probes: Array
    over: bool

    def more(self, curve: Curve) -> "Columns":
        """With what follows from a curve: no step twice, though a resumed run replays some, and none beyond a gap."""
        n = len(self.loss)
        start = int(np.searchsorted(curve.step, n))
        later = curve.step[start:]
        end = n + int((later == n + np.arange(len(later))).sum())  # after a gap no step is where it would be without
        loss = smoothed(curve.loss[start : start + end - n], float(self.loss[-1]) if n else np.nan)
        probes = np.column_stack([curve.probe_step, curve.reach, curve.listening])
        probes = probes[(probes[:, 0] >= n) & (probes[:, 0] < end)]
        # a step with a fault is recorded and was not done
        over = end >= curve.config.steps or (curve.fault is not None and end > curve.done)
        return Columns(np.concatenate([self.loss, loss]), np.concatenate([self.probes, probes]), over)


def since(lanes: Sequence[Columns]) -> int:
    """The first step that is not known of every config; those that are over do not hold up the others."""
    over = max((len(lane.loss) for lane in lanes), default=0)
    return min((len(lane.loss) for lane in lanes if not lane.over), default=over)


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A run as it was at one look: its columns, and its state as the message that viewers get."""

    lanes: tuple[Columns, ...]
    state: bytes
    live: bool
    owner: str


class Feed:
    """A run that is watched: the last look at it, its viewers, the tasks that look."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.look: Look | None = None
        self.viewers: set[Viewer] = set()
        self.tasks: list[asyncio.Task[None]] = []
        # what is known of a step never changes, so that a position says what a message holds
        self.message: Callable[[int, int, int], bytes] = lru_cache(PACKED)(self._message)

    def _message(self, lane: int, first: int, last: int) -> bytes:
        assert self.look is not None
        columns = self.look.lanes[lane]
        start, stop = np.searchsorted(columns.probes[:, 0], [first, last])
        probes = columns.probes[start:stop]
        with np.errstate(over="ignore"):  # what is too large for a float32 is inf
            loss, heard = columns.loss[first:last].astype(np.float32), probes[:, 1:].astype(np.float32)
        rows = {"loss": loss, "probe_step": probes[:, 0].astype(np.int32), "reach": heard[:, 0]}
        return pack({"lane": lane, "first": first, **rows, "listening": heard[:, 1:]})


class Viewer:
    """Who is connected: where it is in each lane. owner: None where there is no cookie to tell."""

    def __init__(self, start: int, owner: str | None) -> None:
        self.owner = owner
        self.wake = asyncio.Event()
        self.farewell: asyncio.Future[Farewell] = asyncio.get_running_loop().create_future()
        self.ask(start)

    def ask(self, start: int) -> None:
        """Go on from this step in every lane, and say the state after that."""
        self.start = start
        self.position: dict[int, int] = {}
        self.state = b""
        self.wake.set()

    def due(self, feed: Feed, look: Look) -> Iterator[bytes]:
        """What it has not got of a look, a message of each lane in turn, then the state.

        The position moves before a message is sent: an ask that comes meanwhile is not undone by it. Messages end at
        multiples of ROWS, so that whoever starts anywhere is soon where the others are.
        """
        behind = True
        while behind:
            behind = False
            for lane, columns in enumerate(look.lanes):
                first = self.position.get(lane, self.start)
                last = min(len(columns.loss), (first // ROWS + 1) * ROWS)
                if first < last:
                    self.position[lane] = last
                    yield feed.message(lane, first, last)
                    behind = True
        if look.state != self.state:
            self.state = look.state
            yield look.state


class Streams:
    """The endpoint for all runs, for a WebSocketRoute with {id} in its path; the server closes it at its end.

    open_store is called in a thread until it gives a store. most: viewers in all, by default RNNVIZ_STREAMS, else 300.
    """

    def __init__(self, open_store: Callable[[], RunStore], *, most: int | None = None, per_run: int = PER_RUN) -> None:
        self._open_store = open_store
        number = os.environ.get("RNNVIZ_STREAMS", "")
        self._most = most or (int(number) if number.isdecimal() else 300)
        self._per_run = per_run
        self._store: RunStore | None = None
        self._opening = threading.Lock()
        self._word = asyncio.Semaphore(1)  # writes wait for each other: one thread shall, not all that the server has
        self._feeds: dict[str, Feed] = {}
        self._serving: set[asyncio.Future[None]] = set()

    async def serve(self, socket: WebSocket) -> None:
        """One connection, from its first message to its last."""
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._serving.add(over)
        try:
            with suppress(WebSocketDisconnect, OSError):  # it has left already; or has no time to, TimeoutError
                try:
                    if not from_here(socket.headers):
                        raise Farewell(POLICY, "This page is not from this server.")
                    await socket.accept()
                    await self._attend(socket)
                except Farewell as farewell:
                    async with asyncio.timeout(PATIENCE):
                        await socket.close(farewell.code, farewell.reason)
        finally:
            self._serving.discard(over)
            over.cancel()

    async def close(self) -> None:
        """End every connection and every task within a second."""
        for feed in self._feeds.values():
            _end(feed, Farewell(AWAY, "The server is stopping: the run is there again when it is back."))
        if self._serving:
            await asyncio.wait(list(self._serving), timeout=PATIENCE + 0.4)
        store, self._store = self._store, None
        if store is not None:
            await asyncio.to_thread(store.close)

    async def _attend(self, socket: WebSocket) -> None:
        """Let a client in and serve it to its end. Raises Farewell."""
        text = socket.query_params.get("from", "0")
        start = _step(int(text) if re.fullmatch("[0-9]{1,10}", text) else None)
        id = socket.path_params["id"]
        if not re.fullmatch("[A-Za-z0-9_-]{1,64}", id):
            raise Farewell(UNKNOWN, str(UnknownRun()))
        feed = self._feeds.get(id) or Feed(id)
        if len(self._serving) > self._most or len(feed.viewers) >= self._per_run:
            raise Farewell(LATER, "Too many are watching: close another tab, or try again in a moment.")
        viewer = Viewer(start, owner(socket.cookies, "") if socket.cookies.get(COOKIE) else None)
        feed.viewers.add(viewer)
        if not feed.tasks:
            self._feeds[id] = feed
            feed.tasks.append(asyncio.create_task(self._follow(feed)))
        try:
            await _stay(socket, feed, viewer)
        finally:
            feed.viewers.discard(viewer)
            if not feed.viewers:
                for task in feed.tasks:
                    task.cancel()
                if self._feeds.get(id) is feed:  # an ended one is gone already, and another may be in its place
                    del self._feeds[id]

    async def _follow(self, feed: Feed) -> None:
        """Look at a run again and again; send its viewers away when there is nothing to look at any more."""
        try:
            while True:
                look = await asyncio.to_thread(self._look, feed.id, feed.look)
                if feed.look is None:
                    feed.tasks.append(asyncio.create_task(self._vouch(feed, look.owner)))
                feed.look = look
                for viewer in feed.viewers:
                    viewer.wake.set()
                await asyncio.sleep(LIVE_TICK if look.live else REST_TICK)
        except (UnknownRun, StoreError) as error:
            farewell = Farewell(UNKNOWN if isinstance(error, UnknownRun) else LATER, str(error))
        except Exception:
            log.exception("stream of run %s", feed.id)
            farewell = Farewell(BROKEN, "The server made a mistake, which is in its log.")
        self._feeds.pop(feed.id, None)  # whoever comes next begins anew
        _end(feed, farewell)

    async def _vouch(self, feed: Feed, run_owner: str) -> None:
        """Say that its viewers watch it, so that it does not pause itself as unwatched; who has no cookie counts as the
        run's owner, and is in nobody's way."""
        while True:
            async with self._word:
                owners = {viewer.owner or run_owner for viewer in feed.viewers}
                await asyncio.to_thread(self._watch, feed.id, owners)
            await asyncio.sleep(WATCH)

    def _look(self, id: str, before: Look | None) -> Look:
        lanes = () if before is None else before.lanes
        run = self._opened().read(id, since(lanes))
        known = lanes or (Columns(np.empty(0), np.empty((0, 5)), over=False),) * len(run.curves)
        known = tuple(lane.more(curve) for lane, curve in zip(known, run.curves, strict=True))
        return Look(known, pack({"state": run.state, "done": run.done, "total": run.total}), run.live, run.owner)

    def _watch(self, id: str, owners: Collection[str]) -> None:
        # at the first failure none of the others is tried: each would wait for a locked store as long
        with suppress(StoreError, UnknownRun):
            for name in owners:
                self._opened().watch(id, name)

    def _opened(self) -> RunStore:
        with self._opening:
            if self._store is None:
                self._store = self._open_store()
            return self._store


def _end(feed: Feed, farewell: Farewell) -> None:
    """Send its viewers away; the last one to leave ends its tasks."""
    for viewer in feed.viewers:
        if not viewer.farewell.done():
            viewer.farewell.set_result(farewell)


async def _stay(socket: WebSocket, feed: Feed, viewer: Viewer) -> None:
    """Send and listen, until the client leaves or is sent away. Raises Farewell."""
    tasks = [asyncio.create_task(work) for work in (_talk(socket, feed, viewer), _listen(socket, viewer))]
    ends: list[asyncio.Future[Any]] = [*tasks, viewer.farewell]
    try:
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    if viewer.farewell.done():
        raise viewer.farewell.result()
    for error in [task.exception() for task in tasks if not task.cancelled()]:
        if error is not None:
            raise error


async def _talk(socket: WebSocket, feed: Feed, viewer: Viewer) -> None:
    """Send what is due, whenever something may be; waits for a slow client and keeps nothing for it."""
    while True:
        await viewer.wake.wait()
        viewer.wake.clear()
        for message in viewer.due(feed, feed.look) if feed.look else ():
            await socket.send_bytes(message)
            await asyncio.sleep(0)  # a long history is sent without a pause otherwise, and all others wait


async def _listen(socket: WebSocket, viewer: Viewer) -> None:
    """Take asks until the client leaves. Raises Farewell at what is none."""
    while (message := await socket.receive())["type"] != "websocket.disconnect":
        viewer.ask(_asked(message))
        await asyncio.sleep(ASK)


def _asked(message: Message) -> int:
    try:
        asked = json.loads((message.get("text") or "")[:64])  # cut short it is no JSON any more
    except ValueError:
        raise Farewell(UNSUPPORTED, 'A message is {"from": N} as text.') from None
    return _step(asked["from"] if isinstance(asked, dict) and asked.keys() == {"from"} else None)


def _step(asked: Any) -> int:
    if type(asked) is not int or not 0 <= asked <= 10**9:  # a bool is an int as well
        raise Farewell(POLICY, "from takes a whole number from 0 to 1000000000.")
    return asked


def from_here(headers: Headers) -> bool:
    """The page that connects is of this server, or no page does; a script cannot change these headers. A port counts
    where the server was told one: proxies like to drop it."""
    origin = headers.get("origin")
    hosts = f"{headers.get('host', '')},{headers.get('x-forwarded-host', '')}".split(",")
    try:
        here = [urlsplit(f"//{host.strip()}") for host in hosts]
        there = urlsplit(origin or "")
        port = there.port or {"http": 80, "https": 443}.get(there.scheme)
        same = any(host.hostname == there.hostname and host.port in (None, port) for host in here)
    except ValueError:
        return False
    return origin is None or (there.hostname is not None and same)
