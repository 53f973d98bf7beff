"""Faults that people met in tools like this one, and the right values from independent oracles: states and gates.

The letters and number of a case stand in the name or the docstring of its test.
"""

import math

import numpy as np
import pytest
import torch

from rnnviz.analysis.jacobians import step_jacobians
from rnnviz.cells import GRU, LSTM, Elman
from rnnviz.trace import unroll
from tests.making import close, far, module, noise, start, tensor


def paper(case, flip):
    """A GRU with reset "before" from stacked rows z, r, h; flip where z weighs the old state."""
    sign = -1 if flip else 1
    rows = {letter: tensor(case[letter]).chunk(3) for letter in "WUb"}
    weights = {f"{letter}_{k}": rows[letter][n] for n, k in enumerate("zrn") for letter in "WUb"}
    return GRU(**{name: sign * value if name[-1] == "z" else value for name, value in weights.items()}, reset="before")


@pytest.mark.parametrize("kind", ["rnn_tanh", "rnn_relu"])
def test_in05_an_elman_cell_with_its_own_activation(fixtures, kind):
    """IN-05: ReLU replayed with tanh does not match."""
    cases = fixtures("cell_traces")
    case, (x, h0, _) = cases[kind], start(cases)
    net = module("RNN", case)
    cell = Elman.from_torch(net)
    cell = Elman(**cell.parameters(), activation=kind[4:])
    trace = unroll(cell, x, h0)
    close(trace["a"][:, 0], case["preact"])
    close(trace["h"][1:, 0], case["h"])
    other = Elman(**cell.parameters(), activation="relu" if kind == "rnn_tanh" else "tanh")
    assert far(unroll(other, x, h0)["h"][-1, 0], tensor(case["h"][-1])) > 1e-3


def test_go01_which_rows_are_the_forget_gate(fixtures):
    """GO-01, GO-08: torch's rows are i, f, g, o; read as i, f, o, g the end is another."""
    cases = fixtures("cell_traces")
    case, (x, h0, c0) = cases["lstm"], start(cases)
    cell = LSTM.from_torch(module("LSTM", case))
    trace = unroll(cell, x, (h0, c0))
    for name in "ifgo":
        close(trace[name][:, 0], case[name])
    for name in "hc":
        close(trace[name][1:, 0], case[name])
    wrong = cell.parameters()
    for letter in "WUb":
        wrong[f"{letter}_g"], wrong[f"{letter}_o"] = wrong[f"{letter}_o"], wrong[f"{letter}_g"]
    close(unroll(LSTM(**wrong), x, (h0, c0))["h"][-1, 0], cases["lstm_wrong_order_last_h"]["ifog"])


@pytest.mark.parametrize("gate", "fgo")
def test_go09_every_gate_has_its_own_bias(fixtures, gate):
    cases = fixtures("cell_traces")
    x, h0, c0 = start(cases)
    weights = LSTM.from_torch(module("LSTM", cases["lstm"])).parameters()
    wrong = LSTM(**(weights | {f"b_{gate}": weights["b_i"]}))
    assert far(unroll(wrong, x, (h0, c0))["h"][1:, 0], tensor(cases["lstm"]["h"])) > 1e-3


def test_gr01_gr02_three_cells_with_one_name(fixtures):
    """GR-01, GR-02: torch's, and the books' with z on the new and on the old state, from the same numbers."""
    cases = fixtures("cell_traces")
    x, h0, _ = start(cases)
    ours = GRU.from_torch(module("GRU", cases["gru_torch"]))
    trace = unroll(ours, x, h0)
    close(trace["h"][1:, 0], cases["gru_torch"]["h"])
    close(trace["r"][:, 0], cases["gru_torch"]["r"])
    close(1 - trace["z"][:, 0], cases["gru_torch"]["z"])  # the share of the old state, in torch's letters
    close(trace["n"][:, 0], cases["gru_torch"]["n"])
    for name, flip in (("gru_paper_z_on_candidate", False), ("gru_paper_z_on_old", True)):
        case = cases[name]
        trace = unroll(paper(case, flip), x, h0)
        close(trace["h"][1:, 0], case["h"])
        close(trace["n"][:, 0], case["cand"])
        close(trace["r"][:, 0], case["r"])
        close(1 - trace["z"][:, 0] if flip else trace["z"][:, 0], case["z"])
        assert far(trace["h"][-1, 0], tensor(cases["gru_torch"]["h"][-1])) > 1e-2


@pytest.mark.parametrize(("kind", "cell_type"), [("lstm", LSTM), ("gru", GRU)])
def test_go03_go06_the_pytorch_side_of_a_conversion(fixtures, kind, cell_type):
    case = fixtures("weight_conversion")[kind]
    trace = unroll(cell_type.from_torch(module(kind.upper(), case["pytorch"], "_l0")), tensor(case["x"])[:, None])
    close(trace["h"][1:, 0], case["expected_h"])
    if kind == "lstm":
        close(trace["c"][-1, 0], case["expected_c_last"])


