"""settings -> cached compute. The core is imported inside the functions: no page waits for torch before it paints.

Every function takes the settings of its page, so that pages, scenes' checks and tests ask the same question.
"""

from typing import Any

import streamlit as st

from rnnviz.config import CellConfig, InputConfig
from rnnviz.results import Carried, Push
from rnnviz.ui.links import Settings

KEPT = 64


def jacobians(settings: Settings) -> tuple[Push, Carried]:
    """The push and what is carried back, of the gradients page."""
    cell, inputs = gradient_configs(settings)
    step = min(int(settings["step"]), inputs.length - 1)
    return _push(cell, inputs, step, 10.0 ** int(settings["size"])), _carried(cell, inputs)


def gradient_configs(settings: Settings) -> tuple[CellConfig, InputConfig]:
    """What the gradients page computes: noise straight into every unit for the RNN, through torch's input weights else."""
    kind, hidden, seed = str(settings["cell"]), int(settings["hidden"]), int(settings["seed"])
    straight = kind == "rnn"
    cell = CellConfig(
        cell=kind,
        inputs=hidden if straight else 8,
        hidden=hidden,
        activation=str(settings["activation"]) if straight else "tanh",
        recurrent=str(settings["recurrent"]),
        gain=float(settings["gain"]),
        input_weights="identity" if straight else "uniform",
        seed=seed,
    )
    return cell, InputConfig(length=int(settings["T"]), strength=float(settings["input"]), seed=seed)


@st.cache_data(max_entries=KEPT, show_spinner=False)
def _push(cell: CellConfig, inputs: InputConfig, step: int, size: float) -> Any:
    from rnnviz.analysis.push import push

    return push(cell, inputs, step, size)


@st.cache_data(max_entries=KEPT, show_spinner=False)
def _carried(cell: CellConfig, inputs: InputConfig) -> Any:
    from rnnviz.analysis.push import carried

    return carried(cell, inputs)


def jacobians_code(settings: Settings) -> str:
    """A program that computes the gradients page's numbers again."""
    cell, inputs = gradient_configs(settings)
    step = min(int(settings["step"]), inputs.length - 1)
    return f"""from rnnviz.analysis.push import carried, push
from rnnviz.config import CellConfig, InputConfig

cell = {cell!r}
inputs = {inputs!r}
pushed = push(cell, inputs, step={step}, size={10.0 ** int(settings["size"])!r})
back = carried(cell, inputs)
print(pushed.left, back.transport.reach)
"""
