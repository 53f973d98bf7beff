"""A forgotten reset: against one run over the sequence twice, a special case, and scene 6 of the lesson."""

import numpy as np
import pytest
import torch

from rnnviz.analysis.leak import leaked
from rnnviz.cells import build
from rnnviz.config import CellConfig, InputConfig
from rnnviz.inputs import sequence
from rnnviz.results import Leaked

LESSON = {"inputs": 4, "hidden": 64}


@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
def test_carrying_over_is_one_run_over_the_sequence_twice(kind):
    config, inputs = CellConfig(cell=kind, inputs=3, hidden=5, seed=1), InputConfig(length=9, seed=2)
    x = sequence(inputs, 3)
    cell = build(config)
    state = (torch.zeros(1, 5, dtype=torch.float64),) * len(cell.state_names)
    rows = [torch.cat(state, -1)]
    for t in range(18):
        state = cell.step(x[t % 9], state if len(state) > 1 else state[0])
        state = state if isinstance(state, tuple) else (state,)
        rows.append(torch.cat(state, -1))
    right = [float((rows[9 + t] - rows[t]).norm()) for t in range(10)]
    found = leaked(config, inputs)
    assert found.apart == pytest.approx(right, abs=1e-14)
    assert found.h_apart == pytest.approx([float((rows[9 + t] - rows[t])[:, :5].norm()) for t in range(10)], abs=1e-14)
    assert found.share[0] == found.h_share[0] == 1
    assert (kind == "lstm") == (found.h_apart[0] < found.apart[0])


def test_a_linear_cell_keeps_its_matrix_power():
    config = CellConfig(inputs=5, hidden=5, activation="linear", recurrent="orthogonal", gain=0.5)
    assert leaked(config, InputConfig(length=12)).share == pytest.approx(0.5 ** np.arange(13), rel=1e-9)
    assert leaked(config, InputConfig(length=12)).gone == 7  # 0.5^6 = 0.0156, 0.5^7 = 0.0078


@pytest.mark.parametrize(("seed", "gone"), [(0, 8), (1, 8), (2, 8)])
def test_scene_6_an_untrained_rnn_has_lost_it_after_eight_steps(seed, gone):
    assert leaked(CellConfig(seed=seed, **LESSON), InputConfig(length=60, seed=seed)).gone == gone


@pytest.mark.parametrize(("seed", "start", "left"), [(0, 3.476, 2.105), (1, 3.685, 1.862), (2, 3.597, 1.915)])
def test_scene_6_an_lstm_that_keeps_has_more_than_half_of_h_after_sixty(seed, start, left):
    """The lesson's 1.7 to 2.4 of 3.8 are of h; of the whole state (h, c) nearly all is left."""
    config = CellConfig(cell="lstm", forget_bias=5.0, seed=seed, **LESSON)
    found = leaked(config, InputConfig(length=60, seed=seed))
    assert (found.h_apart[0], found.h_apart[-1]) == pytest.approx((start, left), abs=0.001)
    assert 0.9 < found.share[-1] < 1.11
    assert found.gone is None


def test_nothing_carried_over_and_nothing_left():
    zero = leaked(CellConfig(inputs=4, hidden=4, input_weights="identity"), InputConfig(kind="zeros", length=5))
    assert zero.apart.tolist() == zero.share.tolist() == zero.h_share.tolist() == [0] * 6
    assert zero.gone == 0
    # without a recurrent weight one step forgets all: equal states after it, exactly
    once = leaked(CellConfig(inputs=4, hidden=4, gain=0.0), InputConfig(length=5))
    assert once.share.tolist() == [1, 0, 0, 0, 0, 0]
    assert once.gone == 1


def test_states_beyond_floats():
    with pytest.raises(ValueError, match=r"the state is not finite from step \d+: there is none to carry over"):
        leaked(CellConfig(inputs=4, activation="linear", gain=1e200), InputConfig(length=5))
    # the first pass ends within the range, the second leaves it
    grows = CellConfig(inputs=4, hidden=4, activation="linear", recurrent="identity", gain=1e60)
    found = leaked(grows, InputConfig(length=5))
    assert np.isinf(found.apart[-1])
    assert found.gone is None
    assert Leaked("rnn", np.array([1.0, 0.5, 0.009, 0.2]), np.ones(4), 0.0).gone == 2
