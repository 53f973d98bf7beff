"""The unrolling page: settings -> cached compute, as in caches.py."""

from dataclasses import replace
from typing import Any

import streamlit as st

from rnnviz.config import CellConfig, InputConfig
from rnnviz.own import STEPS, table
from rnnviz.results import Cost, Leaked, Learned, Proof, Push, Reading, Spelled, States
from rnnviz.ui.caches import KEPT
from rnnviz.ui.links import Settings

WIDTH = 4
"""Inputs of a noise, a sine or an impulse, where nothing else says how many."""


def reading(settings: Settings) -> tuple[Reading, Push]:
    """The word read column by column, and what is left of a nudge, of the unrolling page.

    Those of its first scene are stored: they are there before torch is.
    """
    from rnnviz import recorded

    cell, word = letters_config(settings)
    step, size = _nudge(settings)
    if (cell, word, settings["net"], step, size) == recorded.HELLO:
        return recorded.hello()
    found: tuple[Reading, Push] = _read(cell, word, _steps(settings), step, size)
    return found


def learned(settings: Settings) -> Learned:
    """The training behind the word, also where the picture shows the network before it."""
    cell, word = letters_config(settings)
    found: Learned = _learned(cell, word, _steps(settings | {"net": "trained"}))
    return found


def proved(settings: Settings) -> tuple[Proof, ...]:
    """The numbers of the page, found again by other routes."""
    cell, word = letters_config(settings)
    found: tuple[Proof, ...] = _proved(cell, word, _steps(settings), *_nudge(settings))
    return found


def spelled(settings: Settings) -> list[Spelled]:
    """What this seed and the next ones, trained alike, spell on by themselves: the rest of the word, and then some.

    Five seeds, fewer of a long word or a text, whose training takes longer.
    """
    cell, word = letters_config(settings)
    start = min(int(settings["start"]), len(word))
    count = max(9, min(len(word) - start + 5, 28))
    several = 5 if len(word) <= 10 else 3 if len(word) <= 40 else 2
    return [_spelled(replace(cell, seed=cell.seed + n), word, count, start) for n in range(several)]


def letters_config(settings: Settings) -> tuple[CellConfig, str]:
    """The cell of the unrolling page, an input for each different letter, and its word."""
    word = str(settings["word"])
    return CellConfig(inputs=len(set(word)), hidden=int(settings["units"]), seed=int(settings["seed"])), word


def _nudge(settings: Settings) -> tuple[int, float]:
    """After which step, by how much."""
    return min(int(settings["step"]), len(str(settings["word"])) - 1), 10.0 ** int(settings["size"])


def _steps(settings: Settings) -> int:
    """Of training behind the network."""
    from rnnviz.tasks.letters import STEPS

    return STEPS if settings["net"] == "trained" else 0


@st.cache_data(max_entries=KEPT, show_spinner=False)
def _learned(cell: CellConfig, word: str, steps: int) -> Any:
    from rnnviz.tasks.letters import learn

    return learn(cell, word, steps)


@st.cache_data(max_entries=KEPT, show_spinner=False)
def _read(cell: CellConfig, word: str, steps: int, step: int, size: float) -> Any:
    from rnnviz.tasks import letters

    learned = _learned(cell, word, steps)
    return letters.read(cell, learned), letters.nudged(cell, learned, step, size)


@st.cache_data(max_entries=KEPT, show_spinner=False)
def _proved(cell: CellConfig, word: str, steps: int, step: int, size: float) -> Any:
    from rnnviz.tasks.proofs import proved

    return proved(cell, _learned(cell, word, steps), *_read(cell, word, steps, step, size))


@st.cache_data(max_entries=KEPT, show_spinner=False)
def _spelled(cell: CellConfig, word: str, count: int, start: int) -> Any:
    from rnnviz.tasks.letters import STEPS, spell

    return spell(cell, _learned(cell, word, STEPS), count, start)


def leaked(settings: Settings) -> Leaked:
    """The other network of the unrolling page reads its sequence twice: from the state it was left in, and from 0."""
    cell, inputs = lab_configs(settings)
    found: Leaked = _leaked(cell, inputs)
    return found


def states(settings: Settings) -> States:
    """All layers of the other network."""
    cell, inputs = lab_configs(settings)
    found: States = _states(cell, inputs, int(settings["layers"]), settings["ways"] == "both")
    return found


