"""What a sequence costs: counts against the formula, against torch's own counter, and in proportion to time."""

import time

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from rnnviz.analysis.cost import Products, counted
from rnnviz.cells import build
from rnnviz.config import CellConfig, InputConfig
from rnnviz.inputs import sequence
from rnnviz.trace import unroll

KINDS = [("rnn", {}, 1, 0), ("lstm", {}, 4, 0), ("gru", {}, 3, 1), ("gru", {"reset": "before"}, 3, 1)]


@pytest.mark.parametrize(("kind", "fields", "gates", "extra"), KINDS)
@pytest.mark.parametrize("length", [1, 7, 70])
def test_counts_are_the_formula_exactly(kind, fields, gates, extra, length):
    """extra: a GRU's way back forms U_n h again, or takes what comes back through U_n once more."""
    n, d = 5, 3
    found = counted(CellConfig(cell=kind, inputs=d, hidden=n, **fields), InputConfig(length=length))
    assert found.forward == found.formula == length * (n * n + n * d) * gates
    assert found.backward == 2 * found.forward + extra * length * n * n
    assert (found.steps, found.inputs, found.hidden, found.gates) == (length, d, n, gates)


@pytest.mark.parametrize(("kind", "fields", "gates", "extra"), KINDS)
def test_parameters_and_bytes(kind, fields, gates, extra):
    n, d, T = 5, 3, 7
    found = counted(CellConfig(cell=kind, inputs=d, hidden=n, **fields), InputConfig(length=T))
    own_bias = n if kind == "gru" and not fields else 0  # c_n, which r scales
    assert found.parameters == gates * (n * (d + n) + n) + own_bias
    modules = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
    assert found.parameters_torch == sum(p.numel() for p in modules[kind](d, n).parameters())
    states, named = (2, 4) if kind == "lstm" else (1, gates if kind == "gru" else 0)
    assert found.bytes == 8 * n * (states * (T + 1) + named * T + gates * T)


@pytest.mark.parametrize(("kind", "fields", "gates", "extra"), KINDS)
def test_torchs_own_counter_sees_the_same_on_the_way_forward(kind, fields, gates, extra):
    config, inputs = CellConfig(cell=kind, inputs=3, hidden=5, **fields), InputConfig(length=9)
    with FlopCounterMode(display=False) as flops:
        unroll(build(config), sequence(inputs, 3))
    assert flops.get_total_flops() == 2 * counted(config, inputs).forward  # a multiply-add is two


def test_work_is_linear_in_time():
    one, ten = (counted(CellConfig(cell="lstm"), InputConfig(length=T)) for T in (30, 300))
    assert (ten.forward, ten.backward) == (10 * one.forward, 10 * one.backward)
    assert ten.bytes == pytest.approx(10 * one.bytes, rel=0.01)  # but for the initial state
    assert ten.parameters == one.parameters


@pytest.mark.parametrize(
    ("call", "count"),
    [
        (lambda a, b: a @ b, 2 * 3 * 4),
        (lambda a, b: torch.matmul(a.expand(5, 2, 3), b), 5 * 2 * 3 * 4),
        (lambda a, b: nn.functional.linear(a, b.mT), 2 * 3 * 4),
        (lambda a, b: torch.zeros(2, 4).addmm_(a, b), 2 * 3 * 4),
        (lambda a, b: torch.zeros(2, 4).addbmm_(a.expand(5, 2, 3), b.expand(5, 3, 4)), 5 * 2 * 3 * 4),
        (lambda a, b: a * 2 + torch.tanh(a), 0),
    ],
)
def test_a_product_is_counted(call, count):
    with Products() as products:
        call(torch.ones(2, 3), torch.ones(3, 4))
    assert products.total == count


def test_a_product_that_would_be_missed_is_a_fault():
    with pytest.raises(RuntimeError, match="einsum is a product that is not counted"), Products():
        torch.einsum("ij,jk", torch.ones(2, 2), torch.ones(2, 2))


def test_it_is_quick():
    began = time.process_time()
    counted(CellConfig(cell="gru"), InputConfig(length=500))
    assert time.process_time() - began < 3  # 0.05 s; here every call is checked for shapes


def test_what_leaves_the_range_of_floats_is_refused():
    with pytest.raises(ValueError, match="not finite from step"):
        counted(CellConfig(activation="linear", gain=1e200), InputConfig(length=9))
