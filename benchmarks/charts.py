"""What the components cost in Chromium: a repaint, a first picture, a first load, a cursor's step, a live tick.

Repaint and first picture are ratios to an app of Streamlit's default settings with one slider, whose 64 x 100 heat map
is an st.plotly_chart. Both are measured in turns, in the same browser.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from rnnviz.ui.stream import Columns, Feed, Look
from tests.browser.conftest import CHROMIUMS, QUIET, free_port, rest

PRESSES = 30
LOADS = 7
MINIMAL = """
import numpy as np, plotly.graph_objects as go, streamlit as st
k = st.slider("k", 0.0, 4.0, 1.0, 0.01)
st.plotly_chart(go.Figure(go.Heatmap(z=np.cos(k * np.outer(np.arange(64), np.arange(100)) / 50))))
"""
ALONE = """
import numpy as np, plotly.graph_objects as go, streamlit as st
from rnnviz.ui.components.chart import chart
k = st.slider("k", 0.0, 4.0, 1.0, 0.01)
map = go.Heatmap(z=np.cos(k * np.outer(np.arange(64), np.arange(100)) / 50))
chart(go.Figure(map), key="map", alt="map", group="map")
"""
SERVED = """
import streamlit as st
from starlette.routing import Route
from rnnviz.ui.serving import asset
app = st.App("alone.py", routes=[Route("/assets/{stamp}/{name:path}", asset)])
"""
# Both answer after the frame in which the picture of the new value stands.
OURS = "() => [...document.querySelectorAll('.scatterlayer path.js-line')].map(l => l.getAttribute('d')).join()"
THEIRS = "() => document.querySelector('.heatmaplayer image')?.href.baseVal"
WATCH = """now => new Promise((done, fail) => { const before = (NOW)();
    document.addEventListener('keydown', () => { const start = performance.now();
        const look = () => { const seen = (NOW)();
            if (seen && seen !== before) requestAnimationFrame(() => done(performance.now() - start));
            else requestAnimationFrame(look); };
        look(); }, {once: true, capture: true});
    setTimeout(() => fail(new Error('nothing was painted')), 10000); })"""
STEPS = """async () => { const field = document.querySelectorAll('.rnn-field')[1], box = field.getBoundingClientRect();
    const send = (type, x) => field.dispatchEvent(new PointerEvent(type, {clientX: box.left + x, clientY: box.top + 150,
        button: 0, buttons: 1, pointerId: 1, bubbles: true}));
    try { send('pointerdown', 100); } catch { /* a pointer that is made up cannot be captured */ }
    const spent = [];
    for (let k = 0; k < 100; k++) spent.push(await new Promise(done => {
        let frame; requestAnimationFrame(() => { frame = performance.now(); }); // before what the move asks for
        const start = performance.now(); send('pointermove', 100 + k * (box.width - 170) / 99);
        const sent = performance.now() - start;
        requestAnimationFrame(() => done(sent + performance.now() - frame)); // after it, in the same frame
    }));
    send('pointerup', 0); return spent; }"""

SLIDE = """async () => { const slide = document.querySelector('.rnn-slide');
    const low = Number(slide.min), high = Number(slide.max);
    const spent = [];
    for (let k = 0; k < 100; k++) spent.push(await new Promise(done => {
        let frame; requestAnimationFrame(() => { frame = performance.now(); });
        const start = performance.now();
        slide.value = Math.round(low + k * (high - low) / 99); slide.dispatchEvent(new Event('input'));
        const sent = performance.now() - start;
        requestAnimationFrame(() => done(sent + performance.now() - frame));
    }));
    return spent; }"""
# Pages whose first picture is drawn without Plotly: address, what is there once it is drawn.
DRAWN = {
    "home": ("/?at_training=900", ".rnn-lanes svg text"),
    "unrolling": ("/unrolling", ".rnn-equation td"),
    "200 letters, 8 units": (
        "/unrolling?unrolling_units=8&unrolling_word=" + "she+sells+shells+" * 12,
        ".rnn-equation td",
    ),
}


@contextmanager
def app(command: list[str], folder: Path, **env: str) -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", *command, "--server.headless=true", f"--server.port={port}"],
        cwd=folder, env=os.environ | env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    url = f"http://localhost:{port}"
    try:
        for _ in range(600):
            try:
                urlopen(f"{url}/_stcore/health", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(10)


def p95(values: list[float]) -> float:
    return float(np.percentile(values, 95))


def press(page: Page, now: str) -> float:
    """Milliseconds from a key on the slider to the frame with its picture."""
    slider = page.locator('[data-testid="stSlider"] input').first
    slider.focus()
    page.evaluate(f"void (window.spent = ({WATCH.replace('NOW', now)})())")
    page.keyboard.press("ArrowRight")
    spent = float(page.evaluate("window.spent"))
    page.wait_for_timeout(350)
    return spent


def first_picture(browser: Browser, url: str, drawn: str) -> float:
    """Seconds from asking for the page to its picture, on a warm server, in a browser that has nothing of it."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    start = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.wait_for_selector(drawn, state="attached", timeout=60_000)
    spent = time.perf_counter() - start
    context.close()
    return spent