def layer(settings: Settings) -> str:
    """The name of the layer and direction that is shown: the one asked for, or the last there is."""
    place = min(int(settings["layer"]), int(settings["layers"]))
    return f"layer {place}" if settings["ways"] == "one" else f"layer {place} {'→' if forward(settings) else '←'}"


def forward(settings: Settings) -> bool:
    """Whether the layer that is shown reads from the first step to the last."""
    return settings["ways"] == "one" or settings["way"] == "forward"


def values(settings: Settings) -> list[str]:
    """What there is of a layer of the other network: its states and its gates."""
    return {"rnn": ["h"], "lstm": ["h", "c", *"ifgo"], "gru": ["h", *"zrn"]}[str(settings["cell"])]


def value(settings: Settings) -> str:
    """What is shown of a layer: what was asked for, if this cell has it, else its state."""
    return str(settings["value"]) if settings["value"] in values(settings) else "h"


def ends(settings: Settings) -> dict[str, int]:
    """Where the sliders of a step and of a letter end, with this word."""
    word = str(settings["word"])
    return {"step": len(word) - 1, "start": len(word)}


def costs(settings: Settings) -> list[Cost]:
    """What the word's cell costs over 5, 50 and 500 steps, counted."""
    cell, _ = letters_config(settings)
    return [_counted(cell, InputConfig(length=length)) for length in (5, 50, 500)]


def lab_configs(settings: Settings) -> tuple[CellConfig, InputConfig]:
    """The other network of the unrolling page, one layer of it, and what it reads."""
    feed, kind, seed = str(settings["feed"]), str(settings["cell"]), int(settings["seed"])
    width = WIDTH
    given: dict[str, Any] = {"length": int(settings["T"]), "seed": seed}
    if feed == "text":
        word = str(settings["word"])[:STEPS]
        width, given = len(set(word)), {"text": word}
    elif feed == "own":
        rows = table(str(settings["own"]))
        width, given = len(rows[0]), {"values": rows}
    elif feed == "adding":
        width, given["length"] = 2, max(2, given["length"])
    forget = None if kind != "lstm" or settings["forget"] == "default" else float(settings["forget"])
    cell = CellConfig(cell=kind, inputs=width, hidden=int(settings["hidden"]), forget_bias=forget, seed=seed)
    return cell, InputConfig(kind=feed, **given)


@st.cache_data(max_entries=KEPT, show_spinner=False)
def _leaked(cell: CellConfig, inputs: InputConfig) -> Any:
    from rnnviz.analysis.leak import leaked

    return leaked(cell, inputs)


@st.cache_data(max_entries=KEPT, show_spinner=False)
def _states(cell: CellConfig, inputs: InputConfig, layers: int, both: bool) -> Any:
    from rnnviz.analysis.states import states

    return states(cell, inputs, layers, both)


@st.cache_data(max_entries=KEPT, show_spinner=False)
def _counted(cell: CellConfig, inputs: InputConfig) -> Any:
    from rnnviz.analysis.cost import counted

    return counted(cell, inputs)


def code(settings: Settings) -> str:
    """A program that computes the unrolling page's numbers again."""
    cell, word = letters_config(settings)
    step, size = _nudge(settings)
    also = settings["why"] in ("carry", "lab")
    code = f"""from rnnviz.config import CellConfig{", InputConfig" if also else ""}
from rnnviz.tasks.letters import learn, nudged, read

cell = {cell!r}
learned = learn(cell, {word!r}, steps={_steps(settings)})
reading = read(cell, learned)
push = nudged(cell, learned, step={step}, size={size!r})
print(reading.says, reading.loss, reading.states, push.left)
"""
    if not also:
        return code
    other, inputs = lab_configs(settings)
    layers, both = int(settings["layers"]), settings["ways"] == "both"
    what, call = {
        "carry": ("leak import leaked", "leaked(other, inputs).apart"),
        "lab": ("states import states", f"states(other, inputs, layers={layers}, both={both}).values"),
    }[str(settings["why"])]
    return f"""{code}
# The other network, behind the picture
from rnnviz.analysis.{what}

other = {other!r}
inputs = {inputs!r}
print({call})
"""
