"""A stack's states: torch's modules of the same weights, and the order of time in both directions."""

import dataclasses
import re

import numpy as np
import pytest
import torch
from torch import nn

from rnnviz.analysis.states import states
from rnnviz.cells import Cell, build
from rnnviz.config import CellConfig, InputConfig
from rnnviz.inputs import sequence

NOISE = InputConfig(length=7, seed=3)
MODULES = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}


def module(config, layers, both):
    """torch's stack with the weights that the cells have when they are drawn one after the other."""
    directions = 2 if both else 1
    net = MODULES[config.cell](config.inputs, config.hidden, layers, bidirectional=both, dtype=torch.float64)
    generator = torch.Generator().manual_seed(config.seed)
    with torch.no_grad():
        for layer in range(layers):
            width = config.inputs if layer == 0 else directions * config.hidden
            for suffix in ("", "_reverse")[:directions]:
                one = build(dataclasses.replace(config, inputs=width), generator).to_torch()
                for name, value in one.named_parameters():
                    getattr(net, name.replace("_l0", f"_l{layer}{suffix}")).copy_(value)
    return net


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize(("layers", "both"), [(1, False), (3, False), (1, True), (2, True), (3, True)])
def test_a_stack_is_torchs_of_the_same_weights(kind, layers, both):
    config = CellConfig(cell=kind, inputs=3, hidden=4, seed=5)
    found = states(config, NOISE, layers, both)
    net = module(config, layers, both)
    x = sequence(NOISE, 3)
    with torch.no_grad():
        out, last = net(x)
    ends = last if kind == "lstm" else (last,)
    assert len(found.names) == layers * (1 + both)
    for k, name in enumerate(found.names):
        backward = name.endswith("←")
        for value, end in zip("hc", ends, strict=False):
            rows = found.values[name][value]
            assert rows.shape == (8, 4)
            # the start is zero and stands before the first step, or after the last; the end at the other side
            assert not rows[-1 if backward else 0].any()
            np.testing.assert_allclose(rows[0 if backward else -1], end[k, 0], atol=1e-14)
    top = [found.values[n]["h"][found.steps(n) % 8 > 0] for n in found.names[-1 - both :]]
    np.testing.assert_allclose(np.concatenate(top, -1), out[:, 0], atol=1e-14)
    assert found.parameters_torch == sum(p.numel() for p in net.parameters())
    again = [Cell.from_torch(net, k, r) for k in range(layers) for r in ((False, True) if both else (False,))]
    assert found.parameters == sum(p.numel() for one in again for p in one.parameters().values())


def test_gates_make_the_states_in_both_directions():
    found = states(CellConfig(cell="lstm", inputs=3, hidden=4), NOISE, 2, True)
    assert found.names == ("layer 1 →", "layer 1 ←", "layer 2 →", "layer 2 ←")
    for name in found.names:
        v = found.values[name]
        assert set(v) == {"h", "c", "i", "f", "g", "o"}
        old, new = (v["c"][1:], v["c"][:-1]) if name.endswith("←") else (v["c"][:-1], v["c"][1:])
        assert v["f"].shape == (7, 4)
        np.testing.assert_allclose(new, v["f"] * old + v["i"] * v["g"], atol=1e-15)
        h = v["h"][:-1] if name.endswith("←") else v["h"][1:]
        np.testing.assert_allclose(h, v["o"] * np.tanh(new), atol=1e-15)


def test_rows_say_at_which_step_they_stand():
    found = states(CellConfig(cell="gru", inputs=3, hidden=4), NOISE, 1, True)
    assert found.steps("layer 1 →").tolist() == list(range(8))
    assert found.steps("layer 1 ←").tolist() == list(range(1, 9))
    assert found.steps("layer 1 →", "z").tolist() == found.steps("layer 1 ←", "z").tolist() == list(range(1, 8))
    assert found.inputs.shape == (7, 3)
    assert found.hidden == 4


def test_one_layer_is_the_cell_that_every_page_draws():
    config = CellConfig(inputs=3, hidden=4, seed=2)
    one, two = states(config, NOISE), states(config, NOISE, 2)
    assert one.names == ("layer 1",)
    assert np.array_equal(one.values["layer 1"]["h"], two.values["layer 1"]["h"])
    with torch.no_grad():
        out, _ = build(config).to_torch()(sequence(NOISE, 3))
    np.testing.assert_allclose(one.values["layer 1"]["h"][1:], out[:, 0], atol=1e-15)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: states(CellConfig(), NOISE, 4), "layers is 4: it takes a whole number from 1 to 3"),
        (lambda: states(CellConfig(), NOISE, 0), "layers is 0"),
        (lambda: states(CellConfig(), NOISE, 1, "yes"), "both is 'yes': it takes True or False"),
        (lambda: states(CellConfig(), InputConfig(kind="adding")), "inputs is 8: an adding sequence takes 2"),
        (
            lambda: states(CellConfig(inputs=64, input_weights="identity"), NOISE, 2, True),
            "input_weights is 'identity': a layer that reads both directions takes 'uniform'",
        ),
        (
            lambda: states(CellConfig(activation="linear", gain=1e200), NOISE, 2),
            "a layer's states left the range of floats",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(call, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        call()
