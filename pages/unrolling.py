"""Unrolling: a word read letter by letter, the same cell again and again, and how far a nudge is heard."""

import streamlit as st

from rnnviz.figures import letters as behind
from rnnviz.figures import states as others
from rnnviz.figures import unrolling as figures
from rnnviz.ui import caches_unrolling as caches
from rnnviz.ui import controls, downloads, proofs, scenes
from rnnviz.verdicts import states as said_of
from rnnviz.verdicts import unrolling as words

PAGE = "unrolling"

view = scenes.begin(PAGE)
settings = view.settings
reading, push = caches.reading(settings)
with view.stage() as shown:
    if shown:
        folded, chain = st.columns([5, 7])
        with folded:
            view.cell(figures.cell(reading), "folded")
        with chain:
            view.cell(figures.read(reading, push), "chain", at=figures.telling(reading), bar=True)
view.say(words.verdict(reading, push))
controls.row(PAGE, ["word", "units", "net"])

why = scenes.why(view)
if why == "prove":
    found = caches.proved(settings)
    view.tell(words.proved(found))
    proofs.table(found)
elif why == "nudge":
    said = words.nudge(push)
    view.tell(said)
    view.chart(behind.nudge(push), "nudge", said)
    controls.row(PAGE, ["step", "size"])
elif why == "loss":
    learned = caches.learned(settings)
    said = words.loss(learned)
    view.tell(said)
    view.chart(behind.loss(learned, reading.steps), "loss", said)
elif why == "generate":
    with st.spinner("More seeds learn the same word …"):
        spelled = caches.spelled(settings)
    said = words.spelled(spelled, reading.word, int(settings["start"])).text
    view.tell(said)
    view.chart(behind.generate(spelled), "generate", said)
    controls.row(PAGE, ["start"])
elif why == "carry":
    leaked = caches.leaked(settings)
    said = said_of.leak(leaked).text
    view.tell(said)
    view.chart(others.leak(leaked), "leak", said, within="lab")
    controls.row(PAGE, ["cell", "forget"])
    controls.draw(PAGE, "feed")
    controls.row(PAGE, ["T", "hidden"])
elif why == "lab":
    states = caches.states(settings)
    name = caches.layer(settings)
    said = said_of.states(states).text
    view.tell(said)
    if caches.forward(settings):
        view.cell(figures.layer(states, name, caches.lab_configs(settings)[1].text), "lab_cell", within="lab")
    view.chart(others.heat(states, name), "lab_heat", f"States of {name}", within="lab", bar=True)
    view.chart(others.units(states, name), "lab_units", f"The units of {name}", within="lab")
    controls.row(PAGE, ["cell", "layers", "ways"])
    controls.row(PAGE, ["forget", "layer", "way"])
    controls.draw(PAGE, "feed")
    controls.row(PAGE, ["T", "hidden"])
    if settings["feed"] == "own":
        controls.draw(PAGE, "own")
elif why == "parameters":
    said = words.parameters(reading)
    view.tell(said)
    view.chart(behind.parameters(reading), "parameters", said)
    costs = caches.costs(settings)
    said = said_of.cost(costs).text
    view.tell(said)
    view.chart(others.cost(costs), "cost", said)

view.tell(words.challenge(reading))
with st.expander("More controls"):
    controls.row(PAGE, ["seed"] if why == "nudge" else ["seed", "step", "size"])

downloads.keep(
    view,
    caches.code(settings),
    {
        "letter": list(reading.word),
        "answer": list(reading.says),
        "states_from_0": reading.states,
        "softmax": reading.answers,
        "nudge_left": push.left,
        "nudge_ln_derivative": push.predicted,
    },
)
