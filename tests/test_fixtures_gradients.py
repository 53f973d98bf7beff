"""Faults that people met in tools like this one, and the right values from independent oracles: Jacobians and BPTT.

The letters and number of a case stand in the name or the docstring of its test.
"""

import math

import pytest
import torch

from rnnviz.analysis.jacobians import step_jacobians, transport
from rnnviz.bptt import backward
from rnnviz.cells import GRU, LSTM, Elman
from rnnviz.trace import unroll
from tests.making import close, module, start, tensor

JACOBIANS = {"rnn_tanh": ("RNN", Elman), "gru_torch": ("GRU", GRU), "lstm": ("LSTM", LSTM)}


def jacobians(fixtures, kind):
    cases = fixtures("cell_traces")
    x, h0, c0 = start(cases)
    name, cell_type = JACOBIANS[kind]
    cell = cell_type.from_torch(module(name, cases[kind]))
    trace = unroll(cell, x, (h0, c0) if kind == "lstm" else h0)
    return cell, trace, step_jacobians(cell, trace), fixtures("jacobians")[kind]


def product(J):
    P = torch.eye(J.shape[-1], dtype=J.dtype)
    for step in J:
        P = step @ P
    return P


@pytest.mark.parametrize("kind", JACOBIANS)
def test_ja06_step_jacobians_and_their_products(fixtures, kind):
    """JA-06, JA-10: every step, every norm of a product from the first step on, and the whole product."""
    _, _, J, case = jacobians(fixtures, kind)
    close(J, case["J"], 1e-11)
    close(product(J), case["P_T_0"], 1e-11)
    for t, norm in enumerate(case["norm2"], start=1):
        found = transport(J[:t])
        assert found.log_norm[0] == pytest.approx(math.log(norm), abs=1e-10)
        assert not found.lost.any()


def test_ja03_the_order_of_the_product(fixtures):
    """JA-03, ST-01: later steps on the left; the norms of the reversed order are close, its entries are not."""
    cell, _, J, case = jacobians(fixtures, "rnn_tanh")
    for t, P in enumerate(case["P_t_0"], start=1):
        close(product(J[:t]), P, 1e-11)
    close(product(J).T, case["P_T_0_denominator_layout"], 1e-11)
    close(product(J.flip(0)), case["wrong_reversed_order"], 1e-11)
    assert (product(J.flip(0)) - product(J)).abs().max() > 0.1
    norms = [transport(J[:t]).log_norm[0] / math.log(10) for t in range(1, 6)]
    assert norms == pytest.approx(case["log10_norm2"], abs=1e-11)
    sigma = torch.linalg.svdvals(cell.W_h)[0]
    assert float(sigma) == pytest.approx(case["sigma_max_W"], rel=1e-12)
    # the bound by W alone is above that by the steps' own norms, which is above the truth
    found = transport(J)
    for k in range(5):
        assert found.log_norm[k] <= found.log_bound[k] < math.log(case["bound_sigma_max_pow"][4 - k])


def test_ja01_slopes_stand_on_the_rows(fixtures):
    """JA-01: diag(slope) W; diag(slope) W^T is neither layout."""
    cell, trace, J, case = jacobians(fixtures, "rnn_tanh")
    slopes = 1 / torch.cosh(trace["a"][:, 0]) ** 2
    close(slopes[..., None] * cell.W_h, J)
    close(product(slopes[..., None] * cell.W_h.T), case["wrong_diag_times_WT"], 1e-11)
    assert (product(J) - tensor(case["wrong_diag_times_WT"])).abs().max() > 0.1
    small = fixtures("jacobians")["two_by_two"]
    a = [0.0, math.acosh(1 / math.sqrt(small["slopes"][1]))]
    cell = Elman(W_x=tensor([[1.0], [1.0]]), W_h=tensor(small["W"]), b=tensor(a))
    got = step_jacobians(cell, unroll(cell, torch.zeros(1, 1, 1, dtype=torch.float64)))[0]
    close(got, small["J"])
    close(got.T, small["denominator"])
    assert float(torch.linalg.matrix_norm(got, 2)) == pytest.approx(2.0, rel=1e-14)


def test_ja09_the_carousel_is_not_the_whole_derivative(fixtures):
    """JA-09: within a step dc/dc is diag(f); over two or more c acts through h and the gates as well."""
    _, trace, J, case = jacobians(fixtures, "lstm")
    f = trace["f"][:, 0]
    close(f.prod(0), case["direct_cell_path_prod_f"], 1e-11)
    close(product(J)[3:, 3:], case["total_dcT_dc0"], 1e-11)
    assert torch.equal(J[0, 3:, 3:], torch.diag(f[0]))
    close(J[0, 3:, 3:], case["step1_dc1_dc0_total"], 1e-11)
    close(product(J[:2])[3:, 3:], case["two_step_dc2_dc0_total"], 1e-11)
    close(torch.diag(f[:2].prod(0)), case["two_step_direct"], 1e-11)


def test_st03_a_spectral_radius_of_three_vanishes_by_saturation(fixtures):
    """ST-03, NU-03: with 1 - h**2 for the slope the later factors would be 0."""
    case = fixtures("stability")["vanish_with_rho_three"]
    W = tensor(case["W_hh"])
    cell = Elman(W_x=torch.eye(2, dtype=torch.float64), W_h=W, b=torch.zeros(2, dtype=torch.float64))
    J = step_jacobians(cell, unroll(cell, torch.full((case["T"], 1, 2), 2.0, dtype=torch.float64)))
    for t, norm in zip(case["norm_P_at"], case["norm_P"], strict=True):
        assert math.exp(transport(J[:t]).log_norm[0]) == pytest.approx(norm, rel=1e-10)


