"""Unrolling: a word read letter by letter, the same cell again and again, and how far a nudge is heard."""

import streamlit as st

from rnnviz.figures import diagrams
from rnnviz.figures import letters as behind
from rnnviz.figures import unrolling as figures
from rnnviz.ui import caches, controls, downloads, scenes
from rnnviz.verdicts import unrolling as words

PAGE = "unrolling"
SENTENCE = '<p class="claim">{}</p>'

view = scenes.begin(PAGE)
reading, push = caches.unrolling(view.settings)
view.paint(figures.read(reading, push), words.verdict(reading, push), alt=words.described(reading, push))
controls.row(PAGE, ["word", "units", "net"])

shown = scenes.why(view)
if shown == "loss":
    learned = caches.unrolling_learned(view.settings)
    said = words.loss(learned)
    st.html(SENTENCE.format(scenes.raised(said)))
    view.chart(behind.loss(learned, reading.steps), "loss", said)
elif shown == "parameters":
    said = words.parameters(reading)
    st.html(SENTENCE.format(scenes.raised(said)))
    view.chart(behind.parameters(reading), "parameters", said)
elif shown == "cell":
    view.cell(diagrams.folded(reading), "folded")
    view.cell(diagrams.unrolled(reading), "unrolled", bar=True)
elif shown == "generate":
    with st.spinner("More seeds learn the same word …"):
        spelled = caches.unrolling_spelled(view.settings)
    said = words.spelled(spelled, reading.word, int(view.settings["start"])).text
    st.html(SENTENCE.format(scenes.raised(said)))
    view.chart(behind.generate(spelled), "generate", said)
    controls.row(PAGE, ["start"])

with st.expander("More controls"):
    controls.row(PAGE, ["seed", "step", "size"])

downloads.keep(
    view,
    caches.unrolling_code(view.settings),
    {
        "letter": list(reading.word),
        "answer": list(reading.says),
        "states_from_0": reading.states,
        "softmax": reading.answers,
        "nudge_left": push.left,
        "nudge_ln_derivative": push.predicted,
    },
)
