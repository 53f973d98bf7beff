"""clip() three ways: every row of the fixture, what is not finite, what is far out of the middle of the range."""

import math
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnviz.clipping import clip
from tests.making import noise

MODES = ["global", "each", "value"]


def doubles(*values):
    return torch.tensor(values, dtype=torch.float64)


def norm(grads):
    return math.sqrt(sum(float(g.double().square().sum()) for g in grads.values()))


def angle(grads, others):
    dot = sum(float((g * others[name]).sum()) for name, g in grads.items())
    return math.degrees(math.acos(min(1.0, dot / norm(grads) / norm(others))))


def test_global_and_each(fixtures):
    """CL-02, CL-04: one norm keeps the direction, a norm for each parameter turns it; the norm is that before."""
    case = fixtures("clipping")["two_params"]
    grads = {name: doubles(*case[name]) for name in "AB"}
    for mode, rule, after, turned in (
        ("global", "global_rule", "global_rule_after_norm", "global_angle_deg"),
        ("each", "per_parameter_rule", "per_parameter_after_global_norm", "per_parameter_angle_deg"),
    ):
        clipped, before = clip(grads, case["tau"], mode)
        assert before == case["global_norm"]
        assert [g.tolist() for g in clipped.values()] == case[rule]
        assert norm(clipped) == pytest.approx(case[after], rel=1e-14)
        assert angle(grads, clipped) == pytest.approx(case[turned], abs=1e-5)  # acos near 1 halves the digits
    # torch adds 1e-6 to the norm
    torchs, rows = case["torch_clip_grad_norm"]
    assert torchs == case["global_norm"]
    assert rows[0] == pytest.approx(case["global_rule"][0], rel=2e-7)
    assert rows[0] != case["global_rule"][0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_row_of_the_table(fixtures, dtype):
    """CL-01, CL-04, CL-07: torch's row, but for its 1e-6, and refused where torch goes on with NaN."""
    for row in fixtures("clipping")["table"]:
        grad = torch.tensor([float(value) for value in row["grad"]], dtype=dtype)
        copy = grad.clone()
        if row["name"].startswith("has_"):
            with pytest.raises(FloatingPointError, match="the gradient of W is not finite: nothing was clipped"):
                clip({"W": grad}, row["max_norm"])
            assert torch.equal(grad.nan_to_num(7.0), copy.nan_to_num(7.0))
            continue
        clipped, before = clip({"W": grad}, row["max_norm"])
        assert before == pytest.approx(row["torch_total_norm"], rel=1e-6 if dtype == torch.float32 else 1e-14)
        assert clipped["W"].dtype == dtype
        assert clipped["W"].tolist() == pytest.approx(row["torch_clipped"], rel=2e-6, abs=0)
        if row["name"] in ("zero", "below"):
            assert clipped["W"] is grad
    assert {row["name"] for row in fixtures("clipping")["table"]} >= {
        "zero",
        "below",
        "exactly_tau",
        "above",
        "has_inf",
    }


@pytest.mark.parametrize("mode", MODES)
def test_at_the_threshold_nothing_moves(mode):
    grads = {"A": doubles(0.6, 0.0), "B": doubles(0.0, 0.8)}
    clipped, before = clip(grads, 1.0, mode)
    assert before == 1.0
    assert all(clipped[name] is g for name, g in grads.items())


def test_value_clips_every_entry_by_itself_and_reports_the_global_norm():
    grads = {"A": doubles(3.0, -4.0), "B": doubles(0.0, 12.0), "C": doubles(0.5, -0.5)}
    clipped, before = clip(grads, 3.5, "value")
    assert {name: g.tolist() for name, g in clipped.items()} == {"A": [3.0, -3.5], "B": [0.0, 3.5], "C": [0.5, -0.5]}
    assert before == pytest.approx(math.sqrt(169.5), rel=1e-15)
    assert clipped["C"] is grads["C"]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("mode", MODES)
def test_what_is_not_finite_names_its_parameter_and_changes_nothing(bad, mode):
    """CL-01."""
    grads = {"W_h": doubles(3.0, 4.0), "b": doubles(1.0, bad)}
    with pytest.raises(FloatingPointError, match="the gradient of b is not finite"):
        clip(grads, 1.0, mode)
    assert grads["W_h"].tolist() == [3.0, 4.0]


@pytest.mark.parametrize(
    ("size", "dtype"), [(1e308, torch.float64), (1e-300, torch.float64), (1e38, torch.float32), (1e-40, torch.float32)]
)
def test_finite_gradients_have_a_finite_norm(size, dtype):
    grads = {"A": torch.tensor([size, -size], dtype=dtype), "B": torch.zeros(3, dtype=dtype)}
    exact = float(grads["A"][0]) * math.sqrt(2)
    clipped, before = clip(grads, exact / 4)
    assert before == pytest.approx(exact, rel=1e-14)
    tolerance = 1e-14 if dtype == torch.float64 else 2e-5  # 1e-40 has five digits in float32
    assert clipped["A"].double().tolist() == pytest.approx(
        [float(grads["A"][0]) / 4, -float(grads["A"][0]) / 4], rel=tolerance
    )


@settings(max_examples=50)
@given(seed=st.integers(0, 2**31), threshold=st.floats(1e-3, 1e3), mode=st.sampled_from(MODES))
def test_what_comes_out_is_within_the_threshold_and_points_the_same_way(seed, threshold, mode):
    grads = {"A": noise(2, 3, seed=seed), "B": 10 * noise(4, seed=seed + 1), "empty": noise(0)}
    copies = {name: g.clone() for name, g in grads.items()}
    clipped, before = clip(grads, threshold, mode)
    assert before == pytest.approx(norm(copies), rel=1e-14)
    slack = threshold * (1 + 1e-14)  # the rounding of one product
    if mode == "global":
        assert norm(clipped) == pytest.approx(min(before, threshold), rel=1e-14)
        assert angle(grads, clipped) < 1e-5
    elif mode == "each":
        assert all(norm({name: g}) <= slack for name, g in clipped.items())
    else:
        assert all(float(g.abs().max()) <= threshold for g in clipped.values() if g.numel())
    assert list(clipped) == list(grads)
    for name, g in grads.items():
        assert torch.equal(g, copies[name])
        assert (clipped[name] * g >= 0).all()
        if before <= threshold:
            assert clipped[name] is g


def test_no_gradients_have_norm_0():
    assert clip({}, 1.0) == ({}, 0.0)


def test_graphs_and_flags_are_left_alone():
    g = doubles(3.0, 4.0).requires_grad_()
    clipped, before = clip({"W": g}, 1.0)
    assert before == 5.0
    assert g.requires_grad
    assert g.grad is None
    assert clipped["W"].tolist() == pytest.approx([0.6, 0.8], rel=1e-15)


def test_one_bias_moves_once(fixtures):
    """BI-01: with two biases plain SGD moves their sum twice; a cell has one, and torch's second stays out of it."""
    case = fixtures("clipping")["two_biases_sgd"]
    b_ih, b_hh = (torch.zeros(1, requires_grad=True) for _ in range(2))
    ((b_ih + b_hh) * case["dL_db"]).sum().backward()
    one, _ = clip({"b": b_ih.grad}, 100.0)
    _, two = clip({"b_ih": b_ih.grad, "b_hh": b_hh.grad}, 100.0)
    assert -case["lr"] * float(one["b"]) == pytest.approx(case["change_of_sum_with_one_bias"])
    assert -case["lr"] * float(b_ih.grad + b_hh.grad) == pytest.approx(case["change_of_sum_with_two_biases"])
    assert two == pytest.approx(math.sqrt(2) * case["dL_db"])


WRONG = [
    ({"threshold": 0}, "threshold is 0: it takes a finite number above 0"),
    ({"threshold": -1.0}, "threshold is -1.0: it takes a finite number above 0"),
    ({"threshold": math.nan}, "threshold is nan: it takes a finite number above 0"),
    ({"threshold": math.inf}, "threshold is inf: it takes a finite number above 0"),
    ({"threshold": None}, "threshold is None: it takes a finite number above 0"),
    ({"mode": "norm"}, "mode is 'norm': it takes one of 'global', 'each', 'value'"),
    ({"grads": [doubles(1.0)]}, "grads is a list: it takes a dict of named tensors"),
    (
        {"grads": {"W": torch.tensor([3, 4])}},
        "grads['W'] is torch.int64: it takes dense tensors of real floating numbers",
    ),
    (
        {"grads": {"W": 1j * doubles(3.0)}},
        "grads['W'] is torch.complex128: it takes dense tensors of real floating numbers",
    ),
    ({"grads": {"W": [1.0]}}, "grads is a dict: it takes a dict of named tensors"),
]


@pytest.mark.parametrize(("change", "sentence"), WRONG, ids=lambda value: str(value)[:40])
def test_what_does_not_fit_is_refused_in_words(change, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        clip(**({"grads": {"W": doubles(3.0, 4.0)}, "threshold": 1.0} | change))


def test_a_threshold_far_below_the_gradient_is_met():
    clipped, before = clip({"w": doubles(1e150)}, 1e-200)
    assert clipped["w"].tolist() == [pytest.approx(1e-200)]
    assert before == pytest.approx(1e150)
