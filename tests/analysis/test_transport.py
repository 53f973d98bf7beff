"""transport(): against products, matrix powers and known spectra, far outside the range of floats."""

import math
import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnviz.analysis.jacobians import product_norms, step_jacobians, transport
from rnnviz.cells import Elman
from rnnviz.trace import unroll
from tests.making import KINDS, make, noise

LN10 = math.log(10)


def tensor(*matrices):
    return torch.tensor(matrices, dtype=torch.float64)


def powers(matrix, steps):
    return transport(tensor(matrix).expand(steps, -1, -1))


def orthogonal(n, seed=0):
    return torch.linalg.qr(noise(n, n, seed=seed))[0]


@settings(max_examples=40)
@given(time=st.integers(1, 8), n=st.integers(1, 5), seed=st.integers(0, 2**31))
def test_norms_are_those_of_the_products(time, n, seed):
    """Norms to rounding; the bound is a sum and never below; the exponents sum to ln|det| / T."""
    J = noise(time, n, n, seed=seed)
    found = transport(J)
    product, factors = torch.eye(n, dtype=torch.float64), 0.0
    assert found.log_norm.shape == found.log_bound.shape == found.lost.shape == (time + 1,)
    assert (found.log_norm[time], found.log_bound[time]) == (0, 0)
    for k in range(time - 1, -1, -1):
        product = product @ J[k]
        factors += math.log(np.linalg.svd(J[k].numpy(), compute_uv=False)[0])
        assert found.log_norm[k] == pytest.approx(
            math.log(np.linalg.svd(product.numpy(), compute_uv=False)[0]), abs=1e-12
        )
        assert found.log_bound[k] == pytest.approx(factors, abs=1e-12)
    assert (found.log_norm <= found.log_bound).all()
    assert found.lyapunov.shape == (n,)
    assert (np.diff(found.lyapunov) <= 0).all()
    determinants = np.linalg.slogdet(J.numpy())[1]
    assert found.lyapunov.sum() == pytest.approx(determinants.mean(), abs=1e-9)
    assert not found.lost.any()


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_cell_it_is_the_derivative_of_the_last_state_by_every_other(kind):
    """JA-03: later steps stand on the left; autograd through the whole map."""
    ours, _ = make(kind, seed=4)
    trace = unroll(ours, noise(6, 1, 2, seed=2))
    found = transport(step_jacobians(ours, trace))
    n = 6 if kind == "lstm" else 3
    for k in range(6):

        def rest(s, k=k):
            s = s.chunk(2) if kind == "lstm" else s
            for x in trace.inputs[k:, 0]:
                s = ours.step(x, s)
            return torch.cat(s) if kind == "lstm" else s

        s = torch.cat([trace[name][k, 0] for name in ours.state_names])
        P = torch.autograd.functional.jacobian(rest, s)
        assert P.shape == (n, n)
        assert found.log_norm[k] == pytest.approx(math.log(np.linalg.svd(P.numpy(), compute_uv=False)[0]), abs=1e-11)


def test_a_linear_cell_is_a_matrix_power():
    ours, _ = make("linear", hidden=4, seed=1)
    found = transport(step_jacobians(ours, unroll(ours, noise(30, 1, 2))))
    for lag in range(1, 31):
        power = np.linalg.matrix_power(ours.W_h.numpy(), lag)
        assert found.log_norm[30 - lag] == pytest.approx(math.log(np.linalg.norm(power, 2)), abs=1e-11)


@pytest.mark.parametrize("gain", [0.9, 1.0, 1.1])
def test_a_linear_orthogonal_cell_has_exactly_its_factor_a_step(gain):
    generator = torch.Generator().manual_seed(0)
    cell = Elman.init(
        4, 64, activation="linear", recurrent="orthogonal", gain=gain, generator=generator, dtype=torch.float64
    )
    found = transport(step_jacobians(cell, unroll(cell, noise(100, 1, 4))))
    expected = math.log(gain) * np.arange(100, -1, -1)
    np.testing.assert_allclose(found.log_norm, expected, rtol=0, atol=1e-11)  # 100 roundings of 64 terms
    np.testing.assert_allclose(found.log_bound, expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.lyapunov, math.log(gain), rtol=0, atol=1e-12)


