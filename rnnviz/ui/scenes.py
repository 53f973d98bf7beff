"""The frame that every page has: question, claim or prediction, picture, verdict; and the settings behind it.

The settings of a page are one dict. It comes from the address when the address asks for something, else from the
controls; it is written back to the address at every run. So a link, the controls and the Back button agree, and a page
that is left and opened again is as it was.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any

import streamlit as st

from rnnviz.figures.diagrams import Diagram
from rnnviz.figures.theme import DIMENSIONS
from rnnviz.scenes import PAGES, SCENES, Scene
from rnnviz.ui import controls, links
from rnnviz.ui.components.cell import cell
from rnnviz.ui.components.chart import chart
from rnnviz.ui.components.lanes import lanes
from rnnviz.ui.controls import CONTROLS
from rnnviz.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class View:
    """What a page shows now: its settings, its scene, and whether the answer may be seen.

    arrived: the reader has come to this page with this run of the script, from another page or from a link.
    """

    page: str
    scene: Scene
    settings: links.Settings
    revealed: bool
    arrived: bool

    def paint(self, figure: Any, verdict: Verdict, alt: str) -> None:
        """Draw the picture and the verdict, here; before the answer, neither gives it away."""
        self.picture(figure, alt)
        self.say(verdict)

    def picture(self, figure: Any, alt: str, *, live: str | None = None, says: Mapping[int, str] | None = None) -> None:
        """The picture, or before the answer its veil.

        live: the stream of a run that fills it. says: the verdict at values of its cursor, drawn with the picture, so
        that it follows the cursor without the server.
        """
        with self.stage() as shown:
            if shown:
                told = {value: raised(text) for value, text in (says or {}).items()}
                self.chart(figure, "figure", alt, bar=True, live=live, says=told)
        if says and not self.revealed:
            self.say(None)

    @contextmanager
    def stage(self) -> Iterator[bool]:
        """Where the picture stands; false, and a veil is there, before the answer."""
        with st.container(key=f"{self.page}_picture"):
            if not self.revealed:
                st.html('<div class="veil">The picture waits for your answer.</div>')
            yield self.revealed

    def say(self, verdict: Verdict | None) -> None:
        """The verdict, once it may be read."""
        said = verdict.text if verdict is not None and self.revealed else "Choose an answer above."
        st.html(f'<p class="verdict" role="status">{raised(said)}</p>')

    def tell(self, text: str) -> None:
        """What a view behind the picture says."""
        st.html(f'<p class="claim">{raised(text)}</p>')

    def chart(self, figure: Any, name: str, alt: str, *, within: str = "", **more: Any) -> None:
        """Draw a figure with the cursor that all drawings of this view share; within: another sequence's cursor."""
        chart(figure, key=f"{self.page}_{name}", alt=alt, group=self._group(within), token=self.token, **more)

    def cell(self, diagram: Diagram, name: str, *, within: str = "", **more: Any) -> None:
        """Draw a cell under the same cursor."""
        cell(diagram, key=f"{self.page}_{name}", group=self._group(within), token=self.token, **more)

    def _group(self, within: str) -> str:
        return f"{self.page}:{within}" if within else self.page

    def lanes(self, race: Mapping[str, Any], tour: Mapping[str, Any]) -> None:
        """Draw two lanes with their verdict, or before the answer the veil. tour: plays once, in the view of the front
        door."""
        with self.stage() as shown:
            if shown:
                plays = tour if self.settings == _told(self.page, SCENES[self.page][0]) else None
                told = lanes(race, key=f"{self.page}_figure", group=self.page, token=self.token, tour=plays)
                _catch_up(self.page, self.token, told)
        if not self.revealed:
            self.say(None)

    @property
    def behind(self) -> bool:
        """Whether the scene is about what lies behind the picture, and that is open: then it is the picture."""
        return self.settings["why"] != "closed" and self.scene.settings.get("why") == self.settings["why"]

    @property
    def token(self) -> str:
        """Which view the cursor belongs to: another scene, another run or a moved slider of its step begins anew."""
        return _token(self.settings)