def loaded(browser: Browser, url: str, first: str, last: str) -> tuple[float, float]:
    """Megabytes of scripts and fonts until the first picture; and of everything, data too, until the last."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: list[float] = []
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    data: list[float] = []  # of a binary frame the text is told, a third longer
    session.on("Network.webSocketFrameReceived", lambda got: data.append(0.75 * len(got["response"]["payloadData"])))
    page.goto(url)
    page.wait_for_selector(first, state="attached", timeout=60_000)
    until = sum(sizes)
    page.wait_for_selector(last, state="attached", timeout=60_000)
    rest(page)
    page.wait_for_timeout(1500)
    context.close()
    return until / 1e6, (sum(sizes) + sum(data)) / 1e6


def tick() -> int:
    """Bytes of the largest message of a run of 20,000 steps with a look at every one of them, which no run has."""
    steps = 20_000
    probes = np.column_stack([np.arange(steps), *np.ones((4, steps))])
    feed = Feed("run")
    feed.look = Look((Columns(np.ones(steps), probes, over=True),), b"", False, "")
    return max(len(feed.message(0, first, first + 2400)) for first in range(0, steps, 2400))


def main() -> None:
    house = Path(__file__).parents[1]
    path = os.environ.get("RNNVIZ_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUMS)))
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        for name, text in (("minimal.py", MINIMAL), ("alone.py", ALONE), ("served.py", SERVED)):
            (Path(made) / name).write_text(text)
        bare = app(["served.py", "--runner.postScriptGC=false"], Path(made), PYTHONPATH=str(house), OMP_NUM_THREADS="1")
        ours = app(["app.py"], house, RNNVIZ_DATA=made, RNNVIZ_DEVELOPER="1", OMP_NUM_THREADS="1")
        browser = playwright.chromium.launch(executable_path=path, args=[*QUIET, "--no-sandbox"])
        with ours as url, app(["minimal.py"], Path(made)) as minimal, bare as alone:
            drawn = ".js-plotly-plot .scatterlayer path.js-line"
            for _ in range(2):  # warm
                first_picture(browser, f"{url}/jacobians", drawn)
                first_picture(browser, minimal, ".heatmaplayer image")
            drawings = [(f"{url}{address}", there) for address, there in list(DRAWN.values())[:2]]
            asked = ((f"{url}/jacobians", drawn), *drawings, (minimal, ".heatmaplayer image"))
            firsts = [[first_picture(browser, *one) for one in asked] for _ in range(LOADS)]
            image = ".heatmaplayer image"
            turns = [
                (f"{url}/jacobians?jacobians_input=1.0", drawn, OURS),
                (alone, image, THEIRS),
                (minimal, image, THEIRS),
            ]
            pages = [browser.new_page(viewport={"width": 1440, "height": 900}) for _ in turns]
            for page, (address, first, _) in zip(pages, turns, strict=True):
                page.goto(address)
                page.wait_for_selector(first, state="attached")
                rest(page)
            spent: list[list[float]] = []
            for _ in range(PRESSES):
                spent.append([])
                for page, (_, _, now) in zip(pages, turns, strict=True):
                    page.bring_to_front()
                    spent[-1].append(press(page, now))
            number = ".rnn-cell svg .rnn-number"
            to_cell, _ = loaded(browser, f"{url}/states?show=cells", number, number)
            to_chart, in_all = loaded(browser, f"{url}/jacobians", drawn, drawn)
            group = browser.new_page(viewport={"width": 1440, "height": 2400})
            group.goto(f"{url}/states?show=group")
            group.wait_for_function("() => document.querySelectorAll('.rnn-rule.rnn-chosen.rnn-x').length === 4")
            rest(group)
            steps = sorted(group.evaluate(STEPS))
            bytes_of = [loaded(browser, *one, one[1]) for one in drawings]
            slid = {}
            for name, (address, there) in DRAWN.items():
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                page.goto(f"{url}{address}")
                page.wait_for_selector(there, state="attached", timeout=60_000)
                rest(page)
                slid[name] = sorted(page.evaluate(SLIDE))
        browser.close()
    repaint = [p95(list(times)) for times in zip(*spent, strict=True)]
    median = [statistics.median(times) for times in zip(*spent, strict=True)]
    first = [statistics.median(times) for times in zip(*firsts, strict=True)]
    print(f"{'':44}{'ours':>10}{'minimal':>10}{'ratio':>8}{'budget':>8}")
    for what, (one, other), budget in (
        ("slider to repainted curve, p95, ms", (repaint[0], repaint[2]), "0.70"),
        ("the same, median, ms", (median[0], median[2]), ""),
        ("the component with the same map, p95, ms", (repaint[1], repaint[2]), ""),
        ("the same, median, ms", (median[1], median[2]), ""),
        ("first picture, warm server, Gradients, s", (first[0], first[-1]), "1.50"),
        ("the same, home", (first[1], first[-1]), "1.50"),
        ("the same, unrolling", (first[2], first[-1]), "1.50"),
    ):
        print(f"{what:44}{one:10.2f}{other:10.2f}{one / other:8.2f}{budget:>8}")
    print(f"{'scripts and fonts to a first cell, MB':44}{to_cell:10.2f}{'':18}{1.5:8.2f}")
    print(f"{'scripts and fonts to a first chart, MB':44}{to_chart:10.2f}")
    print(f"{'the page of that chart in all, MB':44}{in_all:10.2f}{'':18}{3.0:8.2f}")
    for name, (until, whole) in zip(DRAWN, bytes_of, strict=False):
        print(f"{f'scripts and fonts to {name}, MB':44}{until:10.2f}{'':18}{1.5:8.2f}")
        print(f"{f'{name} in all, MB':44}{whole:10.2f}{'':18}{3.0:8.2f}")
    for name, times in slid.items():
        print(f"{f'script a step, {name}, median, ms':52}{times[50]:.2f}{'':18}{16:6.0f}")
        print(f"{'the same, p95, ms':44}{times[95]:10.2f}")
    print(f"{'script a step, 4 charts and a cell, median, ms':44}{steps[50]:10.2f}{'':18}{16:8.0f}")
    print(f"{'the same, p95, ms':44}{steps[95]:10.2f}")
    print(f"{'largest message of a live run, kB':44}{tick() / 1000:10.1f}{'':18}{60:8.0f}")


if __name__ == "__main__":
    main()
