"""Where weights come from: init against torch's numbers and against its rules, from torch and back, refusals."""

import math
import re

import pytest
import torch
from torch import nn

from rnnviz.cells import GRU, LSTM, Cell, Elman
from rnnviz.trace import unroll
from tests.making import KINDS, make, noise

MODULES = {
    "tanh": (nn.RNN, Elman, {"nonlinearity": "tanh"}),
    "relu": (nn.RNN, Elman, {"nonlinearity": "relu"}),
    "lstm": (nn.LSTM, LSTM, {}),
    "after": (nn.GRU, GRU, {}),
}
INITS = {"tanh": Elman.init, "lstm": LSTM.init, "after": GRU.init}
DTYPES = [torch.float32, torch.float64]
EXACT = {torch.float32: 2e-6, torch.float64: 1e-14}  # a few roundings of numbers of order 1


def recurrent(cell):
    return [value for name, value in cell.parameters().items() if name == "W_h" or name[0] == "U"]


def stream(seed=0):
    return torch.Generator().manual_seed(seed)


# ---------------------------------------------------------------- torch's modules


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bias", [True, False])
def test_every_layer_and_direction_computes_what_torch_computes(kind, dtype, bias):
    module, cell_type, options = MODULES[kind]
    net = module(3, 4, num_layers=2, bidirectional=True, bias=bias, dtype=dtype, **options)
    x = {0: noise(6, 2, 3, dtype=dtype), 1: noise(6, 2, 8, dtype=dtype)}
    for layer in (0, 1):
        for reverse in (False, True):
            single = module(x[layer].shape[-1], 4, bias=bias, dtype=dtype, **options)
            ending = f"_l{layer}" + "_reverse" * reverse
            mine = {n.removesuffix(ending): v for n, v in net.state_dict().items() if n.endswith(ending)}
            single.load_state_dict({f"{n}_l0": v for n, v in mine.items()})
            cell = cell_type.from_torch(net, layer, reverse)
            assert cell.dtype == dtype
            expected, _ = single(x[layer])
            torch.testing.assert_close(unroll(cell, x[layer])["h"][1:], expected.detach(), atol=EXACT[dtype], rtol=0)
            back, _ = cell.to_torch()(x[layer])
            torch.testing.assert_close(back.detach(), expected.detach(), atol=EXACT[dtype], rtol=0)


@pytest.mark.parametrize("kind", MODULES)
def test_to_torch_and_back_is_the_same_cell_and_the_second_bias_is_zero(kind):
    cell, _ = make(kind, inputs=2, hidden=3)
    stream_before = torch.get_rng_state()
    module = cell.to_torch()
    assert torch.equal(torch.get_rng_state(), stream_before)  # nobody else's random numbers are used up
    for name, value in type(cell).from_torch(module).parameters().items():
        assert torch.equal(value, cell.parameters()[name]), name
    hh = module.bias_hh_l0.detach()
    expected = torch.zeros_like(hh)
    if kind == "after":
        expected[6:] = cell.c_n
    assert torch.equal(hh, expected)
    assert all(p.requires_grad for p in module.parameters())


@pytest.mark.parametrize("kind", MODULES)
def test_weights_are_copied_from_and_to_torch_and_the_module_is_left_alone(kind):
    module, cell_type, options = MODULES[kind]
    net = module(2, 3, **options)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    cell = cell_type.from_torch(net)
    assert not any(value.requires_grad for value in cell.parameters().values())
    for value in cell.parameters().values():
        value += 1
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    assert all(p.requires_grad for p in net.parameters())
    kept = {name: value.clone() for name, value in cell.parameters().items()}
    with torch.no_grad():
        for p in cell.to_torch().parameters():
            p += 1
    assert all(torch.equal(value, kept[name]) for name, value in cell.parameters().items())


