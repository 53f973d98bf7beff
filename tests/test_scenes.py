"""Every scene stands: its page computes the number that it claims, and its question has an answer."""

import pytest

from rnnviz.scenes import PAGES, SCENES, Check, Scene
from rnnviz.ui import caches, caches_unrolling, links
from rnnviz.ui.controls import CONTROLS
from rnnviz.verdicts import adding_problem, gates, home, jacobians, states, unrolling

ALL = [scene for scenes in SCENES.values() for scene in scenes]


def numbers(scene):
    """What the page's verdict says of the scene's settings."""
    known = {s.name: dict(s.settings) for s in SCENES[scene.page]}
    settings = links.base(CONTROLS[scene.page], known, scene.name)
    match scene.page:
        case "home":
            return home.verdict(caches.home(settings)).numbers
        case "unrolling":
            found = dict(unrolling.verdict(*caches_unrolling.reading(settings)).numbers)
            if settings["why"] == "carry":
                found |= states.leak(caches_unrolling.leaked(settings)).numbers
            elif settings["why"] == "generate":
                several, start = caches_unrolling.spelled(settings), int(settings["start"])
                found |= unrolling.spelled(several, str(settings["word"]), start).numbers
            return found
        case "jacobians":
            return jacobians.verdict(caches.jacobians_push(settings), caches.jacobians_carried(settings)).numbers
        case "gates":
            return gates.verdict(*caches.gates(settings)).numbers
        case _:
            return adding_problem.verdict(caches.recorded(settings), int(settings["step"])).numbers


@pytest.mark.parametrize("scene", ALL, ids=lambda scene: f"{scene.page}-{scene.name}")
def test_the_number_of_a_scene_is_what_its_page_computes(scene):
    found = numbers(scene)
    for check in scene.checks:
        assert found[check.quantity] == pytest.approx(check.value, abs=check.tolerance), check.quantity


@pytest.mark.parametrize("page", SCENES)
def test_every_page_has_scenes_with_names_of_their_own(page):
    names = [scene.name for scene in SCENES[page]]
    assert len(names) >= 2
    assert len(set(names)) == len(names)
    assert all(scene.page == page for scene in SCENES[page])
    assert all(scene.ghost is None or scene.ghost in names for scene in SCENES[page])
    assert PAGES[page].question.endswith("?")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"answers": ("one",)}, "two to four answers"),
        ({"right": 2}, "index of the right one"),
        ({"checks": ()}, "at least one check"),
    ],
)
def test_a_scene_that_cannot_be_played_is_refused(change, says):
    fields = {
        "page": "home",
        "name": "x",
        "title": "X",
        "claim": "c",
        "question": "q?",
        "answers": ("a", "b"),
        "right": 0,
    }
    with pytest.raises(ValueError, match=says):
        Scene(**{**fields, "checks": (Check("reach", 1, 0),), **change})
