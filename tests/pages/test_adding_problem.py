"""The learning page, run as a script, over a store without a supervisor: a run waits until the test lets it train."""

import pytest

from rnnviz.config import TrainConfig
from rnnviz.runs.run import Refused
from rnnviz.runs.store import StoreError
from rnnviz.scenes import SCENES
from rnnviz.training import train
from rnnviz.ui import caches, runs
from rnnviz.ui.controls import CONTROLS
from rnnviz.ui.links import Choice, Flag, Number
from tests.pages.opening import drawn, kept, opened, sent, text

PAGE = "adding_problem"
SMALL = TrainConfig(hidden=4, length=6, batch=4, steps=60, probe_every=10)


@pytest.fixture(autouse=True)
def _new_store(tmp_path, monkeypatch):
    monkeypatch.setenv("RNNVIZ_DATA", str(tmp_path))
    runs.store.clear()
    yield
    runs.store.clear()


def run_of(steps, config=SMALL, owner="somebody"):
    """A run that has trained so many steps, and its id."""
    store = runs.store()
    id = store.create((config,), owner)
    claimed, attempt = store.claim()
    assert claimed == id
    records = [record for record, _ in zip(train(config), range(steps), strict=False)]
    store.append(id, [(0, record) for record in records], attempt=attempt)
    return id, attempt


def test_it_opens_on_the_recorded_race():
    at = opened(PAGE)
    assert SCENES[PAGE][0].claim in text(at)
    assert "tanh RNN loss" in text(at)
    (figure,) = drawn(at)
    assert {"tanh RNN", "GRU", "LSTM"} <= {line.get("name") for line in figure["data"]}


@pytest.mark.parametrize("control", CONTROLS[PAGE], ids=lambda control: control.name)
def test_every_control_takes_its_extremes_and_makes_a_network_that_can_be_trained(control):
    match control:
        case Number():
            values = [control.low, control.high]
        case Choice():
            values = [*control.options]
        case Flag():
            values = ["on"]
    for value in values:
        at = opened(PAGE, {f"{PAGE}_{control.name}": str(value)})
        assert not at.warning
        settings = dict(at.session_state[f"{PAGE}:settings"])
        for cell in ("rnn", "gru", "lstm"):
            caches.train_config(settings | {"cell": cell})


def test_every_scene_opens_by_its_link():
    for scene in SCENES[PAGE]:
        assert scene.claim in text(opened(PAGE, {f"{PAGE}_scene": scene.name}))


def test_train_yours_puts_a_run_in_the_queue_and_makes_the_address_its_link():
    at = opened(PAGE, {f"{PAGE}_T": "10", f"{PAGE}_hidden": "8"})
    at.button("run_start").click().run()
    (run,) = runs.store().list()
    assert at.query_params["run"] in (run.id, [run.id])
    assert (run.configs[0].length, run.configs[0].hidden) == (10, 8)
    assert "Waiting, number 1 in the queue." in [p.proto.text for p in at.get("progress")]
    assert "its first point is on its way" in text(at)


def test_a_third_run_at_once_is_refused_in_words():
    at = opened(PAGE)
    for seed in (1, 2, 3):
        next(slider for slider in at.slider if slider.key == f"{PAGE}_seed").set_value(seed).run()
        at.button("run_start").click().run()
        if seed < 3:
            at.button("run_leave").click().run()
    assert "You have 2 runs going already" in at.warning[0].value
    assert len(runs.store().list()) == 2


def test_a_run_shows_its_curves_and_each_view_behind_them():
    id, _ = run_of(40)
    at = opened(PAGE, {"run": id})
    assert "Step 39: loss" in text(at)  # the fortieth, counted from 0
    for why in ("steps", "gates", "gradient", "answers"):
        assert len(drawn(opened(PAGE, {"run": id, f"{PAGE}_why": why}))) == 2


def test_only_the_owner_stops_a_run_and_others_are_offered_their_own():
    id, _ = run_of(40)
    at = opened(PAGE, {"run": id})
    shown = {button.key for button in at.button}
    assert "run_own" in shown
    assert not {"run_stop", "run_pause", "run_on"} & shown
    with pytest.raises(Refused, match="somebody else's"):
        runs.store().want(id, "stop", "another")


