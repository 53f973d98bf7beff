"""The live stream of a run: every column arrives once, in order, whatever happens meanwhile; and who may have it."""

import asyncio
import json
import struct
import subprocess
import sys
import time
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace

import anyio
import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from rnnviz.analysis.learning import smoothed
from rnnviz.config import TrainConfig
from rnnviz.results import Probe, Record
from rnnviz.runs.run import Limits
from rnnviz.runs.store import RunStore, StoreError
from rnnviz.ui import stream
from rnnviz.ui.components.payload import TYPES
from rnnviz.ui.serving import COOKIE, owner
from rnnviz.ui.stream import Streams, from_here

SMALL = TrainConfig(hidden=4, length=5, batch=4, steps=100, probe_every=10)
LOSS = np.random.default_rng(0).random(20_000)


def probe(step):
    return Probe(
        error=0.25,
        reach=None if step % 3 == 0 else step % 5,
        listening=(0.5, -0.25, step / 1000),
        **dict.fromkeys(("log_answer", "log_grad_norm", "inputs", "predictions", "targets"), np.zeros(2)),
        gates={},
        weights={},
    )


def record(step, every=10, loss=None, fault=None):
    return Record(
        step=step,
        loss=float(LOSS[step] if loss is None else loss),
        grad_norm=1.0,
        clipped=False,
        update=0.01,
        seconds=0.1 * step,
        parts={"W_h": 0.5},
        probe=probe(step) if step % every == 0 else None,
        fault=fault,
    )


def records(start, stop, every=10, lane=0):
    return [(lane, record(step, every)) for step in range(start, stop)]


class Counted(RunStore):
    """A store that knows how often it was read, and who said that they watch."""

    def __init__(self, url):
        super().__init__(url, limits=Limits(live_per_owner=100))
        self.reads, self.watched = [], []

    def read(self, id, since=0):
        self.reads.append(since)
        return super().read(id, since)

    def watch(self, id, owner):
        super().watch(id, owner)
        self.watched.append(owner)


@pytest.fixture
def store(tmp_path):
    store = Counted(f"sqlite:///{tmp_path / 'runs.sqlite'}")
    yield store
    store.close()


@pytest.fixture
def id(store):
    return store.create((SMALL,), "ann")


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    for name in ("LIVE_TICK", "REST_TICK", "ASK"):
        monkeypatch.setattr(stream, name, 0.01)


def app(streams):
    @asynccontextmanager
    async def lifespan(_app):
        yield
        await streams.close()

    return Starlette(routes=[WebSocketRoute("/rnn/api/runs/{id}/stream", streams.serve)], lifespan=lifespan)


@pytest.fixture
def client(store):
    with TestClient(app(Streams(lambda: store))) as client:
        yield client


def connect(client, id, start=None, **headers):
    return client.websocket_connect(
        f"/rnn/api/runs/{id}/stream" + ("" if start is None else f"?from={start}"), headers=headers
    )


def receive(socket, seconds=10):
    """The next message as it is; a message that does not come is an error, not a test without end."""

    async def wait():
        with anyio.fail_after(seconds):
            return await socket._send_rx.receive()

    message = socket.portal.call(wait)
    if message["type"] == "websocket.close":
        raise WebSocketDisconnect(message["code"], message["reason"])
    return message["bytes"]


