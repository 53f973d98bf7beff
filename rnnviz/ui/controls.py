"""The controls of every page as data, and how they are drawn.

The plain word comes first, the symbol second. The first three stand under the picture; the rest is folded.
"""

from collections.abc import Mapping, Sequence
from typing import cast

import streamlit as st

from rnnviz.config import LETTERS, TEXT
from rnnviz.own import table
from rnnviz.ui.links import Choice, Control, Flag, Number, Table, Text, plain

FORGET = Choice(
    "forget",
    "Forget bias of the LSTM · b_f",
    "default",
    {"default": "torch's default", "0": "0", "1": "1", "3": "3", "5": "5"},
)
PREDICT = Flag("predict", "Predict first", help="Answer before you see.")

CONTROLS: dict[str, tuple[Control, ...]] = {
    "home": (
        # where the picture's cursor stands at first: no slider draws these two
        Number("step", "Training step", 900, 0, 3200, 20),
        Number("number", "First marked number · v at step 12", 0.8, 0.0, 1.0, 0.05),
        Choice("second", "Second lane", "gru", {"gru": "GRU", "lstm": "LSTM"}),
        PREDICT,
    ),
    "unrolling": (
        Text(
            "word",
            "Word, or a text of up to 2,000 letters",
            "HELLO",
            1,
            TEXT,
            LETTERS,
            help="Letters, digits, signs, blanks: each different one is a letter.",
        ),
        Number("units", "Memory · units H", 3, 1, 8, 1),
        Choice("net", "Network", "trained", {"untrained": "untrained", "trained": "trained"}),
        Number("seed", "Seed", 0, 0, 99, 1),
        Number(
            "step",
            "Nudged state · step k",
            1,
            1,
            TEXT - 1,
            1,
            help="Beyond the word: the last state that has a later one.",
        ),
        Number("size", "Size of the nudge · 10 to the power", -1, -6, 0, 1),
        Number("start", "First letter · its place in the word", 1, 1, TEXT, 1),
        Choice("cell", "Cell", "rnn", {"rnn": "RNN", "lstm": "LSTM", "gru": "GRU"}),
        Choice(
            "feed",
            "It reads",
            "noise",
            {
                "text": "the word",
                "noise": "noise",
                "sine": "a sine",
                "impulse": "one impulse",
                "adding": "an adding sequence",
                "own": "own numbers",
            },
        ),
        Number("T", "Steps · T", 60, 1, 200, 1),
        Number("hidden", "Units a layer · H", 64, 1, 64, 1),
        Number("layers", "Layers", 1, 1, 3, 1),
        Choice("ways", "Directions", "one", {"one": "forward", "both": "forward and backward"}),
        Number("layer", "Layer shown", 1, 1, 3, 1),
        Choice("way", "Direction shown", "forward", {"forward": "forward →", "backward": "backward ←"}),
        FORGET,
        Choice(
            "value",
            "Shown",
            "h",
            {
                "h": "state h",
                "c": "cell c",
                "i": "write i",
                "f": "keep f",
                "g": "value g",
                "o": "show o",
                "z": "replace z",
                "r": "reset r",
                "n": "new n",
            },
        ),
        Table("own", "Own numbers · a row a step, a column an input", "1\n0\n0\n0\n0\n-1\n0\n0\n0\n0\n0\n0"),
        Choice(
            "why",
            "Why?",
            "closed",
            {
                "prove": "Prove it",
                "nudge": "Nudge: the reach",
                "loss": "Loss while it learned",
                "generate": "Let it spell on",
                "carry": "Carry over or reset",
                "lab": "Other cells, layers, inputs",
                "parameters": "Parameters and work",
            },
            empty="closed",
        ),
        PREDICT,
    ),
    "jacobians": (
        Number("gain", "Recurrent strength · gain of W", 1.0, 0.0, 4.0, 0.01),
        Number("input", "Input strength · sd of the noise", 0.5, 0.0, 3.0, 0.05),
        Choice("cell", "Cell", "rnn", {"rnn": "RNN", "lstm": "LSTM", "gru": "GRU"}),
        Choice(
            "recurrent",
            "Recurrent weights",
            "orthogonal",
            {"orthogonal": "orthogonal", "uniform": "torch's default", "normal": "Gaussian", "identity": "identity"},
        ),
        Choice(
            "activation",
            "Activation of the RNN · φ",
            "tanh",
            {"tanh": "tanh", "relu": "ReLU", "sigmoid": "sigmoid", "linear": "linear"},
        ),
        Number("T", "Steps · T", 100, 2, 400, 1),
        Number("hidden", "Units · H", 64, 1, 128, 1),
        Number("step", "Pushed state · step k", 10, 0, 399, 1),
        Number("size", "Size of the push · 10 to the power", -6, -12, 1, 1),
        Number("seed", "Seed", 0, 0, 99, 1),
        Choice("why", "Why?", "closed", {"back": "Seen from the end", "tug": "Slopes against weights"}, empty="closed"),
        PREDICT,
    ),
    "gates": (
        Choice("show", "Shown", "unit", {"unit": "One LSTM unit", "lstm": "LSTM", "gru": "GRU"}),
        Number("hold", "Keep · b_f", 5.0, -2.0, 12.0, 0.1),
        Number("shut", "Shut when unmarked · b_i", -5.0, -12.0, 4.0, 0.1),
        Number("open", "Open at the mark · w_i", 10.0, 0.0, 20.0, 0.1),
        Choice(
            "biases",
            "Biases",
            "both",
            {"both": "forget and input set", "forget": "forget set", "torch": "torch's default"},
        ),
        Number("forget", "Forget bias · b_f", 1.0, -2.0, 8.0, 0.1, help="The sum of torch's two biases."),
        Number("input", "Input bias · b_i", 0.0, -8.0, 4.0, 0.1),
        Number("hidden", "Units · H", 64, 1, 128, 1),
        Choice(
            "reset",
            "Reset r acts · before or after U_n",
            "before",
            {"before": "before (books)", "after": "after (torch)"},
        ),
        Number("gain", "Recurrent strength · gain of U", 1.0, 0.0, 4.0, 0.1),
        Number("T", "Steps · T", 100, 2, 400, 1),
        Number("seed", "Seed", 7, 0, 99, 1),
        Choice("order", "Order of units", "number", {"number": "as numbered", "kept": "by what they keep"}),
        Choice(
            "why",
            "Why?",
            "closed",
            {
                "half": "Two half-lives",
                "full": "How full, how open",
                "reset": "Reset before and after",
                "equations": "Equations",
            },
            empty="closed",
        ),
        PREDICT,
    ),
    "adding_problem": (
        Number("step", "Training step", 900, 0, 3200, 20),
        Number("T", "Sequence length · T", 20, 4, 200, 1),
        Choice("cell", "Cell", "gru", {"rnn": "RNN", "gru": "GRU", "lstm": "LSTM"}),
        Number("hidden", "Units · H", 32, 2, 64, 1),
        Number("steps", "Training steps", 1500, 100, 3200, 100),
        Choice(
            "rate",
            "Learning rate · η",
            "0.001",
            {rate: rate for rate in ("0.0001", "0.0003", "0.001", "0.003", "0.01")},
        ),
        Choice("optimizer", "Optimiser", "adam", {"adam": "Adam", "sgd": "SGD"}),
        Choice("clip", "Clipping of the gradient norm", "1", {"off": "off", "0.1": "0.1", "1": "1", "10": "10"}),
        Choice("activation", "Activation of the RNN · φ", "tanh", {"tanh": "tanh", "relu": "ReLU"}),
        Choice(
            "recurrent",
            "Recurrent weights at birth",
            "uniform",
            {"uniform": "torch's default", "orthogonal": "orthogonal", "identity": "identity"},
        ),
        Number("gain", "Recurrent strength at birth · gain of W", 1.0, 0.0, 2.0, 0.05),
        FORGET,
        Choice(
            "write", "Input bias of the LSTM · b_i", "default", {"default": "torch's default", "-3": "−3", "0": "0"}
        ),
        Number("seed", "Seed", 0, 0, 99, 1),
        Choice(
            "why",
            "Why?",
            "closed",
            {
                "steps": "Gradient by step",
                "gates": "Gates on one sequence",
                "gradient": "Gradient norm",
                "answers": "Answers",
            },
            empty="closed",
        ),
        PREDICT,
    ),
}


