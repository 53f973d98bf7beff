"""The controls of every page as data, and how they are drawn.

The plain word comes first, the symbol second. The first three stand under the picture; the rest is folded.
"""

from collections.abc import Sequence

import streamlit as st

from rnnviz.ui.links import Choice, Control, Flag, Number, Text

PREDICT = Flag("predict", "Predict first", help="Answer before you see.")

CONTROLS: dict[str, tuple[Control, ...]] = {
    "home": (PREDICT,),
    "unrolling": (PREDICT,),
    "jacobians": (
        Number("gain", "Recurrent strength · gain of W", 1.0, 0.0, 4.0, 0.01),
        Number("input", "Input strength · sd of the noise", 0.5, 0.0, 3.0, 0.05),
        Choice("cell", "Cell", "rnn", {"rnn": "RNN", "lstm": "LSTM", "gru": "GRU"}),
        Choice("recurrent", "Recurrent weights", "orthogonal", {"orthogonal": "orthogonal", "uniform": "torch's default", "normal": "Gaussian", "identity": "identity"}),
        Choice("activation", "Activation of the RNN · φ", "tanh", {"tanh": "tanh", "relu": "ReLU", "sigmoid": "sigmoid", "linear": "linear"}),
        Number("T", "Steps · T", 100, 2, 400, 1),
        Number("hidden", "Units · H", 64, 1, 128, 1),
        Number("step", "Pushed state · step k", 10, 0, 399, 1),
        Number("size", "Size of the push · 10 to the power", -6, -12, 1, 1),
        Number("seed", "Seed", 0, 0, 99, 1),
        Choice("why", "Why?", "closed", {"back": "Seen from the end", "tug": "Slopes against weights"}, empty="closed"),
        PREDICT,
    ),
    "gates": (PREDICT,),
    "adding_problem": (PREDICT,),
}


def row(page: str, names: Sequence[str]) -> None:
    """Draw controls side by side, full width; on a phone one under the other."""
    for column, name in zip(st.columns(len(names), gap="large"), names, strict=True):
        with column:
            draw(page, name)


def draw(page: str, name: str) -> None:
    """Draw one control. Its value is in session_state already: scenes.begin() put it there, within its limits."""
    control = next(c for c in CONTROLS[page] if c.name == name)
    key = f"{page}_{name}"
    match control:
        case Number():
            low, high, step = (control.at(v) for v in (control.low, control.high, control.step))
            st.slider(control.label, low, high, step=step, key=key, help=control.help)
        case Choice():
            st.segmented_control(
                control.label,
                list(control.options),
                format_func=control.options.__getitem__,
                key=key,
                help=control.help,
                required=control.empty is None,
                label_visibility="visible" if control.empty is None else "collapsed",
            )
        case Text():
            st.text_input(control.label, max_chars=control.longest, key=key, help=control.help)
        case Flag():
            st.toggle(control.label, key=key, help=control.help)