def unpack(message):
    """What payload.js does."""
    (length,) = struct.unpack_from("<I", message)
    tree = json.loads(message[4 : 4 + length])
    start = -(-(4 + length) // 8) * 8

    def array(kind, shape, offset):
        return np.frombuffer(message, TYPES[kind], int(np.prod(shape)), start + offset).reshape(shape)

    return {name: array(*value["$array"]) if isinstance(value, dict) else value for name, value in tree.items()}


def until(socket, done):
    """The messages up to the first state with so many steps done."""
    messages = []
    while not messages or messages[-1].get("done") != done:
        messages.append(unpack(receive(socket)))
    return messages


def wait_for(done, seconds=10):
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def lane(messages, number=0):
    """The columns of a lane, put together; they follow each other without a gap."""
    mine = [message for message in messages if message.get("lane") == number]
    at = mine[0]["first"]
    for message in mine:
        assert message["first"] == at
        at += len(message["loss"])
    names = ("loss", "probe_step", "reach", "listening")
    return mine[0]["first"], *(np.concatenate([message[name] for message in mine]) for name in names)


def right(got, start, stop, every=10):
    """These are the columns of steps start..stop-1."""
    first, loss, probe_step, reach, listening = got
    assert first == start
    assert {column.dtype for column in (loss, reach, listening)} == {np.dtype(np.float32)}
    assert probe_step.dtype == np.int32
    np.testing.assert_array_equal(loss, smoothed(LOSS[:stop])[start:].astype(np.float32))
    steps = [step for step in range(start, stop) if step % every == 0]
    assert probe_step.tolist() == steps
    np.testing.assert_array_equal(reach, [np.inf if step % 3 == 0 else step % 5 for step in steps])
    np.testing.assert_array_equal(listening, np.float32([(0.5, -0.25, step / 1000) for step in steps]).reshape(-1, 3))


def refused(client, id, start=None, **headers):
    """With which code and words it is closed."""
    with pytest.raises(WebSocketDisconnect) as closed, connect(client, id, start, **headers) as socket:
        receive(socket)
    return closed.value.code, closed.value.reason


# ---------------------------------------------------------------- what arrives


def test_every_column_arrives_and_then_the_state(client, store, id):
    store.append(id, records(0, 45))
    with connect(client, id) as socket:
        messages = until(socket, 45)
    right(lane(messages), 0, 45)
    assert messages[-1] == {"state": "queued", "done": 45, "total": 100}
    assert len(messages) == 2


def test_a_run_without_a_record_says_its_state(client, id):
    with connect(client, id) as socket:
        assert until(socket, 0) == [{"state": "queued", "done": 0, "total": 100}]


@pytest.mark.parametrize("start", [1, 20, 44])
def test_it_begins_where_it_is_asked_to_and_the_average_does_not(client, store, id, start):
    store.append(id, records(0, 45))
    with connect(client, id, start) as socket:
        right(lane(until(socket, 45)), start, 45)


def test_a_step_that_is_not_there_yet_is_waited_for(client, store, id):
    store.append(id, records(0, 10))
    with connect(client, id, 15) as socket:
        assert [list(message) for message in until(socket, 10)] == [["state", "done", "total"]]
        store.append(id, records(10, 20))
        right(lane(until(socket, 20)), 15, 20)


def test_lanes_come_side_by_side_and_one_that_broke_holds_up_no_other(client, store):
    id = store.create((SMALL, replace(SMALL, cell="rnn"), replace(SMALL, cell="gru")), "ann")
    broken = [(1, record(7, loss=np.nan, fault="step 7: the loss is not finite"))]
    store.append(id, [*records(0, 30), *records(0, 7, lane=1), *broken, *records(0, 20, lane=2)])
    with connect(client, id, 5) as socket:
        messages = until(socket, 57)
        for number, stop in ((0, 30), (2, 20)):
            right(lane(messages, number), 5, stop)
        _, loss, *_ = lane(messages, 1)
        np.testing.assert_array_equal(loss, smoothed(np.append(LOSS[:7], np.nan))[5:].astype(np.float32))
        store.append(id, [*records(30, 100), *records(20, 40, lane=2)])
        messages += until(socket, 147)
        for number, stop in ((0, 100), (2, 40)):
            right(lane(messages, number), 5, stop)
        store.reads.clear()
        store.append(id, records(40, 45, lane=2))
        until(socket, 152)
    assert min(store.reads) == 40  # neither the lane that broke nor the one at its end is read again


def test_a_long_run_comes_in_several_messages_and_none_is_too_large(client, store):
    config = replace(SMALL, steps=6_000, probe_every=1)
    id = store.create((config, config), "ann")
    store.append(id, [*records(0, 5_000, every=1), *records(0, 5_000, every=1, lane=1)])
    with connect(client, id, 1_000) as socket:
        messages = [receive(socket) for _ in range(7)]
    assert max(map(len, messages)) <= 60_000
    trees = [unpack(message) for message in messages]
    assert [(tree["lane"], tree["first"]) for tree in trees[:-1]] == [
        (number, first) for first in (1_000, 2_400, 4_800) for number in (0, 1)
    ]
    for number in (0, 1):
        right(lane(trees, number), 1_000, 5_000, every=1)
    assert trees[-1]["done"] == 10_000


def test_new_records_are_sent_as_they_come_and_the_end_after_them(client, store, id):
    with connect(client, id) as socket:
        messages = until(socket, 0)
        for start, stop in ((0, 1), (1, 30), (30, 31), (31, 100)):
            store.append(id, records(start, stop))
            messages += until(socket, stop)
        store.settle(id, "finished")
        messages += until(socket, 100)
    right(lane(messages), 0, 100)
    assert messages[-1] == {"state": "finished", "done": 100, "total": 100}
    assert sum("lane" in message for message in messages) == 4


def test_nothing_new_is_no_message(client, store, id):
    store.append(id, records(0, 10))
    with connect(client, id) as socket:
        until(socket, 10)
        with pytest.raises(TimeoutError):
            receive(socket, seconds=0.2)
    assert len(store.reads) > 3


def test_what_a_resumed_run_replays_is_not_sent_again(client, store, id):
    store.append(id, records(0, 40))
    with connect(client, id) as socket:
        messages = until(socket, 40)
        store.append(id, records(25, 35))
        messages += until(socket, 35)
        store.append(id, records(35, 60))
        messages += until(socket, 60)
    right(lane(messages), 0, 60)
    assert [len(message["loss"]) for message in messages if "lane" in message] == [40, 20]


def test_a_gap_is_not_jumped(client, store, id):
    store.append(id, [*records(0, 10)])
    with connect(client, id) as socket:
        messages = until(socket, 10)
        store.append(id, records(20, 30))
        messages += until(socket, 30)
        assert sum("lane" in message for message in messages) == 1
        store.append(id, records(10, 20))
        messages += until(socket, 20)
        store.append(id, records(30, 35))
        messages += until(socket, 35)
    right(lane(messages), 0, 35)


def test_what_is_not_finite_or_too_large_for_a_float_arrives_as_that(client, store, id):
    loss = [np.nan, np.inf, 1e300, 1e300, np.nan]
    store.append(id, [(0, record(step, loss=value)) for step, value in enumerate(loss)])
    with connect(client, id) as socket:
        _, got, _, reach, _ = lane(until(socket, 5))
    np.testing.assert_array_equal(got, [np.nan, np.nan, np.inf, np.inf, np.inf])
    assert reach.tolist() == [np.inf]


def test_who_asks_again_gets_everything_from_there(client, store):
    id = store.create((SMALL, SMALL), "ann")
    store.append(id, [*records(0, 45), *records(0, 45, lane=1)])
    with connect(client, id, 40) as socket:
        until(socket, 90)
        for start in (0, 33, 45, 7):
            socket.send_text(json.dumps({"from": start}))
            messages = until(socket, 90)
            if start < 45:
                for number in (0, 1):
                    right(lane(messages, number), start, 45)
            assert len(messages) == (1 if start == 45 else 3)


# ---------------------------------------------------------------- who is refused


@pytest.mark.parametrize("start", ["", "-1", "1.5", "1e3", "x", "%20", "1000000001", "9" * 5_000, "٣", "0x1"])
def test_a_bad_start_is_refused_in_words(client, id, start):
    code, reason = refused(client, id, start)
    assert code == 1008
    assert reason == "from takes a whole number from 0 to 1000000000."


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", 1003),
        ("hello", 1003),
        ("[" * 1_000, 1003),
        ('{"from": ' + "1" * 100_000, 1003),
        ("5", 1008),
        ("[5]", 1008),
        ("{}", 1008),
        ('{"from": -1}', 1008),
        ('{"from": 5.0}', 1008),
        ('{"from": true}', 1008),
        ('{"from": NaN}', 1008),
        ('{"from": "5"}', 1008),
        ('{"from": 1000000001}', 1008),
        ('{"from": 5, "to": 6}', 1008),
        (b'{"from": 5}', 1003),
    ],
)
def test_a_bad_ask_ends_it(client, id, text, code):
    with connect(client, id) as socket:
        until(socket, 0)
        (socket.send_bytes if isinstance(text, bytes) else socket.send_text)(text)
        with pytest.raises(WebSocketDisconnect) as closed:
            receive(socket)
    assert closed.value.code == code
    assert "from" in closed.value.reason


