"""train() against torch's own loop, resumption bit for bit, the probe against autograd, faults, and every field's
effect."""

import math
import re
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from torch import nn

from rnnviz import training
from rnnviz.analysis.learning import escape, smoothed
from rnnviz.config import TrainConfig
from rnnviz.results import BASELINE_MSE, reach
from rnnviz.tasks.adding import sample
from rnnviz.training import Snapshot, network, train

SMALL = TrainConfig(hidden=6, length=8, batch=5, steps=12, probe_every=4)


def module_of(config):
    """torch's module and read-out with the weights that a run starts from."""
    cell, weights = network(config)
    module, read = cell.to_torch(), nn.Linear(config.hidden, 1)
    with torch.no_grad():
        read.weight.copy_(weights["W_y"].unsqueeze(0))
        read.bias.copy_(weights["b_y"])
    return module, read


def same(one, other):
    return all(torch.equal(one.weights[name], other.weights[name]) for name in one.weights)


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
@pytest.mark.parametrize("clip", [None, 0.05])
def test_it_is_torchs_training_with_another_backward_pass(cell, clip):
    # One bias where torch has two: with SGD the sum of torch's two would move twice as fast, so the second is held.
    config = replace(SMALL, cell=cell, clip=clip, optimizer="sgd", learning_rate=0.1)
    module, read = module_of(config)
    held = [p for name, p in module.named_parameters() if name == "bias_hh_l0"]
    if cell == "gru":  # of the second bias only the candidate's part is a parameter of ours
        held[0].register_hook(lambda g: torch.cat((torch.zeros(2 * config.hidden), g[2 * config.hidden :])))
    else:
        held[0].requires_grad_(False)
    trained = [p for p in (*module.parameters(), *read.parameters()) if p.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=0.1)
    batches = torch.Generator().manual_seed(config.seed + training.BATCH_STREAM)
    for record in train(config):
        x, y = sample(config.length, config.batch, batches)
        loss = (read(module(x)[0][-1])[:, 0] - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.get_total_norm([p.grad for p in trained])
        # float32 and another order of summation: 1e-5 relative is a few hundred roundings
        assert record.loss == pytest.approx(loss.item(), rel=1e-5)
        assert record.grad_norm == pytest.approx(norm.item(), rel=1e-4)
        assert record.clipped == (clip is not None and norm.item() > clip)
        if clip is not None:
            nn.utils.clip_grads_with_norm_(trained, clip, norm)
        optimizer.step()


def test_torchs_own_pass_and_ours_find_the_same_gradients():
    """The LSTM trains through nn.LSTM because that is faster, not because it is something else."""
    net, weights = network(replace(SMALL, cell="lstm", length=30, hidden=16))
    x, y = sample(30, 7, torch.Generator().manual_seed(1))
    loss, grads, fault = training._by_hand(net, weights, x, y)
    same_loss, others, other_fault = training._by_torch(net.to_torch(), net, weights, x, y)
    assert (fault, other_fault) == (None, None)
    assert same_loss == pytest.approx(loss, rel=1e-6)
    assert set(others) == set(grads)
    for name, g in grads.items():
        # float32: a sum of 30 * 7 terms in another order
        torch.testing.assert_close(others[name], g, rtol=1e-4, atol=1e-6)


def test_adam_sees_one_long_parameter_and_moves_each_entry_as_torch_does():
    config = replace(SMALL, cell="rnn", clip=None, steps=6)
    start = {name: value.clone() for name, value in network(config)[1].items()}
    batches = torch.Generator().manual_seed(config.seed + training.BATCH_STREAM)
    leaves = {name: value.requires_grad_() for name, value in start.items()}
    optimizer = torch.optim.Adam(leaves.values(), lr=config.learning_rate)
    for record in train(config):
        x, y = sample(config.length, config.batch, batches)
        h = torch.zeros(config.batch, config.hidden)
        for step in x:
            h = torch.tanh(step @ leaves["W_x"].T + h @ leaves["W_h"].T + leaves["b"])
        optimizer.zero_grad()
        (h @ leaves["W_y"] + leaves["b_y"] - y).square().mean().backward()
        optimizer.step()
        last = record.snapshot()
    for name, value in leaves.items():
        torch.testing.assert_close(last.weights[name], value.detach(), rtol=1e-4, atol=1e-6)


def test_the_same_config_is_the_same_run_bit_for_bit():
    one, other = ([(r.loss, r.grad_norm, r.update, r.parts) for r in train(SMALL)] for _ in range(2))
    assert one == other
    assert [r.step for r in train(SMALL)] == list(range(12))


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_a_run_goes_on_from_any_step_to_the_same_numbers(cell, optimizer):
    config = replace(SMALL, cell=cell, optimizer=optimizer)
    whole = [(r.loss, r.grad_norm, r.snapshot()) for r in train(config)]
    for step in (0, 5, 10):
        start = Snapshot.from_bytes(whole[step][2].to_bytes())
        rest = [(r.step, r.loss, r.grad_norm, r.snapshot()) for r in train(config, start)]
        assert [r[:3] for r in rest] == [(n, *whole[n][:2]) for n in range(step + 1, 12)]
        assert same(rest[-1][3], whole[-1][2])
        assert rest[-1][3].seconds > start.seconds


def test_a_changed_rate_counts_from_the_snapshot_on():
    start = next(r.snapshot() for r in train(SMALL) if r.step == 5)
    slow = list(train(replace(SMALL, learning_rate=1e-5), start))
    assert slow[0].loss == next(r.loss for r in train(SMALL) if r.step == 6)
    assert slow[0].update < 1e-3 < next(r.update for r in train(SMALL) if r.step == 6)


def test_a_snapshot_is_asked_for_before_the_next_record():
    run = train(SMALL)
    first = next(run)
    assert first.snapshot().step == 1
    next(run)
    with pytest.raises(RuntimeError, match="before the next record"):
        first.snapshot()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"hidden": 7}, "this config takes"),
        ({"cell": "lstm"}, "this config takes"),
        ({"optimizer": "sgd"}, "another optimizer"),
    ],
)
def test_a_snapshot_of_another_network_is_refused_in_words(change, says):
    start = next(iter(train(SMALL))).snapshot()
    with pytest.raises(ValueError, match=says):
        train(replace(SMALL, **change), start)  # at the call, not at the first record
    with pytest.raises(ValueError, match="not a snapshot"):
        Snapshot.from_bytes(b"nonsense")