def test_a_run_that_is_left_is_there_again_until_it_is_closed():
    id, _ = run_of(40)
    at = opened(PAGE, {"run": id})
    at.switch_page("../../pages/gates.py").run()
    at.query_params.clear()
    at.switch_page(f"../../pages/{PAGE}.py").run()
    assert at.query_params["run"] in (id, [id])
    assert "Step 39: loss" in text(at)
    at.button("run_leave").click().run()
    assert "run" not in at.query_params
    assert "tanh RNN loss" in text(at)


def test_who_joins_a_run_is_told_so():
    config = caches.train_config(opened(PAGE).session_state[f"{PAGE}:settings"])
    runs.store().create((config,), "somebody")
    at = opened(PAGE)
    at.button("run_start").click().run()
    assert "you are watching it" in at.warning[0].value
    assert len(runs.store().list()) == 1


def test_a_resting_run_is_looked_at_again_and_a_finished_one_is_not():
    id, attempt = run_of(40)
    assert runs.Watched(runs.store().read(id)).tick == runs.TICK
    runs.store().settle(id, "paused", "", attempt=attempt)
    assert runs.Watched(runs.store().read(id)).tick == runs.REST
    assert runs.Watched(None, gone=True).tick is None


def test_a_run_that_is_not_finite_says_where_and_why():
    config = TrainConfig(
        cell="rnn", activation="relu", recurrent="identity", gain=6.0, hidden=8, length=60, batch=4, optimizer="sgd",
        learning_rate=0.01, clip=None, steps=5,
    )  # fmt: skip
    id, attempt = run_of(5, config)
    runs.store().settle(id, "failed", "It is not finite.", attempt=attempt)
    at = opened(PAGE, {"run": id})
    assert "not finite" in text(at)


def test_a_link_to_no_run_says_so_over_the_recorded_race():
    at = opened(PAGE, {"run": "nowhere"})
    assert "There is no such run" in at.warning[0].value
    assert "tanh RNN loss" in text(at)


