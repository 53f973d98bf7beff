"""A real server and a real Chromium, shared by the browser tests and ended with them.

    def test_home(visit):
        page = visit("/")               # a page of its own browser context, with the script at rest
        assert page.get_by_role("heading").first.is_visible()

A test fails when its pages log an error, throw one, or ask any host but their server for anything.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

HOUSE = Path(__file__).parents[2]
PICTURES = HOUSE / ".screenshots"
DESKTOP = {"width": 1440, "height": 900}
# The same names as in .ci/environment
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = (  # nothing but what a page asks for: no updates, no sync, no look-ups of its maker's hosts
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
)


@dataclass(frozen=True)
class Server:
    """The app as people start it, on a free port, with a data folder of its own."""

    port: int
    data: Path
    logfile: Path
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def log(self) -> str:
        return self.logfile.read_text(encoding="utf-8", errors="replace")

    def stop(self, wait: float = 10) -> None:
        """Ends the server and what it started: politely, then for good."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, sign)
                self.process.wait(wait)
            except ProcessLookupError:
                return
            except subprocess.TimeoutExpired:
                continue


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def serve(port: int, folder: Path, data: Path, env: dict[str, str]) -> Server:
    """Starts the checkout's app.py and waits until it answers."""
    logfile = folder / f"server-{port}.log"
    # the suite's own thread setting stays out: the server has to set its own
    inherited = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true", f"--server.port={port}"]
    with logfile.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=HOUSE,
            env=inherited | {"RNNVIZ_DATA": str(data)} | env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = Server(port, data, logfile, process)
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return server
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    server.stop()
    pytest.fail(f"The server did not start in 60 s. Its log:\n{server.log()}", pytrace=False)


# Package scope, not session: Playwright keeps an event loop and a greenlet in this thread, which asyncio.run and
# ast.parse in later tests do not survive.
@pytest.fixture(scope="package")
def start_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    """start_server(NAME=value) is one more server; start_server(old.data, old.port) after old.stop() is its restart."""
    started: list[Server] = []

    def start(data: Path | None = None, port: int | None = None, **env: str) -> Server:
        server = serve(
            port or free_port(), tmp_path_factory.mktemp("log"), data or tmp_path_factory.mktemp("data"), env
        )
        started.append(server)
        return server

    yield start
    for server in started:
        server.stop()


@pytest.fixture(scope="package")
def server(start_server: Callable[..., Server]) -> Server:
    """The server that the browser tests share."""
    return start_server()


@pytest.fixture(scope="package")
def workshop(start_server: Callable[..., Server]) -> Server:
    """A server that shows developers every kind and state of a picture."""
    return start_server(RNNVIZ_DEVELOPER="1")


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = os.environ.get("RNNVIZ_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if path is None:
        pytest.fail(
            "The browser tests need Chromium: make test finds or installs it, RNNVIZ_CHROMIUM names one.", False
        )
    # as root Chromium has no sandbox to offer; anyone else keeps it
    args = [*QUIET, "--no-sandbox"] if os.geteuid() == 0 else [*QUIET]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=args)
        yield chromium
        chromium.close()


@pytest.fixture
def problems() -> list[str]:
    """What went wrong in this test's pages so far. A test that provokes an error looks here, then clears it."""
    return []


def is_problem(said: ConsoleMessage) -> bool:
    """An error, but for two of Streamlit's own.

    Opened by a deep link it first looks for its server beside the page; a page that ticks and is left or reloaded says
    that it cannot tick any more.
    """
    searching = said.location["url"].endswith(("/_stcore/health", "/_stcore/host-config"))
    return said.type == "error" and not searching and "rerun backMessage when disconnected" not in said.text


@pytest.fixture
def new_page(
    browser: Browser, server: Server, problems: list[str], request: pytest.FixtureRequest
) -> Iterator[Callable[..., Page]]:
    """new_page(color_scheme="dark") is a page in a browser context of its own; server= for one of another server."""
    opened: list[tuple[BrowserContext, Page]] = []

    def open_page(*, server: Server = server, **options: Any) -> Page:
        context = browser.new_context(**{"base_url": server.url, "viewport": DESKTOP} | options)
        home = urlsplit(server.url).netloc

        def look_at(url: str) -> None:
            parts = urlsplit(url)
            if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != home:
                problems.append(f"request to another host: {url}")

        page = context.new_page()
        context.on("request", lambda asked: look_at(asked.url))
        page.on("websocket", lambda socket: look_at(socket.url))
        page.on("pageerror", lambda error: problems.append(f"uncaught: {error}"))
        page.on("console", lambda said: problems.append(f"console: {said.text}") if is_problem(said) else None)
        opened.append((context, page))
        return page

    yield open_page
    if problems or request.node.stash.get(FAILED, False):
        for number, page in enumerate(page for _, page in opened if not page.is_closed()):
            picture(page, f"failed-{request.node.name}-{number}")
    for context, _ in opened:
        context.close()
    if problems:
        pytest.fail("\n".join([*problems, "The end of the server's log:", server.log()[-3000:]]), pytrace=False)


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A page of 1440 × 900 whose addresses are relative to the shared server."""
    return new_page()


@pytest.fixture
def states(new_page: Callable[..., Page], workshop: Server) -> Callable[..., Page]:
    """states("group") opens that view of the developers' page, drawn and at rest."""

    def go(show: str, **options: Any) -> Page:
        page = new_page(server=workshop, **options)
        page.goto(f"/states?show={show}")
        page.wait_for_selector(".rnn-cell svg" if show == "cells" else ".js-plotly-plot .main-svg")
        return rest(page)

    return go


@pytest.fixture
def settled() -> Callable[[Page], Page]:
    """settled(page) waits until Streamlit is connected and no script runs."""
    return rest


@pytest.fixture
def visit(page: Page) -> Callable[[str], Page]:
    """visit("/jacobians?jacobians_T=30") opens the address in the test's page and waits until it is settled."""

    def go(address: str = "/") -> Page:
        page.goto(address)
        return rest(page)

    return go


@pytest.fixture
def ends_above() -> Callable[[Page, str, int], None]:
    """ends_above(page, selector, height) waits until the element ends within the first so many pixels."""

    def wait(page: Page, selector: str, height: int) -> None:
        page.wait_for_function(
            "([s, h]) => document.querySelector(s)?.getBoundingClientRect().bottom <= h", arg=[selector, height]
        )

    return wait


@pytest.fixture
def screenshot() -> Callable[[Page, str], Path]:
    """screenshot(page, "name") saves .screenshots/name.png and gives its path."""
    return picture


def rest(page: Page, timeout: float = 30) -> Page:
    app = '[data-testid="stApp"][data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]'
    page.wait_for_selector(app, timeout=timeout * 1000)
    return page


def picture(page: Page, name: str) -> Path:
    PICTURES.mkdir(exist_ok=True)
    path = PICTURES / f"{name.replace('/', '-')}.png"
    page.screenshot(path=path)
    return path


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    if call.when == "call":
        item.stash[FAILED] = report.failed
    return report
