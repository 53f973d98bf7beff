"""Unrolling: a word read letter by letter, the same cell again and again, and how far a nudge is heard."""

import streamlit as st

from rnnviz.figures import letters as behind
from rnnviz.figures import unrolling as figures
from rnnviz.ui import caches, controls, downloads, scenes
from rnnviz.verdicts import unrolling as words

PAGE = "unrolling"
# On a narrow screen the picture keeps its width and scrolls sideways; its words take the page's colour, light or dark.
STYLE = """<style>
.st-key-unrolling_picture {{ overflow-x: auto; }}
.st-key-unrolling_picture [data-testid="stFullScreenFrame"] {{ min-width: {width}px; }}
.st-key-unrolling_picture :is(.textpoint text, .annotation-text) {{ fill: currentColor !important; }}
</style>"""
SENTENCE = '<p class="claim">{}</p>'

view = scenes.begin(PAGE)
reading, push = caches.unrolling(view.settings)
st.html(STYLE.format(width=figures.least_width(reading)))
view.paint(figures.read(reading, push), words.verdict(reading, push), alt=words.described(reading, push))
controls.row(PAGE, ["word", "units", "net"])

shown = scenes.why(view)
if shown == "loss":
    learned = caches.unrolling_learned(view.settings)
    st.html(SENTENCE.format(scenes.raised(words.loss(learned))))
    st.plotly_chart(behind.loss(learned, reading.steps), key=f"{PAGE}_loss", config=scenes.PLOTLY)
elif shown == "parameters":
    st.html(SENTENCE.format(scenes.raised(words.parameters(reading))))
    st.plotly_chart(behind.parameters(reading), key=f"{PAGE}_parameters", config=scenes.PLOTLY)
elif shown == "generate":
    with st.spinner("More seeds learn the same word …"):
        spelled = caches.unrolling_spelled(view.settings)
    st.html(SENTENCE.format(scenes.raised(words.spelled(spelled, reading.word, int(view.settings["start"])).text)))
    st.plotly_chart(behind.generate(spelled), key=f"{PAGE}_generate", config=scenes.PLOTLY)
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