def begin(page: str) -> View:
    """Read the settings, make the address say them, draw question and claim. What follows is drawn from these settings.

    They hold already what the controls will show, so the picture can come before the controls.
    """
    scenes = {scene.name: scene for scene in SCENES[page]}
    arrived = st.session_state.get("page") != page
    settings = _settings(page)
    scene = scenes[str(settings["scene"])]
    with st.container(horizontal=True, vertical_alignment="center", key=f"{page}_head"):
        st.html(f'<h1 class="question">{escape(PAGES[page].question)}</h1>')
        _chooser(page, list(scenes.values()), scene)
    for notice in st.session_state[f"{page}:notices"]:
        st.warning(links.plain(notice))
    revealed = _claim(page, scene, bool(settings["predict"]), _as_told(page, scene, settings))
    return View(page, scene, settings, revealed, arrived)


def raised(text: str) -> str:
    """Plain text as HTML, 10^x with x raised."""
    return re.sub(r"10\^([+−]?[\d.]+\d|\d)", r"10<sup>\1</sup>", escape(text))


def why(view: View) -> str:
    """Draw the choice of what lies behind the picture; the word chosen, or "closed", as it is before the answer."""
    if not view.revealed:
        return "closed"
    with st.container(horizontal=True, vertical_alignment="center", key=f"{view.page}_why_row"):
        st.html('<h2 class="why">Why?</h2>', width="content")
        controls.draw(view.page, "why")
    return str(view.settings["why"])


def _told(page: str, scene: Scene) -> links.Settings:
    """The settings of a scene as it is told."""
    return links.base(CONTROLS[page], {scene.name: dict(scene.settings)}, scene.name)


def _settings(page: str) -> links.Settings:
    state, known = st.session_state, CONTROLS[page]
    scenes = {scene.name: dict(scene.settings) for scene in SCENES[page]}
    query = {key: st.query_params.get_all(key) for key in st.query_params}
    mine = {key: values for key, values in query.items() if key == "v" or key.startswith(f"{page}_")}
    arrived = state.get("page") != page
    saved = state.get(f"{page}:settings")
    # A control that was moved counts more than the address: a quick second move leaves the browser before the address
    # of the first has arrived there, and would otherwise be overruled by the address of before.
    moved = saved is not None and not arrived and any(_moved(page, control, saved) for control in known)
    addressed = saved is None or (not moved and mine != state.get(f"{page}:query") and bool(mine or not arrived))
    if saved is None or addressed:
        settings, state[f"{page}:notices"] = links.read(page, known, scenes, query)
    else:
        settings, notices = dict(saved), []
        for control in known:
            key = f"{page}_{control.name}"
            if key in state:
                # What a browser sends is checked again: its limits are the browser's word.
                settings[control.name], why = control.nearest(state[key], saved[control.name])
                if why is not None and not isinstance(control, links.Table):  # it says so itself, beside its box
                    notices.append(f"{control.label} {why}; now {links.short(str(settings[control.name]))}.")
        if notices or settings != saved:
            state[f"{page}:notices"] = notices
    _hold(page, settings)
    state["page"] = page
    wanted = links.write(page, known, scenes, settings)
    # The cursor that a reader chose stands in the address, written there by the page; another view has its own, or what
    # its own address says.
    before, token = state.get(f"{page}:token"), _token(settings)
    stale = cursor(st.query_params) if before not in (None, token) and not addressed else {}
    state[f"{page}:token"] = token
    if {key: [value] for key, value in wanted.items()} != mine or stale:
        mixed = ("v", "run") if page != "adding_problem" else ("v",)
        pages = tuple(f"{name}_" for name in SCENES)
        others = {k: v for k, v in query.items() if k not in (*mixed, *stale) and not k.startswith(pages)}
        st.query_params.from_dict({**others, **wanted})
    state[f"{page}:query"] = {key: [value] for key, value in wanted.items()}
    return settings


def _token(settings: links.Settings) -> str:
    parts = (settings["scene"], settings.get("step", ""), settings.get("word", ""), st.query_params.get("run", ""))
    return " ".join(map(str, parts)).strip()


def cursor(query: Mapping[str, str]) -> dict[str, str]:
    """What of an address is the chosen cursor: at_step=12 and its like."""
    return {key: query[key] for key in query if key.startswith("at_")}


