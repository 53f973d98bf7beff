"""The recordings that ship: small, plain, true to the program that made it, and readable without torch."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import record_race
from rnnviz.analysis.learning import escape, smoothed
from rnnviz.recorded import FILE, HELLO, SHORT, hello, progress, race
from rnnviz.results import BASELINE_MSE, Moment, reach
from rnnviz.tasks.letters import STEPS, learn, nudged, read
from rnnviz.training import train

HOUSE = Path(__file__).parents[1]
CELLS = ("rnn", "gru", "lstm")


def test_it_is_small_and_holds_plain_arrays():
    files = [file for file in FILE.parent.iterdir() if file.suffix not in (".py", "")]
    assert {file.name for file in files} == {FILE.name, "hello.npz", *(f"{name}.npz" for name in SHORT)}
    assert sum(file.stat().st_size for file in files) <= 300_000
    for file in files:
        with np.load(file, allow_pickle=False) as stored:
            assert all(stored[name].dtype.kind in "fiU" for name in stored.files)


def test_it_is_read_without_torch_or_streamlit():
    code = """
import sys
from rnnviz.recorded import hello, progress
hello()
progress("race")
progress("minute")
sys.exit(bool({"torch", "streamlit", "plotly"} & set(sys.modules)))
"""
    assert subprocess.run([sys.executable, "-c", code], cwd=HOUSE).returncode == 0


@pytest.mark.parametrize("cell", CELLS)
def test_a_lane_has_a_row_for_every_look(cell):
    recorded, lane = race(), race().lanes[cell]
    n = len(lane.steps)
    assert (np.diff(lane.steps) > 0).all()
    assert lane.snapshot_steps is lane.steps
    assert lane.loss.shape == lane.reach.shape == (n,)
    assert lane.listening.shape == (n, 3)
    assert lane.log_answer.shape == (n, recorded.T + 1)
    assert lane.answers.shape == (n, len(recorded.values)) == (n, 21)
    assert np.isfinite(lane.loss).all()
    assert np.isfinite(lane.answers).all()
    assert lane.at(0) == 0
    assert lane.at(int(lane.steps[3]) + 1) == 3
    assert lane.at(10**6) == n - 1


@pytest.mark.parametrize("cell", CELLS)
def test_the_reach_is_that_of_the_stored_curve(cell):
    lane = race().lanes[cell]
    for curve, stored in zip(lane.log_answer, lane.reach, strict=True):
        found = reach(curve.astype(float))
        assert stored == (-1 if found is None else found)


@pytest.mark.parametrize("cell", CELLS)
def test_the_escape_is_where_the_stored_loss_has_fallen(cell):
    lane = race().lanes[cell]
    seen = escape(lane.steps, lane.loss)
    if lane.escape is None:
        assert seen is None
    else:
        assert 0 <= seen - lane.escape < lane.steps[1]


@pytest.mark.parametrize("cell", CELLS)
def test_its_first_look_is_what_the_package_computes(cell):
    """The rest is training from there; other machines round otherwise, and after 1,000 steps that shows."""
    lane, record = race().lanes[cell], next(train(record_race.recipe(cell)))
    assert lane.loss[0] == pytest.approx(record.loss, rel=1e-4)
    np.testing.assert_allclose(lane.listening[0], record.probe.listening, atol=1e-4)
    np.testing.assert_allclose(lane.log_answer[0], record.probe.log_answer, rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(lane.answers[0], record_race.answers(cell, record.probe.weights), atol=1e-4)


def test_the_sequence_is_marked_twice_and_the_truth_is_the_sum():
    recorded = race()
    first, second = recorded.marks
    assert (np.flatnonzero(recorded.sequence[:, 1]) + 1).tolist() == [first, second] == [12, 71]
    np.testing.assert_allclose(recorded.truth, recorded.values + recorded.sequence[second - 1, 0])
    assert recorded.values.tolist() == pytest.approx(np.linspace(0, 1, 21).tolist())
    with pytest.raises(ValueError, match="read-only"):
        recorded.values[0] = 1


def test_gates_learned_and_the_tanh_rnn_did_not():
    lanes = race().lanes
    assert lanes["gru"].escape < lanes["lstm"].escape
    assert lanes["rnn"].escape is None
    assert lanes["rnn"].loss[-1] == pytest.approx(BASELINE_MSE, abs=0.01)


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_the_reach_met_the_mark_before_the_loss_fell(cell):
    lane = race().lanes[cell]
    lag = race().T - race().marks[0]
    heard = lane.steps[(lane.reach > lag) | (lane.reach < 0)]
    assert heard[0] < lane.escape
    before = (lane.steps >= 100) & (lane.steps <= heard[0])
    assert np.abs(lane.loss[before] - BASELINE_MSE).max() < 0.02


def test_a_moment_reads_the_recording_at_its_step():
    recorded = race()
    moment = Moment(recorded, "gru", 915, 16)
    lane, k = recorded.lanes["gru"], recorded.lanes["gru"].at(915)
    assert lane.steps[k] == 900
    assert list(moment.lanes) == ["rnn", "gru"]
    assert moment.lag == 88
    assert moment.answer("gru") == lane.answers[k, 16]
    assert moment.truth == pytest.approx(recorded.values[16] + 0.45)
    assert moment.left("gru")[-1] == 1
    assert len(moment.left("gru")) == len(moment.steps) == 100
    assert moment.reach("gru") == lane.reach[k]


@pytest.mark.parametrize("name", SHORT)
def test_a_short_training_is_what_train_yours_of_its_scene_trains(name):
    """To the digit at first, to the shape at last: other machines round otherwise."""
    (lane,), config = progress(name), record_race.short(name)
    assert (lane.cell, lane.length) == (config.cell, config.length)
    records = list(train(config))
    probes = [record for record in records if record.probe is not None]
    assert lane.step.tolist() == [record.step for record in records] == list(range(config.steps))
    assert lane.probe_step.tolist() == [record.step for record in probes]
    loss = smoothed(np.array([record.loss for record in records]))
    np.testing.assert_allclose(lane.loss[:20], loss[:20], rtol=1e-2)
    np.testing.assert_allclose(lane.listening[0], probes[0].probe.listening, atol=1e-4)
    assert lane.reach[0] == (probes[0].probe.reach or np.inf)
    assert escape(lane.step, lane.loss) == pytest.approx(escape(lane.step, loss), abs=60)
    assert lane.listening[-1, 0] == pytest.approx(probes[-1].probe.listening[0], abs=0.3)


def test_the_race_is_drawn_with_its_own_numbers():
    for lane in progress("race"):
        own = race().lanes[lane.cell]
        assert lane.loss is own.loss
        np.testing.assert_array_equal(np.isinf(lane.reach), own.reach == -1)
        assert (lane.reach[own.reach >= 0] == own.reach[own.reach >= 0]).all()
    with pytest.raises(ValueError, match="it takes 'race', 'minute', 'breath'"):
        progress("hour")


def test_the_stored_word_is_what_is_trained_and_read_now():
    cell, word, _, step, size = HELLO
    learned = learn(cell, word, STEPS)
    (stored, pushed), reading, push = hello(), read(cell, learned), nudged(cell, learned, step, size)
    for name in ("states", "answers", "before", "loss", "floor", "uniform"):
        assert getattr(stored, name) == pytest.approx(getattr(reading, name), rel=1e-6), name
    for name, weights in reading.weights.items():
        assert stored.weights[name] == pytest.approx(weights, rel=1e-6), name
    assert (stored.word, stored.letters, stored.steps) == (reading.word, reading.letters, reading.steps)
    assert (stored.parameters, stored.parameters_torch) == (reading.parameters, reading.parameters_torch)
    assert (pushed.step, pushed.size, pushed.gone) == (push.step, push.size, push.gone)
    for name in ("left", "predicted", "log_norm", "log_bound", "log_simple"):
        assert getattr(pushed, name) == pytest.approx(getattr(push, name), rel=1e-5, abs=1e-9), name