@pytest.mark.parametrize("kind", ["sigmoid", "linear", "before"])
def test_what_torch_has_not_is_not_converted(kind):
    with pytest.raises(ValueError, match=f"is '{kind}': nn.(RNN takes 'tanh' or 'relu'|GRU computes 'after')"):
        make(kind)[0].to_torch()


def test_the_protocol_picks_the_cell_of_a_module():
    for module, cell_type, options in MODULES.values():
        assert isinstance(Cell.from_torch(module(2, 3, num_layers=2, **options), layer=1), cell_type)
    with pytest.raises(ValueError, match=r"module is a Linear: it takes an nn.RNN, nn.LSTM or nn.GRU"):
        Cell.from_torch(nn.Linear(2, 3))


REFUSED = [
    (Elman, nn.GRU(2, 3), {}, "module is a GRU: it takes an nn.RNN"),
    (GRU, nn.GRUCell(2, 3), {}, "module is a GRUCell: it takes an nn.GRU"),
    (LSTM, None, {}, "module is a NoneType: it takes an nn.LSTM"),
    (LSTM, nn.LSTM(2, 3, proj_size=2), {}, "proj_size is 2: an LSTM with a projection is not covered"),
    (LSTM, nn.LSTM(2, 3), {"layer": 1}, "layer is 1: it takes a whole number from 0 to 0"),
    (LSTM, nn.LSTM(2, 3), {"layer": -1}, "layer is -1: it takes a whole number from 0 to 0"),
    (LSTM, nn.LSTM(2, 3), {"reverse": True}, "reverse is True: this module has one direction only"),
    (Elman, nn.RNN(2, 3).half(), {}, "W_x is torch.float16: it takes a float32 or float64 tensor"),
]


