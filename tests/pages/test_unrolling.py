"""The unrolling page, run as a script."""

from types import SimpleNamespace

import pytest

from rnnviz import own
from rnnviz.config import LETTERS, TEXT
from rnnviz.scenes import SCENES
from rnnviz.ui import caches_unrolling as caches
from rnnviz.ui import controls
from rnnviz.ui.controls import CONTROLS
from rnnviz.ui.links import Choice, Flag, Number, Table, Text
from tests.pages.opening import drawn, kept, opened, sent, text

PAGE = "unrolling"


def link(**settings):
    return {f"{PAGE}_{name}": str(value) for name, value in settings.items()}


def address(at):
    """What the page wrote into the address, without the version."""
    one = {key: value if isinstance(value, str) else value[-1] for key, value in at.query_params.items()}
    return {key: value for key, value in one.items() if key != "v"}


def cells(at):
    """The drawings of cells: folded, then the chain."""
    return [message for message in sent(at) if "kind" in message]


def setting(at, name):
    return at.session_state[f"{PAGE}:settings"][name]


def test_it_opens_with_question_claim_picture_verdict_and_three_controls():
    at = opened(PAGE)
    assert "Same letter in. Same answer out?" in text(at)
    assert SCENES[PAGE][0].claim in text(at)
    assert "Steps 3 and 4 read the same L. Their states differ by 2.01, so the net says L, then O." in text(at)
    assert "Without memory the loss cannot go below 0.347; here 0.0006." in text(at)
    folded, chain = sent(at)
    assert (folded["kind"], chain["kind"]) == ("folded", "unrolled")
    assert chain["at"] == {"step": 4}
    assert at.text_input(f"{PAGE}_word").value == "HELLO"
    assert "Step 4 reads L and answers O" in chain["alt"]


@pytest.mark.parametrize("scene", SCENES[PAGE], ids=lambda scene: scene.name)
def test_every_scene_opens_by_its_link(scene):
    at = opened(PAGE, link(scene=scene.name))
    assert scene.claim in text(at)
    assert not at.warning
    behind = "why" in scene.settings  # then what it is about is the picture, and its sentence the verdict
    assert len(cells(at)) == 2 * (not behind)
    assert len(drawn(at)) == {"parameters": 2}.get(scene.settings.get("why"), int(behind))


