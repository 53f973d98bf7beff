"""Learning: a recorded training, the race or the scene's own, and training of one's own, live."""

import streamlit as st

from rnnviz.figures import adding_problem as figures
from rnnviz.ui import caches, controls, downloads, runs, scenes
from rnnviz.verdicts import adding_problem as words

PAGE = "adding_problem"

view = scenes.begin(PAGE)
runs.notice()
asked = runs.asked(view.arrived)
seen = runs.watched(asked)
if seen.gone and asked:
    st.warning(seen.trouble)
    runs.leave()
step = int(view.settings["step"])
run = seen.run
lanes = runs.lanes(run) if run is not None else caches.recorded(view.settings)
# What the picture itself says at each step; a run that is going on, or broke, says it below, anew each second.
told = {} if seen.live or runs.fault(run) else words.along(lanes)


@st.fragment(run_every=seen.tick)
def verdict() -> None:
    """What the curves say; while a run trains, once a second."""
    now = runs.watched(asked)
    if now.trouble and not now.gone:
        st.warning(now.trouble)
    if now.run is not None:
        if now.run.live or not told:
            view.say(words.verdict(runs.lanes(now.run), now.run.done, runs.fault(now.run)))
        runs.bar(now.run)
    if now.tick != seen.tick or (now.run is None) != (seen.run is None):
        st.rerun()


@st.fragment(run_every=seen.tick)
def behind(shown: str) -> None:
    """What lies behind the curves, of a run's newest probe."""
    run = runs.watched(asked).run
    curve = run.curves[0] if run is not None and run.curves else None
    if curve is None or curve.newest is None:
        st.info("Train a network of your own, and this view shows it while it learns.")
        return
    if shown == "gradient":
        figure = figures.gradient(curve.step, curve.grad_norm, curve.config.clip)
    else:
        figure = {"steps": figures.by_step, "gates": figures.gates, "answers": figures.answers}[shown](curve.newest)
    view.chart(figure, f"why_{shown}", "Of the newest probe" if shown != "gradient" else "The gradient so far")


if run is not None:
    # Drawn once: the points come from the run's stream, and no script runs for them.
    figure = figures.learning(runs.outline(run), step)
    view.picture(figure, f"{run.name}, as it trains", live=runs.stream(run), says=told)
elif seen.gone:
    said = words.verdict(lanes, step).text
    view.picture(figures.learning(lanes, words.within(lanes, step)), said, says=told)
verdict()
config = caches.train_config(view.settings)
columns = st.columns(3, gap="large")
with columns[0]:
    controls.draw(PAGE, "T")
with columns[1]:
    controls.draw(PAGE, "cell")
with columns[2]:
    with st.container(horizontal=True):
        if asked and not seen.gone:
            runs.buttons(asked, seen.run)
        if not seen.live:
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

if run is not None or seen.gone:
    if run is None:
        st.caption(words.source(lanes))
    downloads.keep(
        view,
        caches.recorded_code(view.settings) if run is None else caches.train_code(run.configs[0]),
        {
            f"{lane.name}_{name}": getattr(lane, name)
            for lane in lanes
            for name in ("step", "loss", "probe_step", "reach", "listening")
        },
    )
