"""Gates: one unit in the hand, and what an LSTM and a GRU keep."""

import streamlit as st

from rnnviz.figures import diagrams, gates_why
from rnnviz.figures import gates as figures
from rnnviz.ui import caches, controls, downloads, scenes
from rnnviz.verdicts import gates as words

PAGE = "gates"
# The three under the picture, and what is folded: by what is shown, for the LSTM by what is set of its biases.
ROWS = {
    "unit": (["hold", "shut", "open"], ["T", "seed"]),
    "gru": (["reset", "gain", "hidden"], ["T", "seed", "order"]),
    "both": (["forget", "input", "hidden"], ["gain", "T", "seed", "order"]),
    "forget": (["forget", "gain", "hidden"], ["T", "seed", "order"]),
    "torch": (["gain", "hidden", "T"], ["seed", "order"]),
}

view = scenes.begin(PAGE)
settings = view.settings
show = str(settings["show"])
with st.container(horizontal=True, key=f"{PAGE}_shown"):
    controls.draw(PAGE, "show", label=False)
    if show == "lstm":
        controls.draw(PAGE, "biases", label=False)

shown, ways, parted = caches.gates(settings)
verdict = words.verdict(shown, ways, parted)
view.paint(figures.picture(shown, str(settings["order"])), verdict, alt=verdict.text)
near, folded = ROWS[str(settings["biases"]) if show == "lstm" else show]
controls.row(PAGE, near)

behind = scenes.why(view)
if behind == "half":
    bias = caches.gates_bias(settings)
    said = words.half_lives(ways, bias)
    view.chart(gates_why.half_lives(ways, bias, show), "behind_half", said)
    st.caption(said)
elif behind == "full":
    charts = gates_why.histograms(shown)
    for column, chart in zip(st.columns(len(charts)), charts, strict=True):
        with column:
            st.altair_chart(chart, alt=str(chart.title))
elif behind == "reset":
    apart = caches.parting(settings)
    said = words.parting(apart)
    view.chart(gates_why.parting(apart), "behind_reset", said)
    st.caption(said)
elif behind == "equations":
    drawing, text = st.columns([2, 1])
    with drawing:
        view.cell(diagrams.gated(shown, str(settings["reset"])), "diagram")
    with text:
        st.latex(words.EQUATIONS[str(settings["reset"]) if show == "gru" else show])

with st.expander("More controls"):
    controls.row(PAGE, folded)

downloads.keep(view, caches.gates_code(settings), shown.columns | ways.columns)