def test_an_unknown_run_is_refused_and_a_strange_name_never_reaches_the_store(client, store, id):
    unknown = (4404, "There is no such run: its link is wrong, or it was deleted.")
    assert refused(client, "no-such-run") == unknown
    store.reads.clear()
    assert refused(client, "a%27b") == unknown
    assert refused(client, "x" * 65) == unknown
    assert store.reads == []


def test_a_run_that_is_deleted_sends_its_viewers_away(client, store, id):
    with connect(client, id) as socket:
        until(socket, 0)
        store.want(id, "stop", "ann")
        store.delete(id, "ann")
        with pytest.raises(WebSocketDisconnect) as closed:
            until(socket, -1)
    assert closed.value.code == 4404


@pytest.mark.parametrize("opens", [False, True])
def test_a_store_that_fails_is_said_in_words_and_tried_again(store, id, monkeypatch, opens):
    trouble = [StoreError("The store of runs is busy: nothing was lost, try again in a moment.")]

    def fail_once(*_):
        if trouble:
            raise trouble.pop()
        return store if not opens else RunStore.read(store, id)

    if opens:
        monkeypatch.setattr(store, "read", fail_once)
    with TestClient(app(Streams((lambda: store) if opens else fail_once))) as client:
        assert refused(client, id) == (1013, "The store of runs is busy: nothing was lost, try again in a moment.")
        with connect(client, id) as socket:
            until(socket, 0)