@pytest.mark.parametrize(("cell_type", "module", "options", "sentence"), REFUSED, ids=lambda value: str(value)[:30])
def test_a_module_that_is_not_covered_is_refused_by_name(cell_type, module, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        cell_type.from_torch(module, **options)


# ---------------------------------------------------------------- init


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", [0, 7])
def test_uniform_gives_torchs_numbers_for_the_same_seed(kind, dtype, seed):
    module, cell_type, options = MODULES[kind]
    torch.manual_seed(seed)
    expected = cell_type.from_torch(module(3, 5, dtype=dtype, **options)).parameters()
    chosen = {"activation": kind} if kind in ("tanh", "relu") else {}
    torch.manual_seed(seed)
    for cell in (
        cell_type.init(3, 5, generator=stream(seed), dtype=dtype, **chosen),
        cell_type.init(3, 5, dtype=dtype, **chosen),  # without a generator, from torch's own stream
    ):
        assert all(torch.equal(value, expected[name]) for name, value in cell.parameters().items())
        assert cell.dtype == dtype


@pytest.mark.parametrize("init", INITS.values(), ids=INITS)
def test_each_gate_has_an_orthogonal_matrix_of_its_own(init):
    """IN-01: orthogonal_ on the stacked 4H x H matrix leaves no gate orthogonal."""
    for gain in (1.0, 1.5):
        for U in recurrent(init(2, 16, recurrent="orthogonal", gain=gain, generator=stream(), dtype=torch.float64)):
            sigma = torch.linalg.svdvals(U)
            torch.testing.assert_close(sigma, torch.full_like(sigma, gain), atol=1e-12, rtol=0)
    first, *others = recurrent(init(2, 16, recurrent="orthogonal", generator=stream(), dtype=torch.float64))
    assert not any(torch.allclose(first, other) for other in others)


def test_orthogonal_matrices_are_spread_evenly():
    """Entries and traces average 0, squares of entries 1/n: within five standard errors of 400 draws."""
    n, draws, generator = 3, 400, stream()
    Q = torch.stack(
        [Elman.init(1, n, recurrent="orthogonal", generator=generator, dtype=torch.float64).W_h for _ in range(draws)]
    )
    # an entry has variance 1/n, the trace 1 (n > 1), and the square of an entry 3/(n(n+2)) - 1/n²
    assert Q.mean(0).abs().max() < 5 * math.sqrt(1 / n / draws)
    assert Q.diagonal(dim1=1, dim2=2).sum(1).mean().abs() < 5 * math.sqrt(1 / draws)
    assert (Q.square().mean(0) - 1 / n).abs().max() < 5 * math.sqrt((3 / (n * (n + 2)) - 1 / n**2) / draws)


@pytest.mark.parametrize("init", INITS.values(), ids=INITS)
def test_identity_has_no_bias(init):
    cell = init(2, 4, recurrent="identity", gain=1.1, generator=stream(), dtype=torch.float64)
    assert all(torch.equal(U, 1.1 * torch.eye(4, dtype=torch.float64)) for U in recurrent(cell))
    assert all(not value.any() for name, value in cell.parameters().items() if name[0] in "bc")
    assert all(value.all() for name, value in cell.parameters().items() if name[0] == "W" and name != "W_h")


@pytest.mark.parametrize("init", INITS.values(), ids=INITS)
def test_normal_has_variance_one_over_hidden(init):
    for U in recurrent(init(2, 64, recurrent="normal", generator=stream(), dtype=torch.float64)):
        n = U.numel()
        assert abs(float(U.mean())) < 5 * math.sqrt(1 / 64 / n)
        assert abs(float(U.var()) * 64 - 1) < 5 * math.sqrt(2 / n)


@pytest.mark.parametrize("init", INITS.values(), ids=INITS)
@pytest.mark.parametrize("rule", ["uniform", "orthogonal", "normal", "identity"])
def test_gain_multiplies_the_recurrent_matrices_and_nothing_else(init, rule):
    options = {"recurrent": rule, "dtype": torch.float64}
    one, three = (init(2, 4, gain=g, generator=stream(), **options).parameters() for g in (1, 3.0))
    for name, value in one.items():
        factor = 3.0 if name == "W_h" or name[0] == "U" else 1.0
        assert torch.equal(factor * value, three[name]), name


@pytest.mark.parametrize("rule", ["uniform", "orthogonal", "normal", "identity"])
def test_the_rule_leaves_the_input_weights_alone(rule):
    bound = 1 / math.sqrt(64)
    ours = LSTM.init(3, 64, recurrent=rule, generator=stream(), dtype=torch.float64)
    plain = LSTM.init(3, 64, generator=stream(), dtype=torch.float64)
    assert torch.equal(ours.W_f, plain.W_f)
    assert 0.95 * bound < float(ours.W_f.abs().max()) <= bound  # P(all 192 below 0.95 of the bound) = 5e-5


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_forget_bias_is_the_sum_that_torch_keeps_in_two(dtype):
    """BI-03: 1 in both of torch's vectors is 2."""
    cell = LSTM.init(2, 3, forget_bias=1, input_bias=-3.0, generator=stream(), dtype=dtype)
    plain = LSTM.init(2, 3, generator=stream(), dtype=dtype).parameters()
    assert torch.equal(cell.b_f, torch.ones(3, dtype=dtype))
    assert torch.equal(cell.b_i, torch.full((3,), -3.0, dtype=dtype))
    rest = cell.parameters().keys() - {"b_f", "b_i"}
    assert all(torch.equal(cell.parameters()[name], plain[name]) for name in rest)
    module = cell.to_torch()
    assert torch.equal((module.bias_ih_l0 + module.bias_hh_l0)[3:6], torch.ones(3, dtype=dtype))


def test_without_a_dtype_it_is_torchs_default():
    assert GRU.init(2, 3).dtype == torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert GRU.init(2, 3).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


WRONG = [
    ({"inputs": 0}, "inputs is 0: it takes a whole number of at least 1"),
    ({"hidden": 2.5}, "hidden is 2.5: it takes a whole number of at least 1"),
    ({"hidden": "3"}, "hidden is '3': it takes a whole number of at least 1"),
    ({"recurrent": "xavier"}, "recurrent is 'xavier': it takes one of 'uniform', 'orthogonal', 'identity', 'normal'"),
    ({"gain": math.nan}, "gain is nan: it takes a finite number"),
    ({"generator": 7}, "generator is 7: it takes a torch.Generator or None"),
    ({"dtype": torch.float16}, "dtype is torch.float16: it takes torch.float32 or torch.float64"),
]


@pytest.mark.parametrize("init", INITS.values(), ids=INITS)
@pytest.mark.parametrize(("options", "sentence"), WRONG, ids=lambda value: str(value)[:30])
def test_a_wrong_argument_of_init_is_refused(init, options, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        init(**({"inputs": 2, "hidden": 3} | options))


@pytest.mark.parametrize(
    ("init", "options", "sentence"),
    [
        (Elman.init, {"activation": "selu"}, "activation is 'selu': it takes one of 'tanh', 'relu', 'sigmoid'"),
        (GRU.init, {"reset": "never"}, "reset is 'never': it takes one of 'before', 'after'"),
        (LSTM.init, {"forget_bias": "much"}, "forget_bias is 'much': it takes a finite number"),
        (LSTM.init, {"input_bias": math.inf}, "input_bias is inf: it takes a finite number"),
    ],
)
def test_a_wrong_option_of_one_cell_is_refused(init, options, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        init(2, 3, **options)


# ---------------------------------------------------------------- weights by hand


def changed(kind, name, value):
    cell, weights = make(kind)
    options = {"activation": kind} if isinstance(cell, Elman) else {"reset": kind} if isinstance(cell, GRU) else {}
    return type(cell)(**(weights | {name: value}), **options)


def eye(n, m):
    return torch.eye(n, m, dtype=torch.float64)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [0, 1, 2])  # a matrix W, a matrix U, a bias
def test_every_weight_is_checked_by_name(kind, place):
    _, weights = make(kind)
    name = list(weights)[place]
    takes = tuple(weights[name].shape)
    with pytest.raises(ValueError, match=f"{name} is list: it takes a float32 or float64 tensor"):
        changed(kind, name, weights[name].tolist())
    with pytest.raises(ValueError, match=f"{name} holds NaN or infinity: weights take finite numbers"):
        changed(kind, name, torch.full(takes, math.nan, dtype=torch.float64))
    with pytest.raises(ValueError, match=r"is torch.float32: all weights take one dtype|is torch.float64: all weights"):
        changed(kind, name, weights[name].float())
    with pytest.raises(ValueError, match=r"has shape .*: it takes "):
        changed(kind, name, torch.zeros(*takes, 1, dtype=torch.float64))
    if place == 1:
        with pytest.raises(ValueError, match=rf"{name} has shape \(3, 4\): it takes \(3, 3\) with 3 units"):
            changed(kind, name, eye(3, 4))


def test_the_second_bias_belongs_to_reset_after_alone():
    _, weights = make("after")
    without = {name: value for name, value in weights.items() if name != "c_n"}
    assert GRU(**without, reset="before").c_n is None
    with pytest.raises(ValueError, match=r"c_n is None: with reset='after' it takes a tensor \[hidden\]"):
        GRU(**without)
    with pytest.raises(ValueError, match=r"c_n is tensor.*: with reset='before' leave it out"):
        GRU(**weights, reset="before")


def test_what_torch_modules_cannot_give_is_refused_in_words():
    with pytest.raises(ValueError, match="reverse is 'no': it takes True or False"):
        Cell.from_torch(nn.RNN(2, 3, bidirectional=True), 0, "no")
    with pytest.raises(ValueError, match=r"W_x is torch\.strided on meta: it takes a dense tensor on the CPU"):
        Cell.from_torch(nn.RNN(2, 3, device="meta"))
    with pytest.raises(ValueError, match=r"forget_bias is 1e\+39: it takes a finite number of at least -3.4"):
        LSTM.init(2, 2, forget_bias=1e39, dtype=torch.float32)
