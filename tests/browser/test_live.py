"""A live run in Chromium: its points arrive through the run's own stream, each once, whatever happens on the way."""

import re
import time
from itertools import count

import numpy as np
import pytest

from rnnviz.analysis.learning import smoothed
from rnnviz.config import TrainConfig
from rnnviz.results import Record
from rnnviz.runs.store import RunStore

DRAWN = "() => { const line = document.querySelector('.js-plotly-plot').data[0]; return [[...line.x], [...line.y]]; }"


class Writer:
    """Trains in a worker's place, as fast as a test wants: its losses are numbers made by a seed."""

    def __init__(self, data, steps=5000):
        self.store = RunStore(f"sqlite:///{data / 'runs.sqlite'}")
        config = TrainConfig(hidden=8, length=20, steps=steps)
        # The server looks into the queue five times a second, and pauses at its start what another left running.
        for seed in count():
            self.id = self.store.create((config,), f"writer {seed}")
            claimed = self.store.claim()
            time.sleep(1)
            if claimed is not None and claimed[0] == self.id and self.store.find(self.id).state == "running":
                self.attempt = claimed[1]
                break
        self.random = np.random.default_rng(0)
        self.losses = np.zeros(0)

    def write(self, steps):
        new = self.random.uniform(0.1, 0.3, steps)
        first = len(self.losses)
        records = [
            Record(first + k, float(loss), 1.0, False, 0.1, 0.01 * (first + k), {}) for k, loss in enumerate(new)
        ]
        self.store.append(self.id, [(0, record) for record in records], attempt=self.attempt)
        self.losses = np.append(self.losses, new)


@pytest.fixture
def writer(server):
    made = Writer(server.data)
    yield made
    made.store.settle(made.id, "stopped", attempt=made.attempt)
    made.store.close()


def wait_for(page, steps):
    page.wait_for_function(
        "steps => document.querySelector('.js-plotly-plot')?.data?.[0]?.x?.length === steps", arg=steps, timeout=60_000
    )


def test_ticks_keep_node_and_zoom_and_lose_or_double_no_step(page, settled, writer, problems):
    cut = []
    sockets = []

    def through(socket):
        if cut:
            socket.close()
        else:
            socket.connect_to_server()
            sockets.append(socket)

    page.route_web_socket(re.compile("stream"), through)
    writer.write(40)
    page.goto(f"/adding_problem?run={writer.id}")
    settled(page)
    wait_for(page, 40)
    page.evaluate("window.kept = document.querySelector('.js-plotly-plot')")
    page.locator(".rnn-menu summary").click()
    page.get_by_role("button", name="Zoom by dragging").click()
    box = page.locator(".rnn-field").bounding_box()
    page.mouse.move(box["x"] + 400, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 800, box["y"] + 90, steps=5)
    page.mouse.up()
    ranges = "() => ['xaxis', 'yaxis'].map(name => window.kept._fullLayout[name].range)"
    page.wait_for_function(f"({ranges})()[0][0] > 5")
    before = page.evaluate(ranges)
    for tick in range(22):
        writer.write(15)
        page.wait_for_timeout(250)
        if tick == 7:  # the network is gone for three seconds, for Streamlit and for the run
            cut.append(True)
            for socket in sockets:
                socket.close()
            gone = time.monotonic()
        if tick > 7 and cut and time.monotonic() - gone > 3:
            cut.clear()
        if tick == 20:
            page.locator(".st-key-adding_problem_cell").get_by_text("LSTM", exact=True).click()
            settled(page)
    cut.clear()
    wait_for(page, 40 + 22 * 15)
    problems.clear()  # that the sockets could not be opened while the network was gone
    x, y = page.evaluate(DRAWN)
    assert x == list(range(len(writer.losses)))
    np.testing.assert_allclose(y, smoothed(writer.losses).astype(np.float32), rtol=1e-6)
    assert page.evaluate("window.kept === document.querySelector('.js-plotly-plot')")
    assert page.evaluate(ranges) == before


def test_ten_tabs_of_one_browser_are_all_live(page, writer):
    writer.write(30)
    tabs = [page, *(page.context.new_page() for _ in range(9))]
    for tab in tabs:
        tab.goto(f"/adding_problem?run={writer.id}", wait_until="commit")
    for tab in tabs:
        tab.bring_to_front()  # only a tab that is seen draws
        wait_for(tab, 30)
    writer.write(30)
    for tab in tabs:
        tab.bring_to_front()
        wait_for(tab, 60)