def test_a_mistake_of_ours_is_logged_and_shows_nothing(client, store, id, monkeypatch, caplog):
    monkeypatch.setattr(store, "read", lambda *_: 1 / 0)
    assert refused(client, id) == (1011, "The server made a mistake, which is in its log.")
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize(
    ("headers", "welcome"),
    [
        ({}, True),
        ({"origin": "http://testserver"}, True),
        ({"origin": "https://TESTSERVER:8600"}, True),
        ({"origin": "http://elsewhere.org"}, False),
        ({"origin": "http://testserver.elsewhere.org"}, False),
        ({"origin": "http://testserver@elsewhere.org"}, False),
        ({"origin": "null"}, False),
        ({"origin": ""}, False),
        ({"origin": "http://[::1"}, False),
        ({"origin": "https://class.org", "x-forwarded-host": "class.org"}, True),
        ({"origin": "https://class.org", "x-forwarded-host": "class.org, inner:80"}, True),
        ({"origin": "https://class.org", "x-forwarded-host": "class.org:443"}, True),
        ({"origin": "http://localhost:8501", "host": "localhost:8501"}, True),
        ({"origin": "http://localhost:3000", "host": "localhost:8501"}, False),
        ({"origin": "http://localhost", "host": "localhost:8501"}, False),
        ({"origin": "http://[::1]:8501", "host": "[::1]:8501"}, True),
        ({"origin": "http://a:x", "host": "a"}, False),
        ({"origin": "null", "host": ""}, False),
    ],
)
def test_only_pages_of_this_server_may_listen(client, id, headers, welcome):
    if welcome:
        with connect(client, id, **headers) as socket:
            until(socket, 0)
    else:
        assert refused(client, id, **headers)[0] == 1008


def test_a_foreign_page_is_turned_away_before_it_is_let_in(store, id):
    sent = talk(Streams(lambda: store), id, [], headers={"host": "here", "origin": "http://there"})
    assert [message["type"] for message in sent] == ["websocket.close"]
    assert store.reads == []