def test_st06_how_long_a_factor_is_heard(fixtures):
    """ST-06: 0.99 a step is not gone after a few dozen."""
    case = fixtures("stability")["slow_decay"]
    for sigma, left, half in zip(case["sigma"], case["pow_100"], case["half_life"], strict=True):
        found = transport(torch.full((100, 1, 1), sigma, dtype=torch.float64))
        assert math.exp(found.log_norm[0]) == pytest.approx(left, rel=1e-12)
        assert math.log(0.5) / found.lyapunov[0] == pytest.approx(half, rel=1e-12)


# ---------------------------------------------------------------- the gradient


def bptt(fixtures):
    """The fixture's network, its trace, and the direct part of dL/dh."""
    case = fixtures("bptt")
    cell = Elman(W_x=tensor(case["W"]), W_h=tensor(case["U"]), b=tensor(case["b"]))
    trace = unroll(cell, tensor(case["x"])[:, None], tensor([case["h0"]]))
    errors = trace["h"][1:] @ tensor(case["V"]).T + tensor(case["c"]) - tensor(case["y"])[:, None]
    return case, cell, trace, errors


def test_bp06_the_gradient_of_a_loss_and_its_shares_by_step(fixtures):
    """BP-06: step k adds outer(pre_k, h_{k-1}) with the whole dL/dh_k; the shares sum to the gradient."""
    case, cell, trace, errors = bptt(fixtures)
    close(0.5 * errors.square().sum((1, 2)), case["loss_t"])
    assert float(0.5 * errors.square().sum()) == pytest.approx(case["loss"], rel=1e-13)
    found = backward(cell, trace, errors @ tensor(case["V"]))
    for name, key in (("W_x", "dW"), ("W_h", "dU"), ("b", "db")):
        close(found.grads[name], case[key], 1e-11)
    close(found.delta[1:, 0], case["dL_dh_total"], 1e-11)
    close(found.delta[0, 0], case["dh0"], 1e-11)
    shares = found.pre["a"][:, 0, :, None] * trace["h"][:-1, 0, None, :]
    close(shares, case["dU_contribution_of_step_k"], 1e-11)
    close(shares.sum(0), case["dU"], 1e-11)
    close((errors[:, 0, :, None] * trace["h"][1:, 0, None, :]).sum(0), case["dV"], 1e-11)
    close(errors.sum((0, 1)), case["dc"], 1e-11)


def test_bp05_what_chunked_truncation_leaves(fixtures):
    """BP-05, BP-02: chunks of k reach back 1 to k steps; the error need not fall with k."""
    case, cell, trace, errors = bptt(fixtures)
    g = errors @ tensor(case["V"])
    full = tensor(case["dU"])
    for k, cut in case["truncated"].items():
        dU = backward(cell, trace, g, chunk=int(k)).grads["W_h"]
        close(dU, cut["chunk_dU"], 1e-11)
        assert float((dU - full).norm() / full.norm()) == pytest.approx(cut["chunk_rel_err"], abs=1e-11)
        cosine = float((dU * full).sum() / dU.norm() / full.norm())
        assert cosine == pytest.approx(cut["chunk_cos"], abs=1e-11)


def test_bp05_the_mean_depth_of_a_chunk(fixtures):
    """BP-05: 20 means 1 to 20 steps back, 10.5 on average; a window reaches back 20 from every step."""
    one = torch.ones(1, 1, dtype=torch.float64)
    cell = Elman(W_x=one, W_h=one, b=0 * one[0], activation="linear")
    for k, depth in fixtures("bptt")["mean_depth_of_disjoint_chunks"].items():
        time = 4 * int(k)
        trace = unroll(cell, torch.zeros(time, 1, 1, dtype=torch.float64))
        g = torch.ones(time, 1, 1, dtype=torch.float64)
        heard = backward(cell, trace, g, chunk=int(k)).inputs.flatten()  # by how many losses each step is heard
        assert float(heard.mean()) == depth["mean"]
        assert (float(heard.min()), float(heard.max())) == (depth["min"], depth["max"])
        windowed = backward(cell, trace, g, window=int(k)).inputs.flatten()
        assert (windowed[: time - int(k) + 1] == int(k)).all()


def test_bp01_a_derivative_is_not_polluted_by_the_last_call(fixtures):
    case = fixtures("bptt")["scalar_linear"]
    one = torch.ones(1, 1, dtype=torch.float64)
    cell = Elman(W_x=0 * one, W_h=case["w"] * one, b=0 * one[0], activation="linear")
    trace = unroll(cell, torch.zeros(3, 1, 1, dtype=torch.float64), case["x0"] * one)
    close(trace["h"][1:].flatten(), case["x"])
    got = []
    for t in range(3):
        g = torch.zeros(3, 1, 1, dtype=torch.float64)
        g[t] = 1
        got.append(float(backward(cell, trace, g).grads["W_h"]))
    close(got, case["dx_t_dw"])
    assert got[2] != pytest.approx(case["reported_wrong_third"])


def test_bp10_a_loss_on_the_last_step_alone(fixtures):
    """BP-10: zeros elsewhere; then dL/dh_t is the transposed product times the direct part at T."""
    case, cell, trace, errors = bptt(fixtures)
    g = errors @ tensor(case["V"])
    g[:-1] = 0
    found, J = backward(cell, trace, g), step_jacobians(cell, trace)
    assert torch.equal(found.delta[6], g[-1])
    for t in range(6):
        close(found.delta[t, 0], product(J[t:]).T @ g[-1, 0])
    # ... and the terms of the loss add up to the whole
    whole = backward(cell, trace, errors @ tensor(case["V"])).delta
    terms = [errors @ tensor(case["V"]) * (torch.arange(6) == t).double()[:, None, None] for t in range(6)]
    close(sum(backward(cell, trace, term).delta for term in terms), whole)
