"""Configs: what they refuse, that they are cache keys, and that each field of a cell's config changes the cell."""

import dataclasses
import json
import math
import re

import numpy as np
import pytest
import torch

from rnnviz.cells import build
from rnnviz.config import CellConfig, InputConfig, TrainConfig
from rnnviz.trace import unroll
from tests.making import noise

WHOLE = "it takes a whole number of at least 1"
WRONG = [
    (CellConfig, {"cell": "GRU"}, "cell is 'GRU': it takes one of 'rnn', 'lstm', 'gru'"),
    (CellConfig, {"inputs": 0}, f"inputs is 0: {WHOLE}"),
    (CellConfig, {"hidden": 0}, f"hidden is 0: {WHOLE}"),
    (CellConfig, {"hidden": "64"}, f"hidden is '64': {WHOLE}"),
    (CellConfig, {"hidden": 2.5}, f"hidden is 2.5: {WHOLE}"),
    (CellConfig, {"activation": "selu"}, "activation is 'selu': it takes one of 'tanh', 'relu', 'sigmoid', 'linear'"),
    (CellConfig, {"cell": "gru", "activation": "relu"}, "activation is 'relu': only cell='rnn' has a choice"),
    (CellConfig, {"recurrent": "eye"}, "recurrent is 'eye': it takes one of 'uniform', 'orthogonal', 'identity'"),
    (CellConfig, {"gain": math.nan}, "gain is nan: it takes a finite number of at least 0"),
    (CellConfig, {"gain": -1.0}, "gain is -1.0: it takes a finite number of at least 0"),
    (CellConfig, {"forget_bias": 1.0}, "forget_bias is 1.0: only cell='lstm' has it, leave it None for 'rnn'"),
    (CellConfig, {"cell": "gru", "input_bias": 1.0}, "input_bias is 1.0: only cell='lstm' has it"),
    (CellConfig, {"cell": "lstm", "forget_bias": math.inf}, "forget_bias is inf: it takes a finite number"),
    (CellConfig, {"reset": "before"}, "reset is 'before': only cell='gru' has it, leave it 'after'"),
    (CellConfig, {"cell": "gru", "reset": "never"}, "reset is 'never': it takes one of 'before', 'after'"),
    (CellConfig, {"input_weights": "zero"}, "input_weights is 'zero': it takes one of 'uniform', 'identity'"),
    (CellConfig, {"input_weights": "identity"}, "inputs is 8: with input_weights='identity' it takes the number of"),
    (
        CellConfig,
        {"cell": "gru", "inputs": 64, "input_weights": "identity"},
        "input_weights is 'identity': only cell='rnn' has it",
    ),
    (CellConfig, {"seed": -1}, "seed is -1: it takes a whole number from 0 to"),
    (InputConfig, {"kind": "music"}, "kind is 'music': it takes one of 'noise', 'zeros', 'sine', 'impulse', 'adding'"),
    (InputConfig, {"length": 0}, f"length is 0: {WHOLE}"),
    (InputConfig, {"kind": "adding", "length": 1}, "length is 1: it takes a whole number of at least 2"),
    (InputConfig, {"strength": -0.5}, "strength is -0.5: it takes a finite number of at least 0"),
    (InputConfig, {"kind": "text"}, "text is '': it takes at least one letter"),
    (InputConfig, {"text": "HELLO"}, "text is 'HELLO': it takes at least one letter with kind='text', and nothing"),
    (InputConfig, {"kind": "text", "text": "HELLO", "length": 7}, "length is 7: this text takes 5, or leave it out"),
    (InputConfig, {"kind": "zeros", "strength": 2.0}, "strength is 2.0: kind='zeros' has none, leave it 1.0"),
    (InputConfig, {"kind": "adding", "strength": 0.5}, "strength is 0.5: kind='adding' has none, leave it 1.0"),
    (InputConfig, {"kind": "own"}, "values is (): it takes rows of numbers, a row a step, all of one length"),
    (InputConfig, {"kind": "own", "values": 5}, "values is 5: it takes rows of numbers"),
    (InputConfig, {"kind": "own", "values": "1"}, "values is '1': it takes rows of numbers"),
    (InputConfig, {"kind": "own", "values": ((1.0,), (1.0, 2.0))}, "values, row 2 has 2 columns: it takes rows"),
    (InputConfig, {"kind": "own", "values": ((math.inf,),)}, "values, row 1, column 1 is inf: it takes a finite"),
    (InputConfig, {"kind": "own", "values": ((1,),), "length": 2}, "length is 2: these values take 1, or leave it"),
    (InputConfig, {"kind": "own", "values": ((1,),), "strength": 2.0}, "strength is 2.0: kind='own' has none"),
    (InputConfig, {"values": ((1.0,),)}, "values is ((1.0,),): only kind='own' has it, leave it ()"),
    (InputConfig, {"seed": 0.5}, "seed is 0.5: it takes a whole number from 0 to"),
    (TrainConfig, {"cell": "rnn", "reset": "before"}, "reset is 'before': only cell='gru' has it"),
    (TrainConfig, {"length": 1}, "length is 1: it takes a whole number of at least 2"),
    (TrainConfig, {"batch": 0}, f"batch is 0: {WHOLE}"),
    (TrainConfig, {"steps": 0}, f"steps is 0: {WHOLE}"),
    (TrainConfig, {"probe_every": 0}, f"probe_every is 0: {WHOLE}"),
    (TrainConfig, {"optimizer": "Adam"}, "optimizer is 'Adam': it takes one of 'adam', 'sgd'"),
    (TrainConfig, {"learning_rate": 0.0}, "learning_rate is 0.0: it takes a finite number above 0"),
    (TrainConfig, {"learning_rate": 3e38}, "learning_rate is 3e+38: it takes a finite number above 0, at most 3e+37"),
    (TrainConfig, {"clip": None, "clip_mode": "each"}, "clip_mode is 'each': nothing is clipped with clip=None"),
    (TrainConfig, {"clip": 0}, "clip is 0: it takes a finite number above 0"),
    (TrainConfig, {"clip_mode": "norm"}, "clip_mode is 'norm': it takes one of 'global', 'each', 'value'"),
]