@pytest.mark.parametrize("control", CONTROLS[PAGE], ids=lambda control: control.name)
def test_every_control_takes_its_extremes(control):
    match control:
        case Number():
            values = [control.low, control.high]
        case Choice():
            values = list(control.options) if control.name != "why" else []  # each is opened below
        case Text():
            values = ["A", "ab" * (control.longest // 2)]
        case Table():
            values = ["1", "0.5 2\n3 4"]
        case Flag():
            values = ["on"]
    for value in values:
        at = opened(PAGE, link(**{control.name: value}, **({"net": "untrained"} if control.name == "word" else {})))
        assert not at.warning
        wanted = own.write(own.table(value)) if isinstance(control, Table) else value
        assert setting(at, control.name) == (True if value == "on" else wanted)


def test_a_word_a_slider_and_the_network_change_the_picture():
    at = opened(PAGE)
    before = cells(at)
    at.text_input(f"{PAGE}_word").set_value("NOON").run()
    assert "Steps 2 and 3 read the same O" in text(at)
    assert address(at) == link(word="NOON")
    at.slider(f"{PAGE}_units").set_value(1).run()
    at.button_group(f"{PAGE}_net").set_value("untrained").run()
    assert "Untrained, their states are already" in text(at)
    assert not at.exception
    folded, chain = cells(at)
    assert [folded, chain] != before
    assert chain["labels"] == list("NOON")
    assert len(chain["values"]["h"][0]) == len(folded["equation"]["b"]) == 1


@pytest.mark.parametrize(
    ("why", "says", "charts"),
    [
        ("prove", "routes that share no code", 0),
        ("nudge", "where the derivative says", 1),
        ("loss", "it remembers", 1),
        ("parameters", "exactly T (n² + n d)", 2),
        ("generate", "is a guess", 1),
        ("carry", "touches 8 of 60 answers", 1),
        ("lab", "hardly answers", 2),
    ],
)
def test_one_why_view_at_a_time_and_only_that_one(why, says, charts):
    at = opened(PAGE, link(why=why))
    assert says in text(at)
    assert len(drawn(at)) == charts
    assert len(cells(at)) == 2 + (why == "lab")


def test_spelling_starts_where_it_is_told():
    at = opened(PAGE, link(why="generate", start=4))
    assert len(drawn(at)) == 1
    assert [s.value for s in at.slider if s.key == f"{PAGE}_start"] == [4]


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
@pytest.mark.parametrize("feed", ["text", "sine", "impulse", "adding", "own"])
def test_any_cell_reads_any_input_in_layers_and_both_directions(cell, feed):
    at = opened(
        PAGE, link(why="lab", cell=cell, feed=feed, layers=2, ways="both", layer=2, way="backward", hidden=3, T=1)
    )
    assert not at.warning
    steps = {"text": 5, "adding": 2, "own": 12}.get(feed, 1)
    heat, lines = drawn(at)
    assert heat["data"][0]["x"][-1] == steps + 1
    assert len(heat["data"][0]["z"]) == len(lines["data"]) == 3
    assert "layer 2 ←" in heat["data"][0]["name"]
    assert len(cells(at)) == 2  # a chain would show a layer that reads backwards in the wrong order


def test_why_says_nothing_before_the_answer():
    scene = next(s for s in SCENES[PAGE] if "why" in s.settings)
    at = opened(PAGE, link(scene=scene.name, predict="on"))
    assert not sent(at)
    assert "at T = 500" not in text(at)


def test_predict_then_reveal():
    scene = SCENES[PAGE][0]
    at = opened(PAGE, link(predict="on"))
    assert scene.question in text(at)
    assert scene.claim not in text(at)
    assert not sent(at)
    assert "Challenge" not in text(at)
    at.button(f"{PAGE}_answer_0").click().run()
    assert "✗" in text(at)
    assert len(cells(at)) == 2
    at.button(f"{PAGE}_again").click().run()
    at.button(f"{PAGE}_answer_{scene.right}").click().run()
    assert "✓" in text(at)


@pytest.mark.parametrize(
    ("query", "says", "holds"),
    [
        ({"units": "banana"}, "is not a number", {}),
        ({"units": "999999"}, "is outside 1 to 8", link(units=8)),
        ({"net": "foo"}, "is not one of untrained, trained", {}),
        ({"word": ""}, "is too short", {}),
        (
            {"net": "untrained", "word": "x" * 10_000},
            "is too long with 10,000 letters",
            link(net="untrained", word="x" * TEXT),
        ),
        ({"word": "".join(map(chr, range(200, 200 + LETTERS + 1)))}, f"has {LETTERS + 1} different letters", {}),
        ({"own": "1,2\n3"}, "row 2 has 1 column", {}),
        ({"own": "1\n" * 201}, "there are 201 rows", {}),
        ({"own": ""}, "nothing to read", {}),
        ({"word": "AB\n\u202eC"}, "cannot be shown", link(word="ABC")),
        ({"scene": "<script>"}, "is not one of twins", {}),
    ],
)
def test_a_wild_link_opens_the_nearest_view_and_says_so(query, says, holds):
    at = opened(PAGE, link(**query))
    assert [says in warning.value for warning in at.warning] == [True]
    assert address(at) == holds


@pytest.mark.parametrize(
    "word", ["<b>&</b><script>", "😀😀!😀", "שלום שלום", "a b a c", "$x$ $y$", "**a** `b`", "e\u0301e"]
)
def test_any_text_is_read_as_letters_and_shown_as_text(word):
    at = opened(PAGE, link(word=word, net="untrained"))
    assert setting(at, "word") == word
    assert not at.warning
    _, chain = cells(at)
    assert len(chain["labels"]) == len(word)
    written = "\n".join(element.proto.body for element in at.get("html"))
    assert "<script>" not in written.lower()
    assert "<b>&" not in written


def test_what_it_spells_on_is_no_markup():
    at = opened(PAGE, link(word="<b>", units=1, why="generate"))
    (chart,) = drawn(at)
    assert "<b>" not in str(chart["data"][0]["text"])


def test_a_text_of_2_000_letters_is_read_and_what_is_sent_stays_small():
    words = "the quick brown fox jumps over the lazy dog and runs away from it "
    at = opened(PAGE, link(word=(words * 40)[:TEXT], net="untrained", units=8))
    assert not at.warning
    _, chain = cells(at)
    assert chain["steps"] == TEXT
    assert sum(len(component.proto.bytes) for component in at.get("bidi_component")) < 900_000


def test_a_refused_text_leaves_the_view_and_rows_that_cannot_be_used_stay_in_their_box():
    at = opened(PAGE, link(why="lab", feed="own", hidden=2))
    before = sent(at)
    at.text_input(f"{PAGE}_word").set_value("").run()
    assert ["is too short" in warning.value for warning in at.warning] == [True]
    assert sent(at) == before
    at.text_area(f"{PAGE}_own").set_value("value\n1\ntwo\n").run()
    assert any("row 3" in warning.value and "two" in warning.value for warning in at.warning)
    assert at.text_area(f"{PAGE}_own").value == "value\n1\ntwo\n"
    assert sent(at) == before
    at.text_area(f"{PAGE}_own").set_value("value\n1\n2\n").run()
    assert not at.warning
    assert sent(at) != before


def test_a_step_beyond_the_word_is_the_last_that_has_a_later_one():
    reading, push = caches.reading({"word": "HELLO", "units": 2, "seed": 0, "net": "untrained", "step": 23, "size": -1})
    assert push.step == 4
    assert len(push.left) == 2
    assert reading.steps == 0


@pytest.mark.parametrize("settings", [{}, {"word": "'\\\"}", "net": "untrained", "step": 2, "size": -3}])
def test_the_code_that_keep_shows_computes_the_views_numbers(settings, capsys):
    at = opened(PAGE, link(**settings))
    _, code = kept(at, PAGE)
    found = {}
    exec(code, found)
    reading, push = caches.reading(at.session_state[f"{PAGE}:settings"])
    assert found["push"].left.tolist() == push.left.tolist()
    assert found["reading"].states.tolist() == reading.states.tolist()
    assert found["reading"].loss == reading.loss
    assert reading.says in capsys.readouterr().out


@pytest.mark.parametrize("why", ["carry", "lab"])
def test_the_code_computes_the_other_network_too(why, capsys):
    at = opened(PAGE, link(why=why, cell="gru", feed="own", own="1 2\n3 4", hidden=3))
    _, code = kept(at, PAGE)
    found = {}
    exec(code, found)
    settings = at.session_state[f"{PAGE}:settings"]
    cell, inputs = caches.lab_configs(settings)
    assert (found["other"], found["inputs"]) == (cell, inputs)
    wanted = caches.leaked(settings).apart if why == "carry" else caches.states(settings).values
    assert str(wanted) in capsys.readouterr().out


@pytest.mark.parametrize(
    ("data", "rows", "refused"),
    [
        (b"time,value\n0,0.5\n1,0.25\n", ((0, 0.5), (1, 0.25)), None),
        ("a;b\n0,5;1\n".encode("utf-16"), ((0.5, 1),), None),
        ("\ufeff1\n2\n".encode(), ((1,), (2,)), None),
        (b"\x89PNG\r\n\x1a\n\x00\xff\xfe", None, "is no text in UTF-8 or UTF-16"),
        (b"1,2\n3,\n", None, "row 2"),
        (b"1\n" * 780_000, None, "780,000 rows"),
    ],
)
def test_a_file_stands_in_the_box_or_is_refused_and_leaves_it_alone(monkeypatch, data, rows, refused):
    file = SimpleNamespace(name="own.csv", getvalue=lambda: data)
    state = {"own_file": file, "own": "before"}
    monkeypatch.setattr(controls.st, "session_state", state)
    controls._loaded("own")
    if refused is None:
        assert own.table(state["own"]) == rows
        assert "own:refused" not in state
    else:
        assert state["own"] == "before"
        assert state["own:refused"].startswith("came from own.csv, which")
        assert refused in state["own:refused"]
