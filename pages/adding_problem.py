"""Learning: the recorded race, and training of one's own, live."""

import streamlit as st

from rnnviz.figures import adding_problem as figures
from rnnviz.ui import caches, controls, downloads, runs, scenes
from rnnviz.verdicts import adding_problem as words

PAGE = "adding_problem"

view = scenes.begin(PAGE)
runs.notice()
asked = st.query_params.get("run")
seen = runs.watched(asked) if asked else None
if seen is not None and seen.run is None:
    st.warning(seen.trouble)
live = seen is not None and seen.run is not None and seen.run.live
step = int(view.settings["step"])


@st.fragment(run_every=runs.TICK if live else None)
def picture() -> None:
    """The curves and what they say; while a run trains, once a second."""
    run = runs.watched(asked).run if asked else None
    if run is None:
        lanes = caches.race()
        verdict = words.verdict(lanes, step)
        view.paint(figures.learning(lanes, step), verdict, alt=verdict.text)
        return
    lanes = [runs.progress(curve) for curve in run.curves]
    newest = max(run.done, 1) if run.live else step
    verdict = words.verdict(lanes, newest, next((curve.fault for curve in run.curves if curve.fault), None))
    view.paint(figures.learning(lanes, None if run.live else step), verdict, alt=verdict.text)
    runs.bar(run)
    if live and not run.live:
        st.rerun()


@st.fragment(run_every=runs.TICK if live else None)
def behind(shown: str) -> None:
    """What lies behind the curves, of a run's newest probe."""
    run = runs.watched(asked).run if asked else None
    curve = run.curves[0] if run is not None and run.curves else None
    if curve is None or curve.newest is None:
        st.info("Train a network of your own, and this view shows it while it learns.")
        return
    if shown == "gradient":
        figure = figures.gradient(curve.step, curve.grad_norm, curve.config.clip)
    else:
        figure = {"steps": figures.by_step, "gates": figures.gates, "answers": figures.answers}[shown](curve.newest)
    st.plotly_chart(figure, key=f"{PAGE}_why_{shown}", config=scenes.PLOTLY)


picture()
config = caches.train_config(view.settings)
columns = st.columns(3, gap="large")
with columns[0]:
    controls.draw(PAGE, "step")
with columns[1]:
    controls.draw(PAGE, "T")
with columns[2]:
    controls.draw(PAGE, "cell")
    with st.container(horizontal=True):
        if seen is not None and seen.run is not None:
            runs.buttons(asked, seen.run)
        if not live:
            st.button(
                "Train yours", key="run_start", type="primary", on_click=runs.start, args=(config, view.scene.title)
            )

shown = scenes.why(view)
if shown != "closed":
    behind(shown)

with st.expander("More controls"):
    controls.row(PAGE, ["hidden", "steps", "seed"])
    controls.row(PAGE, ["rate", "clip", "optimizer"])
    controls.row(PAGE, ["activation", "recurrent", "gain"])
    controls.row(PAGE, ["forget", "write"])

lanes = (
    [runs.progress(curve) for curve in seen.run.curves] if seen is not None and seen.run is not None else caches.race()
)
downloads.keep(
    view,
    caches.train_code(seen.run.configs[0] if seen is not None and seen.run is not None else config),
    {f"{lane.name}_{name}": getattr(lane, name) for lane in lanes for name in ("step", "loss", "probe_step", "reach")},
)