def test_the_highest_rate_is_one_that_adam_can_take():
    *_, last = train(replace(SMALL, learning_rate=3e37))
    assert "not finite" in last.fault


@pytest.mark.parametrize(
    ("config", "start", "says"),
    [
        ({"cell": "gru"}, None, "config is {'cell': 'gru'}: it takes a TrainConfig"),
        (None, None, "config is None: it takes a TrainConfig"),
        (SMALL, b"x", "start is b'x': it takes a Snapshot, as Snapshot.from_bytes() returns"),
    ],
)
def test_what_is_no_config_or_snapshot_is_refused_at_the_call(config, start, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        train(config, start)


def test_cells_with_other_numbers_of_weights_see_the_same_batches(monkeypatch):
    seen = {}

    def spy(length, batch, generator, *rest):
        drawn = sample(length, batch, generator, *rest)
        seen.setdefault(cell, []).append(drawn[0])
        return drawn

    monkeypatch.setattr(training, "sample", spy)
    for cell in ("rnn", "lstm"):
        list(train(replace(SMALL, cell=cell, steps=3)))
    assert all(torch.equal(a, b) for a, b in zip(seen["rnn"], seen["lstm"], strict=True))
    assert not torch.equal(seen["rnn"][1], seen["rnn"][2])


CHANGES = {
    "cell": {"cell": "rnn"},
    "hidden": {"hidden": 5},
    "length": {"length": 9},
    "batch": {"batch": 6},
    "steps": {"steps": 11},
    "optimizer": {"optimizer": "sgd"},
    "learning_rate": {"learning_rate": 2e-3},
    "clip": {"clip": 1e-3},
    "clip_mode": {"clip": 1e-3, "clip_mode": "value"},
    "forget_bias": {"cell": "lstm", "forget_bias": 3.0},
    "input_bias": {"cell": "lstm", "input_bias": -3.0},
    "activation": {"cell": "rnn", "activation": "relu"},
    "reset": {"reset": "before"},
    "recurrent": {"recurrent": "orthogonal"},
    "gain": {"gain": 1.5},
    "seed": {"seed": 1},
    "probe_every": {"probe_every": 5},
    "probe_batch": {"probe_batch": 3},
}


@pytest.mark.parametrize("name", [field.name for field in fields(TrainConfig)])
def test_every_field_of_the_config_changes_the_run(name):
    change = CHANGES[name]
    before = replace(SMALL, **{key: value for key, value in change.items() if key != name})
    runs = [
        [(r.loss, r.update, r.probe and r.probe.error) for r in train(config)]
        for config in (before, replace(SMALL, **change))
    ]
    assert runs[0] != runs[1]


def test_the_forward_pass_overflows_and_the_run_says_where_and_keeps_the_last_finite_state():
    config = TrainConfig(
        cell="rnn", activation="relu", recurrent="identity", hidden=16, length=60, batch=8, optimizer="sgd",
        learning_rate=0.01, clip=None, gain=6.0, steps=5,
    )  # fmt: skip
    records = list(train(config))
    last = records[-1]
    assert len(records) < 5
    assert f"step {last.step}: " in last.fault
    assert "not finite" in last.fault
    assert all(bool(torch.isfinite(w).all()) for w in last.snapshot().weights.values())
    assert last.snapshot().step == last.step


def test_an_update_that_is_not_finite_is_taken_back_and_named():
    # SGD has no bound on its step: with a gradient above 11 this rate overflows float32 in the first one
    steep = {"cell": "rnn", "activation": "relu", "recurrent": "identity", "gain": 2.0, "clip": None}
    *_, last = train(replace(SMALL, optimizer="sgd", learning_rate=3e37, **steep))
    assert last.step == 0
    assert "the update made" in last.fault
    assert all(bool(torch.isfinite(w).all()) for w in last.snapshot().weights.values())


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_the_probe_is_autograds_derivative_of_the_answer(cell):
    config = replace(SMALL, cell=cell)
    record = next(iter(train(config)))
    probe = record.probe
    module, read = module_of(config)
    module, read = module.double(), read.double()
    x, y = training._probe_batch(config)
    x.requires_grad_()
    answer = read(module(x)[0][-1])[:, 0]
    (by_input,) = torch.autograd.grad(answer.sum(), x)
    marks, by_value = x[..., 1].detach(), by_input[..., 0]
    half = config.length // 2
    # the run's weights are float32 in both; float64 from there on
    assert probe.listening[0] == pytest.approx(float((by_value * marks)[:half].sum(0).mean()), abs=1e-10)
    assert probe.listening[1] == pytest.approx(float((by_value * marks)[half:].sum(0).mean()), abs=1e-10)
    unmarked = (by_value.abs() * (1 - marks)).sum() / (marks == 0).sum()
    assert probe.listening[2] == pytest.approx(float(unmarked), abs=1e-10)
    assert probe.error == pytest.approx((answer - y).square().mean().item(), abs=1e-10)
    np.testing.assert_allclose(probe.predictions, answer.detach().numpy(), atol=1e-10)
    assert probe.reach == reach(probe.log_answer)
    assert probe.log_answer[-1] == 0
    by_answer = 2 / len(y) * (answer - y).detach().unsqueeze(1)
    assert probe.log_grad_norm[-1] == pytest.approx(
        math.log((by_answer * read.weight.detach()).norm().item()), abs=1e-9
    )
    assert probe.log_answer.shape == probe.log_grad_norm.shape == (config.length + 1,)
    assert set(probe.gates) == {"rnn": {"h"}, "gru": set("zrn"), "lstm": set("ifgo")}[cell]
    assert all(gate.shape == (config.length, config.hidden) for gate in probe.gates.values())
    assert (record.rho is not None) == (cell == "rnn")


def test_probes_come_at_their_cadence_and_at_the_end():
    assert [r.step for r in train(SMALL) if r.probe is not None] == [0, 4, 8, 11]


def test_a_gradient_whose_square_is_beyond_floats_is_not_zero():
    config = replace(SMALL, cell="rnn", gain=0.05, length=200, recurrent="orthogonal", steps=1)
    probe = next(iter(train(config))).probe
    assert np.isfinite(probe.log_answer).all()
    assert np.isfinite(probe.log_grad_norm).all()
    assert probe.log_answer[0] < math.log(1e-250)


def test_the_gru_learns_thirty_steps_before_the_tanh_rnn():
    lost = {}
    for cell in ("gru", "rnn"):
        losses = []
        for record in train(TrainConfig(cell=cell, hidden=32, length=30, steps=900, probe_every=2000)):
            losses.append(record.loss)
            if record.step % 50 == 0 and smoothed(np.array(losses))[-1] < BASELINE_MSE / 3:
                break
        lost[cell] = escape(np.arange(len(losses)), smoothed(np.array(losses)))
    assert lost["gru"] is not None
    assert lost["rnn"] is None


def test_a_square_that_the_optimizer_cannot_hold_ends_the_run_before_it_goes_dead():
    config = TrainConfig(
        cell="rnn",
        activation="linear",
        recurrent="orthogonal",
        gain=2.0,
        hidden=8,
        length=40,
        batch=4,
        clip=None,
        steps=60,
    )
    *_, last = train(config)
    assert re.search("the gradient of W_[xhy] is too large for the optimizer to square", last.fault)
    start = last.snapshot()
    assert all(value.isfinite().all() for value in start.optimizer.values())
    assert all(value.isfinite().all() for value in start.weights.values())
    on = list(train(replace(config, clip=1.0), start))
    assert on[0].step == start.step
    assert not on[0].fault


def test_the_default_dtype_does_not_matter():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        seen = [record.loss for record in train(SMALL)]
    finally:
        torch.set_default_dtype(before)
    assert seen == [record.loss for record in train(SMALL)]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"step": 13}, "start.step is 13: it takes a whole number from 0 to 12"),
        ({"generator": torch.zeros(3, dtype=torch.uint8)}, "start has no state of a stream of batches"),
        ({"optimizer": {"step": torch.tensor(1.0)}}, "start has moments"),
    ],
)
def test_a_snapshot_that_was_tampered_with_is_refused_in_words(change, says):
    start = next(iter(train(SMALL))).snapshot()
    with pytest.raises(ValueError, match=says):
        train(SMALL, replace(start, **change))