def row(page: str, names: Sequence[str], ends: Mapping[str, int] | None = None) -> None:
    """Draw controls side by side, full width; on a phone one under the other. ends: where some sliders end here."""
    for column, name in zip(st.columns(len(names), gap="large"), names, strict=True):
        with column:
            draw(page, name, end=(ends or {}).get(name))


def draw(
    page: str, name: str, *, label: bool = True, end: int | None = None, only: Sequence[str] | None = None
) -> None:
    """Draw one control. Its value is in session_state already: scenes.begin() put it there, within its limits.

    label=False: a choice whose words need no heading. end: where a slider ends for what is shown now. only: the words
    of a choice that it has a use for.
    """
    control = next(c for c in CONTROLS[page] if c.name == name)
    key = f"{page}_{name}"
    match control:
        case Number():
            low, high, step = (cast(float, control.at(v)) for v in (control.low, control.high, control.step))
            if end is not None:
                high = max(min(high, end), low + step)
                st.session_state[key] = min(st.session_state[key], high)
            st.slider(control.label, low, high, step=step, key=key, help=control.help)
        case Choice():
            options = [word for word in control.options if only is None or word in only]
            if only is not None and st.session_state[key] not in options:
                st.session_state[key] = options[0]
            st.segmented_control(
                control.label,
                options,
                format_func=control.options.__getitem__,
                key=key,
                help=control.help,
                required=control.empty is None,
                label_visibility="visible" if control.empty is None and label else "collapsed",
            )
        case Text():
            # No max_chars: it would cut what is pasted, and say nothing.
            st.text_input(control.label, key=key, help=control.help)
        case Flag():
            st.toggle(control.label, key=key, help=control.help)
        case Table():
            paste, load = st.columns([2, 1], gap="large")
            with paste:
                st.text_area(control.label, key=key, help=control.help, placeholder="0.5, 1\n0.25, 0\n…")
            with load:
                st.file_uploader(
                    "… or a CSV file", ["csv", "tsv", "txt"], key=f"{key}_file", on_change=_loaded, args=(key,)
                )
            refused = st.session_state.pop(f"{key}:refused", None) or control.nearest(st.session_state[key], "")[1]
            if refused is not None:
                st.warning(plain(f"{control.label.partition(' · ')[0]}: it {refused}. The numbers before stay."))


def _loaded(key: str) -> None:
    """A file's rows stand in the box, where they are read as if they had been pasted; what is none leaves it alone."""
    file = st.session_state[f"{key}_file"]
    if file is None:
        return
    data = file.getvalue()
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
        table(text)
    except (UnicodeDecodeError, ValueError) as error:
        why = "is no text in UTF-8 or UTF-16" if isinstance(error, UnicodeDecodeError) else f"cannot be used: {error}"
        st.session_state[f"{key}:refused"] = f"came from {file.name}, which {why}"
    else:
        st.session_state[key] = text