def _catch_up(page: str, token: str, told: object) -> None:
    """Make the address, as the server knows it, say the cursor that the browser told."""
    if not isinstance(told, Mapping) or told.get("token") != token:
        return
    key, now = f"{page}:told", cursor(st.query_params)
    last, stale = st.session_state.get(key, (None, None))
    if told != last:
        st.session_state[key] = told, now
    elif now != stale:
        return  # the address has gone on; with the stale one it was sent before the last answer had arrived
    # what a browser sends is its word: only whole numbers of the cursor go into the address
    known = {f"at_{dim}": str(value) for dim, value in told.items() if dim in DIMENSIONS and isinstance(value, int)}
    if any(st.query_params.get(name) != value for name, value in known.items()):
        st.query_params.update(known)


def _moved(page: str, control: links.Control, saved: links.Settings) -> bool:
    key, value = f"{page}_{control.name}", saved[control.name]
    return key in st.session_state and control.nearest(st.session_state[key], value) != (value, None)


def _hold(page: str, settings: links.Settings) -> None:
    st.session_state[f"{page}:settings"] = settings
    for control in CONTROLS[page]:
        value: Any = settings[control.name]
        key = f"{page}_{control.name}"
        held = st.session_state.get(key)
        if isinstance(control, links.Table) and held is not None and control.nearest(held, "")[1] is not None:
            continue  # rows that cannot be used stay in their box, to be mended
        # Only where the widget holds another value: what is written here overrules a slider that is still being moved,
        # and the same value with another last digit would do so at every run.
        if key not in st.session_state or control.nearest(st.session_state[key], not value)[0] != value:
            empty = isinstance(control, links.Choice) and value == control.empty
            st.session_state[key] = None if empty else value


def _go(page: str, name: str) -> None:
    """Open a scene: its settings, and every other control at its default."""
    settings = _told(page, next(scene for scene in SCENES[page] if scene.name == name))
    settings["predict"] = st.session_state[f"{page}:settings"]["predict"]
    st.session_state[f"{page}:notices"] = []
    _hold(page, settings)


def _chooser(page: str, scenes: Sequence[Scene], scene: Scene) -> None:
    place = scenes.index(scene)
    titles = {s.name: f"{n} of {len(scenes)} · {s.title}" for n, s in enumerate(scenes, 1)}
    chosen = f"{page}_chooser"
    st.session_state[chosen] = scene.name

    def step(by: int) -> None:
        _go(page, scenes[(place + by) % len(scenes)].name)

    st.button("‹", key=f"{page}_previous", help="Previous scene", on_click=step, args=(-1,))
    st.selectbox(
        "Scene",
        list(titles),
        format_func=titles.__getitem__,
        key=chosen,
        label_visibility="collapsed",
        width=260,
        on_change=lambda: _go(page, st.session_state[chosen]),
    )
    st.button("›", key=f"{page}_next", help="Next scene", on_click=step, args=(1,))
    controls.draw(page, "predict")


def _as_told(page: str, scene: Scene, settings: links.Settings) -> bool:
    """Whether the view is still the scene's, so that its question is about what is seen."""
    told = _told(page, scene).items()
    return all(settings[name] == value for name, value in told if name not in ("predict", "why"))


def _claim(page: str, scene: Scene, predict: bool, as_told: bool) -> bool:
    """The claim; or, while a prediction is asked for, the question with its answers. True when the answer may be
    seen. Of a view that the reader has changed nothing is asked, and the claim is said to be the scene's."""
    if not as_told:
        st.html(f'<p class="claim">Your own view, begun from “{escape(scene.title)}”: {escape(scene.claim)}</p>')
        return True
    answers = st.session_state.setdefault("answers", {})
    given = answers.get((page, scene.name))
    if not predict:
        st.html(f'<p class="claim">{escape(scene.claim)}</p>')
        return True
    if given is None:
        with st.container(horizontal=True, vertical_alignment="center", key=f"{page}_prediction"):
            st.html(f'<p class="claim">{escape(scene.question)}</p>')
            for n, answer in enumerate(scene.answers):
                st.button(answer, key=f"{page}_answer_{n}", on_click=answers.__setitem__, args=((page, scene.name), n))
        return False
    right = given == scene.right
    truth = "right" if right else f"it is “{scene.answers[scene.right]}”"
    said = f"You said “{scene.answers[given]}”: {truth}. {scene.claim}"
    with st.container(horizontal=True, vertical_alignment="center", key=f"{page}_revealed"):
        st.html(f'<p class="claim">{"✓" if right else "✗"} {escape(said)}</p>')
        st.button("Ask again", key=f"{page}_again", on_click=answers.pop, args=((page, scene.name), None))
    return True
