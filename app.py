"""The server: Streamlit over rnnviz/ui/frame.py, with its own lifespan and middleware. `streamlit run app.py`."""

import asyncio
import gc
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute

from rnnviz.runs.store import RunStore
from rnnviz.runs.supervisor import Supervisor
from rnnviz.scenes import PAGES
from rnnviz.ui.serving import OwnerCookie, PackedScripts, asset, base
from rnnviz.ui.stream import Streams


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Runs have their supervisor as long as the server lives; torch is loaded once the server answers.

    What pages draw with is loaded before: two sessions that import it at once would find it half there.
    """
    import pandas  # noqa: F401
    import plotly.graph_objects  # noqa: F401

    threading.Thread(target=warm, daemon=True, name="warm-torch").start()
    # Everything but training works without a store: the learning page says why it does not, and it is tried again.
    supervisor = Supervisor(RunStore)
    supervisor.start()
    yield
    await streams.close()
    await asyncio.to_thread(supervisor.close)


def warm() -> None:
    """Load the compute core, then take everything loaded out of the garbage collector's sight.

    A full collection with torch in the process costs 0.1 s, and thirty sessions would wait for it in line.
    """
    import torch

    torch.set_num_threads(1)
    import rnnviz.analysis.push  # noqa: F401

    gc.collect()
    gc.freeze()


def to_front(request: Request) -> RedirectResponse:
    """The home page has no path but the front door; who types its name is shown in."""
    return RedirectResponse(request.url.replace(path=f"{BASE}/"))


def to_page(request: Request) -> Response:
    """Below a page there is nothing: Streamlit's own page would look for its scripts there and stay white."""
    rest = request.path_params["rest"]
    if rest.startswith(("_stcore/", "static/")):
        return Response(status_code=404)
    name = request.url.path.removeprefix(BASE).split("/")[1]
    return RedirectResponse(request.url.replace(path=f"{BASE}/{name}"))


BASE = base()
streams = Streams(RunStore)
app = st.App(
    "rnnviz/ui/frame.py",
    lifespan=lifespan,
    routes=[
        Route(f"{BASE}/home", to_front),
        Route(f"{BASE}/assets/{{stamp}}/{{name:path}}", asset),
        WebSocketRoute(f"{BASE}/api/runs/{{id}}/stream", streams.serve),
        *(Route(f"{BASE}/{name}/{{rest:path}}", to_page) for name in PAGES),
    ],
    middleware=[Middleware(OwnerCookie), Middleware(PackedScripts)],
)
