"""Gradients: what is left of a push, and of the gradient on its way back."""

import streamlit as st

from rnnviz.figures import jacobians as figures
from rnnviz.ui import caches, controls, downloads, scenes
from rnnviz.verdicts import jacobians as words

PAGE = "jacobians"

view = scenes.begin(PAGE)
push = caches.jacobians_push(view.settings)
if push.step != view.settings["step"]:
    st.warning(f"The pushed state lies before the last step: it is pushed at step {push.step} of {view.settings['T']}.")
view.picture(figures.push(push), words.pushed(push))  # on its way while the rest is computed
carried = caches.jacobians_carried(view.settings)
view.say(words.verdict(push, carried))
controls.row(PAGE, ["gain", "input", "cell"])

shown = scenes.why(view)
if shown == "back":
    view.chart(figures.back(carried), "back", "The gradient on its way back from the end, by lag")
elif shown == "tug":
    view.chart(figures.tug(carried), "tug", "What slopes and weights multiply by, by lag")

with st.expander("More controls"):
    controls.row(PAGE, ["step", "size", "T"])
    controls.row(PAGE, ["recurrent", "activation"])
    controls.row(PAGE, ["hidden", "seed"])

downloads.keep(
    view,
    caches.jacobians_code(view.settings),
    {
        "steps_after_push": range(len(push.left)),
        "left": push.left,
        "ln_derivative": push.predicted,
        "ln_norm": push.log_norm,
        "ln_bound": push.log_bound,
        "ln_norm_from_end": carried.transport.log_norm[::-1],
    },
)