@pytest.mark.parametrize(("config", "fields", "sentence"), WRONG, ids=lambda value: str(value)[:40])
def test_a_wrong_field_is_refused_with_name_value_and_remedy(config, fields, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        config(**fields)


def test_the_defaults_of_training_are_the_contracts():
    assert dataclasses.asdict(TrainConfig()).items() >= {
        "cell": "gru", "hidden": 64, "length": 100, "batch": 64, "steps": 4000, "optimizer": "adam",
        "learning_rate": 1e-3, "clip": 1.0, "clip_mode": "global", "forget_bias": None, "input_bias": None,
        "activation": "tanh", "reset": "after", "recurrent": "uniform", "gain": 1.0, "seed": 0,
    }.items()  # fmt: skip
    assert TrainConfig(clip=None).clip is None


@pytest.mark.parametrize("config", [CellConfig, InputConfig, TrainConfig])
def test_a_config_is_a_frozen_cache_key(config):
    assert {config(): 1}[config()] == 1
    assert config(seed=1) != config()
    with pytest.raises(dataclasses.FrozenInstanceError):
        config().seed = 1
    assert not hasattr(config(), "__dict__")


def test_a_text_has_its_own_length():
    text = InputConfig(kind="text", text="HELLO")
    assert text.length == 5
    assert dataclasses.replace(text, seed=1) == InputConfig(kind="text", text="HELLO", length=5, seed=1)


def test_own_values_have_their_own_length_and_are_kept_as_floats():
    own = InputConfig(kind="own", values=[[1, 2], [3, np.float64(4.5)]])
    assert own.length == 2
    assert own.values == ((1.0, 2.0), (3.0, 4.5))
    assert eval(repr(own)) == own
    assert {own: 1}[InputConfig(kind="own", values=((1.0, 2.0), (3.0, 4.5)), length=2)] == 1
    assert dataclasses.replace(own, seed=1).values == own.values


def test_equal_numbers_of_other_types_make_the_same_config():
    plain = TrainConfig(hidden=8, gain=1.0, clip=2.0, seed=3)
    odd = TrainConfig(hidden=np.int64(8), gain=1, clip=np.float32(2), seed=3.0)
    assert repr(odd) == repr(plain)
    assert json.loads(json.dumps(dataclasses.asdict(odd))) == dataclasses.asdict(plain)
    assert type(CellConfig(hidden=8.0).hidden) is int


CHANGES = [
    ("rnn", {"cell": "gru"}),
    ("rnn", {"activation": "relu"}),
    ("rnn", {"recurrent": "orthogonal"}),
    ("rnn", {"gain": 2.0}),
    ("rnn", {"seed": 1}),
    ("rnn", {"inputs": 5, "input_weights": "identity"}),
    ("lstm", {"forget_bias": 1.0}),
    ("lstm", {"input_bias": 1.0}),
    ("gru", {"reset": "before"}),
]


@pytest.mark.parametrize(("cell", "change"), CHANGES, ids=str)
def test_every_field_of_a_cell_changes_its_states(cell, change):
    config = CellConfig(cell=cell, inputs=5, hidden=5)
    x = noise(4, 1, 5)
    assert torch.equal(unroll(build(config), x)["h"], unroll(build(config), x)["h"])
    other = build(dataclasses.replace(config, **change))
    assert not torch.allclose(unroll(build(config), x)["h"], unroll(other, x)["h"])


def test_the_sizes_of_a_config_are_the_cells():
    cell = build(CellConfig(inputs=3, hidden=5))
    assert (cell.inputs, cell.hidden, cell.dtype) == (3, 5, torch.float64)
    cell = build(TrainConfig(hidden=5))
    assert (cell.inputs, cell.hidden, cell.dtype) == (2, 5, torch.float32)


def test_identity_input_weights_make_the_strength_the_noise_of_every_unit():
    cell = build(CellConfig(inputs=4, hidden=4, input_weights="identity"))
    assert torch.equal(cell.W_x, torch.eye(4, dtype=torch.float64))
    assert torch.equal(cell.b, torch.zeros(4, dtype=torch.float64))
    assert torch.equal(cell.W_h, build(CellConfig(inputs=4, hidden=4)).W_h)
