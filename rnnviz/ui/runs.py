"""Runs on a page: start one, watch it, stop it, in words where it is refused. The worker is the server's, not the
page's."""

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from rnnviz.analysis.learning import smoothed, thinned
from rnnviz.config import TrainConfig
from rnnviz.results import Progress
from rnnviz.runs.run import Curve, Refused, Run, UnknownRun
from rnnviz.runs.store import RunStore, StoreError
from rnnviz.ui.serving import base, owner

TICK = 1.0
REST = 5.0
OPEN = "runs:open"
NAMES = {"rnn": "RNN", "gru": "GRU", "lstm": "LSTM"}
NOTICE = "runs:notice"
LAST = "runs:last"


@st.cache_resource(show_spinner=False)
def store() -> RunStore:
    """The server's runs; raises StoreError, and is asked again the next time."""
    return RunStore()


def me() -> str:
    """The owner that this browser is."""
    return owner(st.context.cookies, str(st.session_state.setdefault("session", secrets.token_hex())))


@dataclass(frozen=True, slots=True)
class Watched:
    """A run that a page looks at. trouble: the sentence why it cannot, or not now; run is then as it was last seen.

    gone: there is no run to look at, as none was asked for or none has this id.
    """

    run: Run | None
    trouble: str = ""
    gone: bool = False

    @property
    def live(self) -> bool:
        """It is worth looking again in a moment."""
        return not self.gone and (self.run is None or self.run.live)

    @property
    def tick(self) -> float | None:
        """After how many seconds to look again: a run that rests may be sent on by its owner, at another browser."""
        if self.live:
            return TICK
        return REST if self.run is not None and self.run.state != "finished" else None


def asked(arrived: bool) -> str | None:
    """The run that the address names; on coming back to the page, the one that was open when it was left."""
    state = st.session_state
    id = st.query_params.get("run")
    if not id and arrived and state.get(OPEN):
        id = st.query_params["run"] = state[OPEN]
    state[OPEN] = id
    return id


def watched(id: str | None) -> Watched:
    """The run as it stands, and the word that somebody looks at it; a store that cannot take the word is read all the
    same."""
    if not id:
        return Watched(None, gone=True)
    try:
        with suppress(StoreError):
            store().watch(id, me())
        run = _read(id)
    except UnknownRun as error:
        return Watched(None, str(error), gone=True)
    except StoreError as error:
        last = st.session_state.get(LAST)
        return Watched(last if last is not None and last.id == id else None, str(error))
    st.session_state[LAST] = run
    return Watched(run)


@st.cache_data(ttl=0.8 * TICK, max_entries=50, show_spinner=False)
def _read(id: str) -> Run:
    """What every viewer of a run sees is read once a tick, not once a viewer."""
    return store().read(id)


def start(config: TrainConfig, name: str) -> None:
    """Put a run in the queue and make the address its link; a live run of the same settings is joined."""
    id = _attempt(lambda: store().create((config,), me(), name, join=True))
    if id is not None:
        st.query_params["run"] = id
        run = _attempt(lambda: store().find(id))
        if run is not None and run.owner != me():
            st.session_state[NOTICE] = (
                "The same training is already running, started by somebody else: you are watching it. For one of your "
                "own change something, the seed for example, or continue it from here."
            )


def want(id: str, wish: Any) -> None:
    """Ask for it to run, pause or stop."""
    _attempt(lambda: store().want(id, wish, me()))
    _read.clear(id)


def own(id: str) -> None:
    """Go on from its last checkpoint as a run of one's own."""
    new = _attempt(lambda: store().continue_from(id, me()))
    if new is not None:
        st.query_params["run"] = new


def leave() -> None:
    """Go back to the recording."""
    st.query_params.pop("run", None)
    st.session_state.pop(OPEN, None)


def notice() -> None:
    """Say once what was refused."""
    said = st.session_state.pop(NOTICE, None)
    if said:
        st.warning(said)


def lanes(run: Run) -> list[Progress]:
    """A run's curves as the picture takes them."""
    return [_progress(curve) for curve in run.curves]


def fault(run: Run | None) -> str | None:
    """Why it cannot go on, or None."""
    return None if run is None else next((curve.fault for curve in run.curves if curve.fault), None)


def outline(run: Run) -> list[Progress]:
    """The same without a point: the run's stream fills it in the browser."""
    none = np.zeros(0)
    named = ((NAMES[config.cell], config.cell, config.length) for config in run.configs)
    return [Progress(*names, none, none, none, none, np.zeros((0, 3))) for names in named]


def stream(run: Run) -> str:
    """The address from which a browser gets the run's columns."""
    return f"{base()}/api/runs/{run.id}/stream"


def _progress(curve: Curve) -> Progress:
    whole = Progress(
        NAMES[curve.config.cell], curve.config.cell, curve.config.length,
        curve.step, smoothed(curve.loss), curve.probe_step, curve.reach, curve.listening,
    )  # fmt: skip
    return thinned(whole)


def buttons(id: str, run: Run | None) -> None:
    """What this browser can do with it now. None: it cannot be read."""
    if run is not None:
        _wishes(id, run)
    st.button("Back to the recording", key="run_leave", on_click=leave)


def _wishes(id: str, run: Run) -> None:
    if run.state == "finished" or run.done >= run.total:
        return
    if run.owner != me():
        st.button("Continue as my own from here", key="run_own", on_click=own, args=(id,))
    elif run.live:
        st.button("Stop", key="run_stop", on_click=want, args=(id, "stop"), type="primary")
        st.button("Pause", key="run_pause", on_click=want, args=(id, "pause"))
    else:
        st.button("Go on", key="run_on", on_click=want, args=(id, "run"), type="primary")


def bar(run: Run) -> None:
    """How far it is, and where it stands in a line."""
    st.progress(run.done / run.total, text=status(run))


def status(run: Run) -> str:
    """Where it stands, in a line."""
    if run.state == "queued":
        return f"Waiting, number {run.place} in the queue."
    rate = f", {run.done / run.seconds:,.0f} steps a second" if run.seconds > 0 else ""
    words = {
        "running": "Training",
        "paused": "Paused",
        "stopped": "Stopped",
        "finished": "Finished",
        "failed": "Broken off",
    }
    return f"{words[run.state]}: step {run.done:,} of {run.total:,}{rate}. {run.reason}".strip()


def _attempt(what: Callable[[], Any]) -> Any:
    try:
        return what()
    except (Refused, UnknownRun, StoreError, ValueError) as error:
        st.session_state[NOTICE] = str(error)
        return None