def test_a_store_that_is_out_of_reach_is_said_in_words(monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("RNNVIZ_DATA", str(blocked / "data"))
    runs.store.clear()
    at = opened(PAGE)
    at.button("run_start").click().run()
    assert not at.exception
    assert at.warning
    assert str(tmp_path) not in at.warning[0].value


def test_the_code_that_keep_shows_of_a_run_trains_the_same_network(capsys):
    id, _ = run_of(40)
    found = {}
    exec(kept(opened(PAGE, {"run": id}), PAGE)[1], found)
    assert found["config"] == SMALL
    lines = capsys.readouterr().out.splitlines()
    assert [int(line.split()[0]) for line in lines] == [0, 10, 20, 30, 40, 50, 59]


@pytest.mark.parametrize("scene", SCENES[PAGE], ids=lambda scene: scene.name)
def test_a_scene_opens_on_its_own_recording_and_keep_prints_what_it_says(scene, capsys):
    at = opened(PAGE, {f"{PAGE}_scene": scene.name})
    (figure,) = drawn(at)
    lanes = caches.recorded(dict(at.session_state[f"{PAGE}:settings"]))
    assert [line["name"] for line in figure["data"] if line["yaxis"] == "y"] == [lane.name for lane in lanes]
    assert ("tanh RNN loss" in text(at)) == (scene.name == "plateau")
    exec(kept(at, PAGE)[1], {})
    said, *lines = capsys.readouterr().out.splitlines()
    assert said in text(at)
    numbers = dict(line.split() for line in lines)
    for check in scene.checks:
        assert float(numbers[check.quantity]) == pytest.approx(check.value, abs=check.tolerance)


def test_an_answer_to_a_scenes_question_reveals_its_own_training():
    at = opened(PAGE, {f"{PAGE}_scene": "breath", f"{PAGE}_predict": "on"})
    assert not drawn(at)
    at.button(f"{PAGE}_answer_1").click().run()
    (figure,) = drawn(at)
    assert figure["data"][0]["name"] == "ReLU RNN"
    assert "of 30" in text(at) or "all 30 steps" in text(at)


def test_keeps_link_opens_the_run_too():
    id, _ = run_of(40)
    assert f"run={id}" in kept(opened(PAGE, {"run": id}), PAGE)[0]
    assert "run=" not in kept(opened(PAGE), PAGE)[0]


def failing(*_, **__):
    raise StoreError("The disk is busy.")


def test_a_run_is_shown_where_the_store_does_not_take_that_it_is_watched(monkeypatch):
    id, _ = run_of(40)
    monkeypatch.setattr(runs.RunStore, "watch", failing)
    at = opened(PAGE, {"run": id})
    assert "Step 39: loss" in text(at)
    assert not at.warning


def test_a_read_that_fails_is_said_over_the_run_as_it_was(monkeypatch):
    id, _ = run_of(40)
    at = opened(PAGE, {"run": id})
    with monkeypatch.context() as broken:
        broken.setattr(runs.RunStore, "read", failing)
        runs._read.clear()
        at.run()
        assert [warning.value for warning in at.warning] == ["The disk is busy."]
        assert "Step 39: loss" in text(at)
    runs._read.clear()
    assert not at.run().warning


def test_a_run_that_was_never_read_is_not_replaced_by_a_recording(monkeypatch):
    id, _ = run_of(40)
    monkeypatch.setattr(runs.RunStore, "read", failing)
    at = opened(PAGE, {"run": id})
    assert [warning.value for warning in at.warning] == ["The disk is busy."]
    assert not drawn(at)
    at.button("run_leave").click().run()
    assert "tanh RNN loss" in text(at)


@pytest.mark.parametrize("steps", [60, 40])
def test_no_step_is_named_or_marked_that_a_run_does_not_have(steps):
    id, attempt = run_of(steps)
    runs.store().settle(id, "stopped", "", attempt=attempt)
    (message,) = sent(opened(PAGE, {"run": id}))
    assert message["live"] == {"path": f"/api/runs/{id}/stream"}
    looks = [*(step for step in (0, 10, 20, 30, 40, 50) if step < steps), steps - 1]
    assert message["says"]["at"] == looks
    for step, said in zip(looks, message["says"]["texts"], strict=True):
        assert said.startswith(f"Step {step}: loss")
    # the outline has no point yet, and the stream brings no step that the run does not have
    assert message["cursor"]["dims"]["training"]["at"] == message["cursor"]["dims"]["training"]["high"] == 0
    assert {(*curve["x"], *curve["y"]) for curve in message["figure"]["data"]} == {()}


def test_a_run_is_drawn_once_and_its_stream_fills_the_columns():
    id, _ = run_of(40)
    at = opened(PAGE, {"run": id})
    (before,) = at.get("bidi_component")
    (message,) = sent(at)
    assert [(curve["meta"]["lane"], curve["meta"]["column"]) for curve in message["figure"]["data"]] == [
        (0, "loss"), (0, "reach"), (0, "listening.0"), (0, "listening.1"), (0, "listening.2")
    ]  # fmt: skip
    assert message["says"] is None  # while it trains, the page says where it stands
    (after,) = at.run().get("bidi_component")
    assert (after.proto.id, after.proto.bytes) == (before.proto.id, before.proto.bytes)


@pytest.mark.parametrize("step", [0, 900, 3200])
def test_the_training_step_of_the_address_is_where_the_cursor_starts(step):
    (message,) = sent(opened(PAGE, {f"{PAGE}_step": str(step)}))
    training = message["cursor"]["dims"]["training"]
    assert (training["low"], training["high"], training["at"]) == (0, 3200, step)
    says = dict(zip(message["says"]["at"], message["says"]["texts"], strict=True))
    assert says[step].startswith(f"Step {step:,}: tanh RNN loss")
    assert message["alt"] == says[step]
    assert (min(says), max(says)) == (0, 3200)


def test_a_training_step_beyond_a_scenes_recording_is_its_last():
    (message,) = sent(opened(PAGE, {f"{PAGE}_scene": "breath", f"{PAGE}_step": "3200"}))
    training = message["cursor"]["dims"]["training"]
    last = caches.recorded({"scene": "breath"})[0].step[-1]
    assert training["at"] == training["high"] == last < 3200
    assert message["alt"].startswith(f"Step {last}: ")
    assert max(message["says"]["at"]) <= last