def test_bi03_bi06_the_forget_bias_is_a_sum(fixtures):
    """BI-03: set in both of torch's vectors, 1 is 2. BI-06: what the direct path keeps, and its half-life."""
    case = fixtures("numerics")["forget_bias"]
    net = torch.nn.LSTM(1, 1, dtype=torch.float64)
    x = torch.zeros(100, 1, 1, dtype=torch.float64)
    one = torch.ones(1, 1, dtype=torch.float64)
    with torch.no_grad():
        for p in net.parameters():
            p.zero_()
        net.bias_ih_l0[1] = net.bias_hh_l0[1] = 1
    assert unroll(LSTM.from_torch(net), x)["f"].unique().tolist() == pytest.approx([case["both_biases_set_to_1"]])
    zero = {name: 0 * value for name, value in LSTM.from_torch(net).parameters().items()}
    for b, f in case["sigmoid"].items():
        trace = unroll(LSTM(**(zero | {"b_f": float(b) * one[0]})), x, (0 * one, one))
        assert trace["f"].unique().tolist() == pytest.approx([f], rel=1e-15)
        # nothing is written, so c is what the forget gates keep
        assert float(trace["c"][10]) == pytest.approx(case["kept_after_10"][b], rel=1e-13)
        assert float(trace["c"][100]) == pytest.approx(case["kept_after_100"][b], rel=1e-12)
        assert math.log(0.5) / math.log(float(trace["f"][0])) == pytest.approx(case["half_life"][b], rel=1e-12)


def test_in01_a_stacked_orthogonal_matrix_is_not_orthogonal_by_gate(fixtures):
    """IN-01: its blocks share the identity; ours have one each."""
    case = fixtures("numerics")["stacked_orthogonal"]
    assert max(case["block_sigma_max"]) < 0.9
    cell = LSTM.init(4, case["shape"][1], recurrent="orthogonal", dtype=torch.float64)
    for k in "ifgo":
        U = cell.parameters()[f"U_{k}"]
        close(U.T @ U, torch.eye(16))


def test_in03_the_mean_forget_gate_at_birth_is_one_half(fixtures):
    """IN-03: 0.5 in expectation, 0.43 for one seed; 100 seeds with the fixture's deviation between them."""
    case = fixtures("numerics")["mean_forget_at_init"]
    means = []
    for seed in range(100):
        cell = LSTM.init(4, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        means.append(float(unroll(cell, noise(9, 1, 4, seed=seed))["f"].mean()))
    assert np.mean(means) == pytest.approx(case["expectation"], abs=5 * case["sd_200_seeds"] / math.sqrt(100))
    # the deviation of a deviation of 100 is 7 %, and sequences differ
    assert np.std(means) == pytest.approx(case["sd_200_seeds"], rel=0.35)


def test_the_default_bound_is_that_of_torch(fixtures):
    case = fixtures("numerics")["torch_default_bound"]
    for H, bound in ((6, case["H6"]), (128, case["H128"])):
        cell = Elman.init(50, H, dtype=torch.float64)
        for name in ("W_x", "W_h"):
            assert 0.9 * bound < float(cell.parameters()[name].abs().max()) <= bound
        # the bias is the sum of torch's two, so it reaches beyond one of them, and not to two
        b = Elman.init(2, H, dtype=torch.float64).b.abs().max()
        assert float(b) < 2 * bound
    assert float(Elman.init(2, 1000, generator=torch.Generator().manual_seed(0)).b.abs().max()) > 1.5 / math.sqrt(1000)


def test_sh05_padding_moves_no_state(fixtures):
    """SH-05: zeros as inputs are not neutral; lengths are."""
    case = fixtures("shapes")["padding_gru"]
    cell = GRU.from_torch(module("GRU", fixtures("cell_traces")["gru_torch"]))
    x = tensor(case["x"]).transpose(0, 1)
    close(unroll(cell, x, lengths=case["lengths"])["h"][-1], case["right_h_n"])
    close(unroll(cell, x)["h"][-1], case["wrong_h_n_through_padding"])


def test_va01_a_projection_is_refused_by_name(fixtures):
    """VA-01: not covered, so never read as something else."""
    case = fixtures("shapes")["proj_lstm"]
    net = torch.nn.LSTM(2, 4, proj_size=2, dtype=torch.float64)
    net.load_state_dict({name: tensor(case[name]) for name in net.state_dict()})
    with pytest.raises(ValueError, match="proj_size is 2: an LSTM with a projection is not covered"):
        LSTM.from_torch(net)


def test_va05_two_traces_are_identical_to_the_bit():
    """VA-05: no dropout anywhere, also from a module that was training with it."""
    net = torch.nn.LSTM(2, 3, num_layers=2, dropout=0.5).train()
    x = noise(6, 2, 2, dtype=torch.float32)
    cell = LSTM.from_torch(net)
    assert torch.equal(unroll(cell, x)["h"], unroll(cell, x)["h"])
    assert torch.equal(step_jacobians(cell, unroll(cell, x)), step_jacobians(cell, unroll(cell, x)))
