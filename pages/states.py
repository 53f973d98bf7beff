"""For developers: every kind of picture in every state, and a group of drawings under one cursor."""

import streamlit as st

from rnnviz.ui import states
from rnnviz.ui.components.cell import cell
from rnnviz.ui.components.chart import chart

SHOWN = ("states", "kinds", "cells", "group")

shown = st.query_params.get("show", "states")
with st.container(horizontal=True):
    for name in SHOWN:
        st.page_link("../../pages/states.py", label=name, query_params={"show": name})

if shown == "states":
    for name, draw in states.STATES.items():
        st.subheader(name)
        chart(draw(), key=f"state_{name}", alt=f"The state {name}.", group=f"state {name}", bar=True)
elif shown == "kinds":
    for name, figure in states.kinds().items():
        st.subheader(name)
        chart(figure, key=f"kind_{name}", alt=f"The kind {name}.", group=f"kind {name}", bar=True)
elif shown == "cells":
    for name, diagram in states.cells().items():
        st.subheader(name)
        cell(diagram, key=f"cell_{name}", group=f"cell {name}", token="", bar=True)
elif shown == "group":
    figures, diagram = states.group()
    for name, figure in figures.items():
        chart(figure, key=f"group_{name}", alt=f"{name} of a group.", group="group", bar=name == "lines")
    cell(diagram, key="group_cell", group="group", token="")
    st.button("Run again")