@pytest.mark.parametrize("decades", [-0.4, 0.4])
def test_ten_thousand_steps_reach_1e4000_either_way(decades):
    found = transport((10**decades * orthogonal(2)).expand(10_000, 2, 2))
    expected = decades * LN10 * np.arange(10_000, -1, -1)
    assert found.log_norm[0] / LN10 == pytest.approx(4000 * np.sign(decades), rel=1e-11)
    np.testing.assert_allclose(found.log_norm, expected, rtol=1e-11)
    np.testing.assert_allclose(found.log_bound, expected, rtol=1e-11)
    np.testing.assert_allclose(found.lyapunov, decades * LN10, rtol=1e-11)
    assert not found.lost.any()


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e200, 1.7e308])
def test_steps_at_the_ends_of_the_range(size):
    """Every matrix is full of one number: the norm of a product of T is (n size)**T / n * n."""
    found = transport(torch.full((3, 2, 2), size, dtype=torch.float64))
    expected = (math.log(2) + math.log(size)) * np.arange(3, -1, -1)
    np.testing.assert_allclose(found.log_norm, expected, rtol=1e-13)
    np.testing.assert_allclose(found.log_bound, expected, rtol=1e-13)


ZEROS = {
    "nilpotent by its structure": [[0.0, 1.0], [0.0, 0.0]],
    "nilpotent by cancelling": [[1.0, -1.0], [1.0, -1.0]],
}


@pytest.mark.parametrize("matrix", ZEROS.values(), ids=ZEROS)
def test_an_exact_zero_is_minus_infinity_and_not_lost(matrix):
    found = powers(matrix, 4)
    assert found.log_norm.tolist()[:3] == [-math.inf] * 3
    assert found.log_norm[3] == pytest.approx(math.log(np.linalg.norm(matrix, 2)), abs=1e-14)
    assert not found.lost.any()
    assert np.isfinite(found.log_bound).all()
    assert found.lyapunov[-1] < -30  # QR leaves a zero, or the rounding of one: that is the library's


def test_a_dead_step_is_zero_from_there_back():
    J = noise(5, 3, 3)
    J[2] = 0
    found = transport(J)
    assert np.isfinite(found.log_norm[3:]).all()
    assert (found.log_norm[:3] == -math.inf).all()
    assert (found.log_bound[:3] == -math.inf).all()
    assert (found.lyapunov == -math.inf).all()
    assert not found.lost.any()


WIDE = [[1.0, 0.0], [0.0, 1e-200]]
SECOND = [[0.0, 0.0], [0.0, 1.0]]  # lets the second direction through alone


def test_what_falls_out_of_the_range_of_its_product_is_flagged_and_not_called_zero():
    """After two wide steps the second direction is 10**-400 of the first: it is gone, and says so."""
    found = transport(tensor(WIDE, WIDE, WIDE))
    assert found.log_norm.tolist() == [0.0] * 4
    assert found.lost.tolist() == [True, True, False, False]
    # ... and where only that direction is left in the end, its size is not known
    found = transport(tensor(SECOND, WIDE, WIDE))
    assert np.isnan(found.log_norm[0])
    assert found.lost.tolist() == [True, True, False, False]
    assert found.reach == 3
    # ... but never lost where it is the largest of its product
    found = transport(tensor(WIDE, WIDE, SECOND))
    np.testing.assert_allclose(found.log_norm, -LN10 * np.array([400, 200, 0, 0]), atol=1e-11)
    assert not found.lost.any()


def test_one_step_that_spans_more_than_the_range_is_flagged():
    found = transport(tensor([[1e200, 0.0], [0.0, 1e-200]]))
    assert found.log_norm[0] == pytest.approx(200 * LN10, abs=1e-11)
    assert found.lost.tolist() == [True, False]


def test_twenty_steps_of_two_speeds_have_both_exponents():
    """QR carries both, where the product has long lost the second."""
    found = powers([[1.0, 0.0], [0.0, 1e-40]], 20)
    assert found.lyapunov == pytest.approx([0.0, -40 * LN10], rel=1e-12)
    assert found.lost[0]


def test_non_normal_growth_against_the_closed_form(fixtures):
    """ST-01: rho = 0.9, and the norm grows to 19.4 before it decays; [[a, b], [0, a]]**T is known."""
    case = fixtures("stability")["transient_growth"]
    found = powers(case["W"], 200)
    by_lag = found.log_norm[::-1]
    for lag, norm in zip(case["norm_at"], case["norm"], strict=True):
        assert math.exp(by_lag[lag]) == pytest.approx(norm, rel=1e-11)
    assert int(np.argmax(by_lag)) == case["peak"]
    assert found.log_bound[::-1][1] == pytest.approx(math.log(case["sigma_max"]), abs=1e-14)
    assert (found.log_norm <= found.log_bound).all()
    # ln R_ii of T steps: the exponents close in on ln 0.9 as ln(T) / T
    np.testing.assert_allclose(found.lyapunov, math.log(0.9), atol=0.05)