@pytest.mark.parametrize("bounds", [{"most": 2}, {"per_run": 2}])
def test_there_is_room_for_so_many_and_a_place_that_is_left_is_free(store, id, bounds):
    other = store.create((SMALL,), "ann")
    streams = Streams(lambda: store, **bounds)
    with TestClient(app(streams)) as client, connect(client, id) as first:
        until(first, 0)
        with connect(client, id) as second:
            until(second, 0)
            code, reason = refused(client, id)
            assert code == 1013
            assert "Too many" in reason
            if "per_run" in bounds:
                with connect(client, other) as third:
                    until(third, 0)
            else:
                assert refused(client, other)[0] == 1013
        with connect(client, id) as third:
            until(third, 0)


@pytest.mark.parametrize(("text", "most"), [(None, 300), ("1", 1), ("many", 300), ("", 300), ("0", 0)])
def test_the_room_is_a_setting_of_the_server(store, id, monkeypatch, text, most):
    if text is None:
        monkeypatch.delenv("RNNVIZ_STREAMS", raising=False)
    else:
        monkeypatch.setenv("RNNVIZ_STREAMS", text)
    streams = Streams(lambda: store)
    monkeypatch.setenv("RNNVIZ_STREAMS", "7")  # read once
    with TestClient(app(streams)) as client, ExitStack() as stack:
        for _ in range(min(most, 2)):
            until(stack.enter_context(connect(client, id)), 0)
        if most < 2:
            assert refused(client, id)[0] == 1013


# ---------------------------------------------------------------- what it costs


def test_what_all_see_is_read_and_packed_once(client, store, id, monkeypatch):
    packed = []
    monkeypatch.setattr(stream, "pack", lambda tree, pack=stream.pack: packed.append(tree) or pack(tree))
    with ExitStack() as stack:
        sockets = [stack.enter_context(connect(client, id)) for _ in range(5)]
        for socket in sockets:
            until(socket, 0)
        store.append(id, records(0, 20))
        columns, states = zip(*[(receive(socket), receive(socket)) for socket in sockets], strict=True)
        assert unpack(states[0])["done"] == 20
        for messages in (columns, states):
            assert all(message is messages[0] for message in messages)
        assert sum("lane" in tree for tree in packed) == 1
        late = stack.enter_context(connect(client, id))
        assert receive(late) is columns[0]
        reads, since = len(store.reads), time.monotonic()
        time.sleep(0.1)
        assert len(store.reads) - reads <= (time.monotonic() - since) / 0.01 + 2  # one poller, however many watch


def test_the_poller_ends_with_the_last_viewer_and_another_begins_anew(store, id):
    store.append(id, records(0, 5))
    streams = Streams(lambda: store)
    with TestClient(app(streams)) as client:
        for _ in range(2):
            with connect(client, id) as one, connect(client, id) as other:
                until(one, 5)
                right(lane(until(other, 5)), 0, 5)
                assert list(streams._feeds) == [id]
            assert streams._feeds == {}
            assert client.portal.call(tasks) == []
            time.sleep(0.1)  # a read that was under way
            reads = len(store.reads)
            time.sleep(0.05)
            assert len(store.reads) == reads
    assert store.reads.count(0) == 2


async def tasks():
    """What still runs of ours."""
    return [name for task in asyncio.all_tasks() if "Streams" in (name := task.get_coro().__qualname__)]


def test_who_watches_is_said_to_the_store_but_not_all_the_time(client, store, id):
    browser = {"cookie": f"{COOKIE}=secret"}
    with connect(client, id, **browser) as one, connect(client, id, **browser) as same, connect(client, id) as nameless:
        for socket in (one, same, nameless):
            until(socket, 0)
        wait_for(lambda: store.watched)  # the first viewer, at once
        assert len(store.watched) <= 2
        assert set(store.watched) <= {owner({COOKIE: "secret"}, ""), "ann"}
    assert store.find(id).watching >= 1


def test_everybody_who_watches_is_named_once_a_while_and_no_cookie_is_the_owner(client, store, id, monkeypatch):
    monkeypatch.setattr(stream, "WATCH", 0.01)
    with connect(client, id, cookie=f"{COOKIE}=secret"), connect(client, id) as nameless:
        until(nameless, 0)
        wait_for(lambda: set(store.watched) == {owner({COOKIE: "secret"}, ""), "ann"})
    assert store.find(id).watching == 2


