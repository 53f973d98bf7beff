"""The server: Streamlit over rnnviz/ui/frame.py, with its own lifespan. `streamlit run app.py`."""

import gc
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Torch is loaded once the server answers; no page waits for it before it paints.

    What pages draw with is loaded before: two sessions that import it at once would find it half there.
    """
    import pandas  # noqa: F401
    import plotly.graph_objects  # noqa: F401

    threading.Thread(target=warm, daemon=True, name="warm-torch").start()
    yield


def warm() -> None:
    """Load the compute core, then take everything loaded out of the garbage collector's sight.

    A full collection with torch in the process costs 0.1 s, and thirty sessions would wait for it in line.
    """
    import torch

    torch.set_num_threads(1)
    import rnnviz.analysis.push  # noqa: F401

    gc.collect()
    gc.freeze()


app = st.App("rnnviz/ui/frame.py", lifespan=lifespan)
