"""all_pairs(): against products, random directions, and numbers far outside the range of floats."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnviz.analysis.jacobians import all_pairs, step_jacobians, transport
from rnnviz.trace import unroll
from tests.making import KINDS, make, noise

LN10 = math.log(10)


@settings(max_examples=30)
@given(time=st.integers(1, 7), n=st.integers(1, 5), seed=st.integers(0, 2**31))
def test_every_pair_is_the_norm_of_its_product(time, n, seed):
    J = noise(time, n, n, seed=seed)
    gain = all_pairs(J).log_gain
    assert gain.shape == (time + 1, time + 1)
    assert np.isnan(gain[np.triu_indices(time + 1, 1)]).all()
    assert (np.diag(gain) == 0).all()
    for k in range(time):
        product = torch.eye(n, dtype=torch.float64)
        for t in range(k + 1, time + 1):
            product = J[t - 1] @ product
            assert gain[t, k] == pytest.approx(math.log(float(product.norm()) / math.sqrt(n)), abs=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_a_mean_over_directions_and_below_the_norm(kind):
    cell, _ = make(kind, hidden=8, seed=1)
    J = step_jacobians(cell, unroll(cell, noise(12, 1, 2)))
    gain, norm = all_pairs(J).log_gain, transport(J).log_norm
    assert (gain[-1] <= norm + 1e-12).all()
    v = noise(J.shape[1], 20000, seed=3)
    v /= v.norm(dim=0)
    seen = float((torch.linalg.multi_dot([*J.flip(0), v]).square().sum(0).mean()).sqrt())
    # the mean square of 20,000 draws: at worst (one direction alone is heard) 1 % off, six standard errors are 6 %
    assert math.exp(gain[-1, 0]) == pytest.approx(seen, rel=0.06)


def test_norms_of_many_decades_are_right():
    for factor in (1e-40, 1e40):
        gain = all_pairs(factor * torch.eye(3, dtype=torch.float64).expand(50, -1, -1)).log_gain
        steps = np.arange(51)[:, None] - np.arange(51)
        lower = steps >= 0
        assert gain[lower] == pytest.approx((steps * math.log(factor))[lower], abs=1e-9)


def test_an_exact_zero_is_told_from_what_is_lost():
    nilpotent = torch.tensor([[0.0, 1.0], [0.0, 0.0]]).double()
    gain = all_pairs(nilpotent.expand(3, -1, -1)).log_gain
    assert gain[1, 0] == pytest.approx(-math.log(2) / 2)
    assert np.isneginf([gain[2, 0], gain[3, 0], gain[3, 1]]).all()
    # 10^-400 of what the first steps leave is all that the last one reads; formed from that end it is there
    small, pick = (torch.diag(torch.tensor(d, dtype=torch.float64)) for d in ([1.0, 1e-200], [0.0, 1.0]))
    gain = all_pairs(torch.stack((small, small, pick, small))).log_gain
    for t, k, exponent in ((3, 0, -400), (3, 1, -200), (4, 0, -600)):
        assert gain[t, k] == pytest.approx(exponent * LN10 - math.log(2) / 2)
    # from both ends it falls out of the range: not known, and not called zero
    gain = all_pairs(torch.stack((small, small, pick, small, small))).log_gain
    assert math.isnan(gain[5, 0])


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"jacobians has shape \(3, 2\): it takes a tensor \[time, state, state\]"):
        all_pairs(torch.zeros(3, 2))
    with pytest.raises(ValueError, match="has 2001 steps: the map of all pairs takes at most 2000"):
        all_pairs(torch.zeros(2001, 1, 1))
    with pytest.raises(ValueError, match="not finite at step 2"):
        all_pairs(torch.tensor([[[1.0]], [[math.inf]]]))
