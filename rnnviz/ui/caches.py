"""settings -> cached compute. The core is imported inside the functions: no page waits for torch before it paints.

Every function takes the settings of its page, so that pages, scenes' checks and tests ask the same question.
"""

import re
from collections.abc import Mapping
from typing import Any

import streamlit as st

from rnnviz.config import CellConfig, InputConfig, TrainConfig
from rnnviz.results import Carried, HandSet, Layer, Moment, Parting, Paths, Progress, Push
from rnnviz.ui.links import Settings

KEPT = 64


def home(settings: Settings, cursor: Mapping[str, str] | None = None) -> Moment:
    """What the home page shows of the recorded race: no torch, and nothing to wait for.

    cursor: what the address says of it, at_training and at_number, which count more than the settings; any other text
    than a whole number does not count, and one outside goes to the nearest.
    """
    from rnnviz.recorded import race

    recorded = race()
    steps, last = recorded.lanes["rnn"].steps, len(recorded.values) - 1
    each, end = int(steps[1]), int(steps[-1])
    step, number = int(settings["step"]), round(float(settings["number"]) * last)
    for name, text in (cursor or {}).items():
        if re.fullmatch(r"[0-9]{1,9}", text) is None:
            continue
        if name == "at_training":
            step = min((int(text) + each // 2) // each * each, end)
        elif name == "at_number":
            number = min(int(text), last)
    return Moment(recorded, str(settings["second"]), step, number)


def home_code(moment: Moment) -> str:
    """A program that reads the home page's numbers from the recording."""
    return f"""from rnnviz.recorded import race
from rnnviz.results import Moment

moment = Moment(race(), second={moment.second!r}, step={moment.step}, value={moment.value})
for cell, lane in moment.lanes.items():
    print(cell, lane.loss[lane.at(moment.step)], moment.reach(cell), moment.answer(cell), moment.truth)
"""


def jacobians_push(settings: Settings) -> Push:
    """The push of the gradients page."""
    cell, inputs = gradient_configs(settings)
    found: Push = _push(cell, inputs, min(int(settings["step"]), inputs.length - 1), 10.0 ** int(settings["size"]))
    return found


def jacobians_carried(settings: Settings) -> Carried:
    """What is carried back, on the same page."""
    found: Carried = _carried(*gradient_configs(settings))
    return found


def gradient_configs(settings: Settings) -> tuple[CellConfig, InputConfig]:
    """What the gradients page computes.

    An RNN with chosen recurrent weights gets the noise straight into every unit, W_x = I and b = 0, so that nothing but
    them and the input's strength decides; torch's default is torch's throughout, and gated cells read through weights.
    """
    kind, hidden, seed = str(settings["cell"]), int(settings["hidden"]), int(settings["seed"])
    straight = kind == "rnn" and settings["recurrent"] != "uniform"
    cell = CellConfig(
        cell=kind,
        inputs=hidden if straight else 8,
        hidden=hidden,
        activation=str(settings["activation"]) if kind == "rnn" else "tanh",
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
from rnnviz.config import CellConfig, InputConfig, TrainConfig

cell = {cell!r}
inputs = {inputs!r}
pushed = push(cell, inputs, step={step}, size={10.0 ** int(settings["size"])!r})
back = carried(cell, inputs)
print(pushed.left, back.transport.reach)
"""


def train_config(settings: Settings) -> TrainConfig:
    """What the learning page trains; a control that this cell has no use for is left out."""
    cell = str(settings["cell"])
    forget, write = (str(settings[name]) if cell == "lstm" else "default" for name in ("forget", "write"))
    return TrainConfig(
        cell=cell,
        hidden=int(settings["hidden"]),
        length=int(settings["T"]),
        steps=int(settings["steps"]),
        optimizer=str(settings["optimizer"]),
        learning_rate=float(settings["rate"]),
        clip=None if settings["clip"] == "off" else float(settings["clip"]),
        activation=str(settings["activation"]) if cell == "rnn" else "tanh",
        recurrent=str(settings["recurrent"]),
        gain=float(settings["gain"]),
        seed=int(settings["seed"]),
        forget_bias=None if forget == "default" else float(forget),
        input_bias=None if write == "default" else float(write),
    )


def train_code(config: TrainConfig) -> str:
    """A program that trains the same network to the same numbers."""
    return f"""from rnnviz.config import TrainConfig
from rnnviz.training import train

config = {config!r}
for record in train(config):
    if record.probe is not None:
        print(record.step, record.loss, record.probe.reach, record.probe.listening)
"""


def recorded(settings: Settings) -> tuple[Progress, ...]:
    """What the learning page shows where no run is asked for: the scene's own training, else the race."""
    from rnnviz.recorded import progress

    return progress(_recording(settings))


def recorded_code(settings: Settings) -> str:
    """A program that reads the learning page's numbers from the recording."""
    return f"""from rnnviz.recorded import progress
from rnnviz.verdicts.adding_problem import verdict

said = verdict(progress({_recording(settings)!r}), step={int(settings["step"])})
print(said.text)
for name, number in said.numbers.items():
    print(name, number)
"""


@st.cache_data(show_spinner=False)
def first_probe() -> Any:
    """The look at a small network before its first training step."""
    from rnnviz.training import train

    return next(iter(train(TrainConfig(hidden=16, length=40, steps=1)))).probe


def _recording(settings: Settings) -> str:
    from rnnviz.recorded import SHORT

    return str(settings["scene"]) if settings["scene"] in SHORT else "race"


def gates(settings: Settings) -> tuple[HandSet | Layer, Paths, Parting | None]:
    """What the gates page shows, its two ways back, and for the GRU how far the other reset ends."""
    if settings["show"] == "unit":
        keep, shut, opened = (float(settings[name]) for name in ("hold", "shut", "open"))
        shown, ways = _hand(keep, shut, opened, int(settings["T"]), int(settings["seed"]))
        return shown, ways, None
    shown, ways = _layer(*gates_configs(settings))
    return shown, ways, parting(settings) if settings["show"] == "gru" else None


def parting(settings: Settings) -> Parting:
    """The GRU of the gates page with its reset before U_n and after, whatever the page shows."""
    cell, inputs = gates_configs(settings | {"show": "gru", "reset": "before"})
    apart: Parting = _parting(cell, inputs)
    return apart


def gates_configs(settings: Settings) -> tuple[CellConfig, InputConfig]:
    """What the gates page computes of a layer; biases that are not set are torch's."""
    kind, biases = str(settings["show"]), str(settings["biases"])
    lstm = kind == "lstm"
    cell = CellConfig(
        cell=kind,
        inputs=2,
        hidden=int(settings["hidden"]),
        gain=float(settings["gain"]),
        forget_bias=float(settings["forget"]) if lstm and biases != "torch" else None,
        input_bias=float(settings["input"]) if lstm and biases == "both" else None,
        reset="after" if lstm else str(settings["reset"]),
        seed=int(settings["seed"]),
    )
    return cell, InputConfig(kind="adding", length=int(settings["T"]), seed=int(settings["seed"]))


def gates_bias(settings: Settings) -> float | None:
    """The one forget bias of all units, where there is one."""
    if settings["show"] == "unit":
        return float(settings["hold"])
    return gates_configs(settings)[0].forget_bias


@st.cache_data(max_entries=KEPT, show_spinner=False)
def _hand(keep: float, shut: float, opened: float, length: int, seed: int) -> Any:
    from rnnviz.analysis.gates import hand

    return hand(keep, shut, opened, length, seed)


@st.cache_data(max_entries=KEPT, show_spinner=False)
def _layer(cell: CellConfig, inputs: InputConfig) -> Any:
    from rnnviz.analysis.gates import layer

    return layer(cell, inputs)


@st.cache_data(max_entries=KEPT, show_spinner=False)
def _parting(cell: CellConfig, inputs: InputConfig) -> Any:
    from rnnviz.analysis.gates import parting

    return parting(cell, inputs)


def gates_code(settings: Settings) -> str:
    """A program that computes the gates page's numbers again."""
    if settings["show"] == "unit":
        given = {"keep": "hold", "shut": "shut", "opened": "open"}
        dials = ", ".join(f"{name}={float(settings[control])!r}" for name, control in given.items())
        return f"""from rnnviz.analysis.gates import hand

shown, ways = hand({dials}, length={int(settings["T"])}, seed={int(settings["seed"])})
print(shown.score, ways.reach)
"""
    cell, inputs = gates_configs(settings)
    code = f"""from rnnviz.analysis.gates import layer
from rnnviz.config import CellConfig, InputConfig

cell = {cell!r}
inputs = {inputs!r}
shown, ways = layer(cell, inputs)
print(shown.kept.mean(), ways.reach, ways.direct[-1], ways.whole[-1])
"""
    if settings["show"] == "lstm":
        return code
    before, _ = gates_configs(settings | {"reset": "before"})
    return (
        code.replace("import layer", "import layer, parting")
        + f"""
apart = parting({before!r}, inputs)
print(apart.apart[-1])
"""
    )
