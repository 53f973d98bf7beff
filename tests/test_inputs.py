"""The sequences: what each kind is, and which widths they take."""

import math

import pytest
import torch

from rnnviz.config import InputConfig
from rnnviz.inputs import sequence, vocabulary


def test_noise_has_its_strength_and_its_seed():
    x = sequence(InputConfig(length=2000, strength=0.5), 4)
    assert x.shape == (2000, 1, 4)
    assert x.dtype == torch.float64
    assert float(x.std()) == pytest.approx(0.5, abs=5 * 0.5 / math.sqrt(2 * 8000))
    assert torch.equal(x, sequence(InputConfig(length=2000, strength=0.5), 4))
    assert not torch.equal(x, sequence(InputConfig(length=2000, strength=0.5, seed=1), 4))


def test_zeros_an_impulse_and_a_sine_of_twenty_steps():
    assert not sequence(InputConfig(kind="zeros", length=3), 2).any()
    x = sequence(InputConfig(kind="impulse", length=3, strength=2.0), 2)
    assert x[:, 0].tolist() == [[2, 2], [0, 0], [0, 0]]
    x = sequence(InputConfig(kind="sine", length=40, strength=0.5), 4)
    torch.testing.assert_close(x[:20], x[20:])
    assert x[0, 0].tolist() == pytest.approx([0, 0.5, 0, -0.5])


def test_an_adding_sequence_takes_two_inputs():
    x = sequence(InputConfig(kind="adding", length=10), 2)
    assert float(x[:, 0, 1].sum()) == 2
    with pytest.raises(ValueError, match="inputs is 3: an adding sequence takes 2"):
        sequence(InputConfig(kind="adding", length=10), 3)


def test_a_text_is_one_hot_in_the_order_first_seen():
    x = sequence(InputConfig(kind="text", text="HELLO", strength=2.0), 4)
    known = "HELO"
    assert vocabulary("HELLO") == list(known)
    assert x[:, 0].tolist() == [[2.0 * (c == k) for k in known] for c in "HELLO"]
    with pytest.raises(ValueError, match="inputs is 5: this text takes 4"):
        sequence(InputConfig(kind="text", text="HELLO"), 5)


def test_own_numbers_are_what_was_given():
    config = InputConfig(kind="own", values=((1.0, 2.0), (3.0, -4.5), (0.0, 0.0)))
    x = sequence(config, 2)
    assert x.shape == (3, 1, 2)
    assert x[:, 0].tolist() == [[1, 2], [3, -4.5], [0, 0]]
    with pytest.raises(ValueError, match="inputs is 8: these own numbers take 2, one a column"):
        sequence(config, 8)