def test_a_store_that_cannot_take_the_word_is_read_all_the_same(client, store, id, monkeypatch):
    called = []

    def fail(*_):
        called.append(1)
        raise StoreError("read-only")

    monkeypatch.setattr(stream, "WATCH", 0.01)
    monkeypatch.setattr(store, "watch", fail)
    with connect(client, id) as socket:
        until(socket, 0)
        store.append(id, records(0, 20))
        right(lane(until(socket, 20)), 0, 20)
        wait_for(lambda: len(called) >= 2)


# ---------------------------------------------------------------- without a client that is well


def scope(id, headers):
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    return {"type": "websocket", "path": "/", "path_params": {"id": id}, "query_string": b"", "headers": raw}


def talk(streams, id, coming, headers):
    """What is sent to a client that says this."""
    sent = []

    async def scenario():
        queue = iter([{"type": "websocket.connect"}, *coming])

        async def send(message):
            sent.append(message)

        async def receive():
            return next(queue)

        await streams.serve(WebSocket(scope(id, headers), receive, send))

    asyncio.run(scenario())
    return sent


class Stalled:
    """A client that reads nothing after so many messages, and never says that it leaves."""

    def __init__(self, id, takes):
        self.takes, self.sent, self.stuck = takes, [], asyncio.Event()
        self.connected = False
        self.socket = WebSocket(scope(id, {}), self.receive, self.send)

    async def receive(self):
        if self.connected:
            await asyncio.Event().wait()
        self.connected = True
        return {"type": "websocket.connect"}

    async def send(self, message):
        if message["type"] != "websocket.accept":
            if len(self.sent) == self.takes:
                self.stuck.set()
                await asyncio.Event().wait()
            self.sent.append(message)


def test_a_client_that_reads_nothing_holds_nothing_and_stops_nobody(store, id, monkeypatch):
    packed = []
    monkeypatch.setattr(stream, "pack", lambda tree, pack=stream.pack: packed.append(tree) or pack(tree))
    monkeypatch.setattr(stream, "ROWS", 10)

    async def scenario():
        streams = Streams(lambda: store)
        stalled = Stalled(id, 1)
        serving = asyncio.create_task(streams.serve(stalled.socket))
        await asyncio.wait_for(stalled.stuck.wait(), 10)
        packed.clear()
        for start in range(20, 60):
            store.append(id, records(start, start + 1))
        await asyncio.sleep(0.1)
        assert not [tree for tree in packed if "lane" in tree]
        well = Stalled(id, 7)
        other = asyncio.create_task(streams.serve(well.socket))
        while len(well.sent) < 7:
            await asyncio.sleep(0.01)
        right(lane([unpack(message["bytes"]) for message in well.sent]), 0, 60)
        before = time.monotonic()
        await streams.close()
        await asyncio.wait_for(asyncio.gather(serving, other), 0.5)
        assert time.monotonic() - before < 1
        return well.sent

    store.append(id, records(0, 20))
    assert len(asyncio.run(scenario())) == 7


def test_the_end_of_the_server_is_said_to_all_at_once(store, id):
    streams = Streams(lambda: store)
    with TestClient(app(streams)) as client, connect(client, id) as one, connect(client, id) as other:
        until(one, 0)
        until(other, 0)
        before = time.monotonic()
        client.portal.call(streams.close)
        assert time.monotonic() - before < 1
        for socket in (one, other):
            with pytest.raises(WebSocketDisconnect) as closed:
                receive(socket)
            assert closed.value.code == 1001
        assert client.portal.call(tasks) == []


def test_a_client_that_is_gone_while_it_is_sent_something_is_no_error(store, id):
    class Gone(Stalled):
        async def send(self, message):
            if message["type"] != "websocket.accept":
                raise OSError

    async def scenario():
        streams = Streams(lambda: store)
        await asyncio.wait_for(streams.serve(Gone(id, 0).socket), 10)
        assert streams._feeds == {}
        await streams.close()

    asyncio.run(scenario())


def test_it_loads_no_torch():
    code = "import sys, rnnviz.ui.stream; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_headers_are_judged_without_a_host():
    assert from_here(Headers({}))
    assert not from_here(Headers({"origin": "http://a"}))