def test_exponents_of_triangular_products_are_their_diagonals():
    """Upper triangular steps keep Q = I: the exponents are the means of ln |diagonal|, exactly."""
    J = noise(50, 3, 3).triu()
    found = transport(J)
    expected = np.sort(J.diagonal(dim1=1, dim2=2).abs().log().mean(0).numpy())[::-1]
    np.testing.assert_allclose(found.lyapunov, expected, rtol=1e-12)


def test_exponents_of_the_henon_map():
    """a = 1.4, b = 0.3: 0.4192 and, since |det J| = 0.3 at every step, ln 0.3 minus it (Sprott 2003)."""
    x, y, J = 0.1, 0.1, []
    for _ in range(3_000):
        J.append([[-2.8 * x, 1.0], [0.3, 0.0]])
        x, y = 1 - 1.4 * x * x + y, 0.3 * x
    found = transport(tensor(*J))
    assert found.lyapunov.sum() == pytest.approx(math.log(0.3), abs=1e-10)
    assert found.lyapunov[0] == pytest.approx(0.4192, abs=0.02)  # finite time: about 1/√T


@settings(max_examples=20)
@given(seed=st.integers(0, 2**31), scale=st.floats(0.1, 10))
def test_a_factor_and_a_turn_come_out_as_they_went_in(seed, scale):
    J, Q = noise(6, 3, 3, seed=seed), orthogonal(3, seed + 1)
    found, scaled, turned = transport(J), transport(scale * J), transport(Q @ J @ Q.T)
    lags = np.arange(6, -1, -1)
    np.testing.assert_allclose(scaled.log_norm, found.log_norm + lags * math.log(scale), atol=1e-11)
    np.testing.assert_allclose(scaled.lyapunov, found.lyapunov + math.log(scale), atol=1e-9)
    np.testing.assert_allclose(turned.log_norm, found.log_norm, atol=1e-11)
    np.testing.assert_allclose(turned.log_bound, found.log_bound, atol=1e-11)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_results_are_numpy_in_double(dtype):
    found = transport(torch.full((1, 1, 1), 0.5, dtype=dtype))
    for value in (found.log_norm, found.log_bound, found.lyapunov):
        assert type(value) is np.ndarray
        assert value.dtype == np.float64
    assert found.lost.dtype == bool
    assert found.log_norm == pytest.approx([-math.log(2), 0], abs=1e-15)


NAN, INF = torch.ones(3, 2, 2), torch.ones(3, 2, 2)
NAN[1, 0, 1], INF[2, 1, 1] = math.nan, math.inf


@pytest.mark.parametrize(
    ("jacobians", "sentence"),
    [
        (None, "jacobians is a NoneType: it takes a tensor [time, state, state] with at least one step"),
        (np.ones((1, 2, 2)), "jacobians is a ndarray: it takes a tensor"),
        (torch.ones(2, 2), "jacobians has shape (2, 2): it takes a tensor [time, state, state]"),
        (torch.ones(1, 2, 3), "jacobians has shape (1, 2, 3): it takes a tensor [time, state, state]"),
        (
            torch.ones(0, 2, 2),
            "jacobians has shape (0, 2, 2): it takes a tensor [time, state, state] with at least one",
        ),
        (torch.ones(1, 0, 0), "jacobians has shape (1, 0, 0): it takes"),
        (NAN, "jacobians is not finite at step 2: there is no product to take"),
        (INF, "jacobians is not finite at step 3: there is no product to take"),
        (
            torch.ones(1, 2, 2) + 1j,
            "jacobians is torch.complex64: it takes a tensor [time, state, state] with at least",
        ),
        (torch.ones(1, 2, 2).long(), "jacobians is torch.int64: it takes a tensor"),
    ],
    ids=[str(n) for n in range(10)],
)
def test_what_does_not_fit_is_refused_in_words(jacobians, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        transport(jacobians)


def test_entries_without_all_their_digits_count_as_lost():
    steps = tensor([[0, 0], [0, 1]], [[1, 0], [0, 1.1e-161]], [[1, 0], [0, 1e-162]])
    assert transport(steps).lost[0]


def test_the_norms_alone_are_those_of_the_whole():
    J = noise(7, 3, 3, seed=2)
    J[2] = 0
    whole, (log_norm, lost) = transport(J), product_norms(J)
    assert log_norm.tolist() == whole.log_norm.tolist()
    assert lost.tolist() == whole.lost.tolist()
