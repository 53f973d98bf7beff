"""Unrolling: a word read letter by letter, the same cell again and again, and how far a nudge is heard."""

import streamlit as st

from rnnviz.figures import letters as behind
from rnnviz.figures import states as others
from rnnviz.figures import unrolling as figures
from rnnviz.ui import caches_unrolling as caches
from rnnviz.ui import controls, downloads, proofs, scenes
from rnnviz.verdicts import Verdict
from rnnviz.verdicts import states as said_of
from rnnviz.verdicts import unrolling as words

PAGE = "unrolling"

view = scenes.begin(PAGE)
settings = view.settings
reading, push = caches.reading(settings)


def draw(why: str) -> str:
    """Draw what lies behind the word; what it says."""
    if why == "prove":
        found = caches.proved(settings)
        proofs.table(found)
        return words.proved(found)
    if why == "nudge":
        said = words.nudge(push)
        view.chart(behind.nudge(push), "nudge", said)
    elif why == "loss":
        learned = caches.learned(settings)
        said = words.loss(learned)
        view.chart(behind.loss(learned, reading.steps), "loss", said)
    elif why == "generate":
        with st.spinner("More seeds learn the same word …"):
            spelled = caches.spelled(settings)
        said = words.spelled(spelled, reading.word, int(settings["start"])).text
        view.chart(behind.generate(spelled), "generate", said)
    elif why == "parameters":
        said = words.parameters(reading)
        view.chart(behind.parameters(reading), "parameters", said)
    elif why == "carry":
        leaked = caches.leaked(settings)
        said = said_of.leak(leaked).text
        view.chart(others.leak(leaked), "leak", said, within="lab", bar=True)
    else:
        states, name, value = caches.states(settings), caches.layer(settings), caches.value(settings)
        said, alt = said_of.states(states).text, others.described(states, name, value)
        if caches.forward(settings):
            text = caches.lab_configs(settings)[1].text
            view.cell(figures.layer(states, name, text), "lab_cell", within="lab")
        view.chart(others.heat(states, name, value), "lab_heat", alt, within="lab", bar=True)
        view.chart(others.units(states, name, value), "lab_units", alt, within="lab")
    return said


def turn(why: str) -> None:
    """Draw the controls of what lies behind the word: those that it has a use for."""
    ends = caches.ends(settings)
    if why == "nudge":
        controls.row(PAGE, ["step", "size"], ends)
    elif why == "generate":
        controls.row(PAGE, ["start"], ends)
    elif why in ("carry", "lab"):
        kinds = ["cell", "forget"] if settings["cell"] == "lstm" else ["cell"]
        controls.row(PAGE, kinds if why == "carry" else [*kinds, "layers", "ways"])
        controls.draw(PAGE, "feed")
        if settings["feed"] == "own":
            controls.draw(PAGE, "own")
        sizes = ["hidden"] if settings["feed"] in ("own", "text") else ["T", "hidden"]
        if why == "carry":
            controls.row(PAGE, sizes)
            return
        layer = ["layer"] if settings["layers"] != 1 else []
        way = ["way"] if settings["ways"] == "both" else []
        controls.row(PAGE, [*sizes, *layer, *way])
        if settings["cell"] != "rnn":
            controls.draw(PAGE, "value", only=caches.values(settings))


why = str(settings["why"])
said = ""
with view.stage() as shown:
    if shown and view.behind:
        said = draw(why)
    elif shown:
        folded, chain = st.columns([5, 7])
        with folded:
            view.cell(figures.cell(reading), "folded")
        with chain:
            picture = figures.read(reading, push, nudge=why == "nudge")
            view.cell(picture, "chain", at=figures.telling(reading), bar=True)
view.say(Verdict(said, {}) if view.behind else words.verdict(reading, push))
if view.behind and why == "carry":
    turn(why)
else:
    controls.row(PAGE, ["word", "units", "net"])

opened = scenes.why(view)
if opened != "closed" and not view.behind:
    if opened == "lab":
        turn(opened)
    sentence = st.container()
    said = draw(opened)
    with sentence:
        view.tell(said)
if opened == "parameters":
    costs = caches.costs(settings)
    said = said_of.cost(costs).text
    view.tell(said)
    view.chart(others.cost(costs), "cost", said)
elif opened != "lab" and not (view.behind and opened == "carry"):
    turn(opened)

if view.revealed:  # its score would give the answer away
    view.tell(words.challenge(reading))
with st.expander("More controls"):
    controls.row(PAGE, ["seed"] if opened == "nudge" else ["seed", "step", "size"], caches.ends(settings))

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
