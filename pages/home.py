"""Home: two networks read the same number at step 12; the light reaches it in one of them. It needs no torch."""

import streamlit as st

from rnnviz.figures import home as figures
from rnnviz.scenes import PAGES
from rnnviz.ui import caches, controls, downloads, scenes

PAGE = "home"
DOORS = [name for name in PAGES if name != PAGE]

view = scenes.begin(PAGE)
start = caches.home(view.settings)
view.lanes(figures.lanes(start), figures.tour(start))
controls.draw(PAGE, "second")

with st.container(key=f"{PAGE}_doors"):
    for column, door in zip(st.columns(len(DOORS)), DOORS, strict=True):
        with column:
            label = f"**{PAGES[door].title}** · {PAGES[door].question}"
            st.page_link(f"../../pages/{door}.py", label=label, width="stretch")
st.caption(
    "A real training, recorded: 64 units, Adam, learning rate 0.001, gradient norm clipped at 1, seed 0. What is left "
    "is the median of 64 sequences; the loss, the mean squared error of an answer, is averaged exponentially."
)

moment = caches.home(view.settings, scenes.cursor(st.query_params))  # what is looked at
rnn, lane = moment.lanes.values()
downloads.keep(
    view,
    caches.home_code(moment),
    {
        "training_step": rnn.steps,
        "loss_rnn": rnn.loss,
        "reach_rnn": rnn.reach,
        f"loss_{moment.second}": lane.loss,
        f"reach_{moment.second}": lane.reach,
        "step": moment.steps,
        "share_left_rnn": moment.left("rnn"),
        f"share_left_{moment.second}": moment.left(moment.second),
        "first_number": moment.race.values,
        "truth": moment.race.truth,
        "answer_rnn": rnn.answers[rnn.at(moment.step)],
        f"answer_{moment.second}": lane.answers[lane.at(moment.step)],
    },
)
