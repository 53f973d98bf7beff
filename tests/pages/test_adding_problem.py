"""The learning page, run as a script, over a store without a supervisor: a run waits until the test lets it train."""

import pytest

from rnnviz.config import TrainConfig
from rnnviz.runs.run import Refused
from rnnviz.scenes import SCENES
from rnnviz.training import train
from rnnviz.ui import caches, runs
from rnnviz.ui.controls import CONTROLS
from rnnviz.ui.links import Choice, Flag, Number
from tests.pages.opening import drawn, opened, text

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
    assert "Step 40: loss" in text(at)
    for why in ("steps", "gates", "gradient", "answers"):
        assert len(drawn(opened(PAGE, {"run": id, f"{PAGE}_why": why}))) == 2


def test_only_the_owner_stops_a_run_and_others_are_offered_their_own():
    id, _ = run_of(40)
    at = opened(PAGE, {"run": id})
    at.button("run_stop").click().run()
    assert "somebody else's" in at.warning[0].value
    assert runs.store().find(id).wish == "run"
    with pytest.raises(Refused):
        runs.store().want(id, "stop", "another")


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


def test_the_code_that_keep_shows_trains_the_same_network(capsys):
    at = opened(PAGE, {f"{PAGE}_T": "6", f"{PAGE}_hidden": "4", f"{PAGE}_steps": "100"})
    code = next(block.value for block in at.code if "import" in block.value)
    found = {}
    exec(code, found)
    assert found["config"] == caches.train_config(at.session_state[f"{PAGE}:settings"])
    lines = capsys.readouterr().out.splitlines()
    assert [int(line.split()[0]) for line in lines] == [0, 20, 40, 60, 80, 99]
