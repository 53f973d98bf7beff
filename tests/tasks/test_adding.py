"""The adding problem: its form exactly, its statistics within computed errors, its baseline."""

import math

import pytest
import torch

from rnnviz.tasks.adding import BASELINE_MSE, HALF_MSE, memory_floor, sample


def stream(seed=0):
    return torch.Generator().manual_seed(seed)


def marks(inputs):
    """The steps of the first and of the second mark, counted from 0."""
    steps = inputs[..., 1].T.nonzero()[:, 1].reshape(-1, 2)
    return steps[:, 0], steps[:, 1]


@pytest.mark.parametrize("length", [2, 3, 7, 50, 101])
def test_one_mark_in_each_half_and_the_target_is_their_sum(length):
    """AD-04, AD-05: ones at two steps, zeros elsewhere; the first half is length // 2 steps."""
    inputs, targets = sample(length, 10_000, stream(), dtype=torch.float64)
    assert inputs.shape == (length, 10_000, 2)
    assert targets.shape == (10_000,)
    values, mask = inputs.unbind(-1)
    assert set(mask.unique().tolist()) <= {0.0, 1.0}
    half = length // 2
    assert (mask[:half].sum(0) == 1).all()
    assert (mask[half:].sum(0) == 1).all()
    assert torch.equal(targets, (values * mask).sum(0))
    assert float(values.min()) >= 0
    assert float(values.max()) < 1
    first, second = marks(inputs)
    assert set(first.tolist()) == set(range(half))  # 10 000 draws miss one of at most 51 places with P < 1e-80
    assert set(second.tolist()) == set(range(half, length))


def test_the_baseline_is_the_variance_of_the_sum(fixtures):
    """AD-01: 1/6, and half of it with one number known."""
    ours, _, one_known, _ = fixtures("adding_problem")["variants"]
    assert BASELINE_MSE == ours["baseline_mse"] == 1 / 6
    assert HALF_MSE == one_known["baseline_mse"] == 1 / 12


def test_answering_1_scores_the_baseline(fixtures):
    """AD-01: within five standard errors, the deviation of one squared error being 0.1972; 0.1767 is far out."""
    finite = fixtures("adding_problem")["finite_sample"]
    # Var((s-1)²) = E(s-1)⁴ - 1/36 = 1/15 - 1/36 for the triangular s
    assert finite["single_squared_error_sd"] == pytest.approx(math.sqrt(1 / 15 - 1 / 36), rel=1e-14)
    n = 100_000
    _, targets = sample(50, n, stream(), dtype=torch.float64)
    se = finite["single_squared_error_sd"] / math.sqrt(n)
    assert abs(float((targets - 1).square().mean()) - BASELINE_MSE) < 5 * se < 0.1767 - BASELINE_MSE
    assert abs(float(targets.mean()) - 1) < 5 * math.sqrt(BASELINE_MSE / n)


def test_values_are_uniform_and_independent():
    n = 20_000
    inputs, _ = sample(10, n, stream(1), dtype=torch.float64)
    values = inputs[..., 0]
    assert abs(float(values.mean()) - 0.5) < 5 * math.sqrt(1 / 12 / values.numel())
    assert abs(float(values.var()) - 1 / 12) < 5 * math.sqrt((1 / 80 - 1 / 144) / values.numel())
    z = (values - 0.5) * math.sqrt(12)
    products = z @ z.T / n - torch.eye(10, dtype=torch.float64)
    off = products[~torch.eye(10, dtype=torch.bool)]
    assert float(off.abs().max()) < 5 / math.sqrt(n)


def test_where_the_marks_stand_at_100_steps(fixtures):
    """AD-08: gaps 1 to 99, mean 50; from the first mark to the end 50 to 99 steps. Within 4 standard errors."""
    case = fixtures("adding_problem")["gaps_T100_halves"]
    n = 100_000
    first, second = (steps.double() for steps in marks(sample(100, n, stream(2))[0]))
    gap, left = second - first, 99 - first
    assert (float(left.min()), float(left.max())) == (case["first_marker_to_end_min"], case["first_marker_to_end_max"])
    assert float(gap.min()) == case["min_gap_between_markers"]  # P(never 1) = (1 - 1/2500)**100 000 = 4e-18
    assert float(gap.max()) == case["max_gap_between_markers"]
    variance = (50**2 - 1) / 12  # of one mark, uniform on 50 places
    assert abs(float(gap.mean()) - case["mean_gap"]) < 4 * math.sqrt(2 * variance / n)
    assert abs(float(((first - 24.5) * (second - 74.5)).mean())) < 4 * variance / math.sqrt(n)
    # χ² with 49 degrees of freedom: mean 49, deviation √98
    for steps, start in ((first, 0), (second, 50)):
        counts = torch.bincount(steps.long() - start, minlength=50).double()
        assert float(((counts - n / 50) ** 2 / (n / 50)).sum()) < 49 + 5 * math.sqrt(98)


def test_the_generator_alone_decides():
    torch.manual_seed(0)
    before = torch.get_rng_state()
    one, two = sample(20, 3, stream(5)), sample(20, 3, stream(5))
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))
    assert torch.equal(torch.get_rng_state(), before)
    generator = stream(5)
    assert torch.equal(sample(20, 3, generator)[0], one[0])
    assert not torch.equal(sample(20, 3, generator)[0], one[0])
    assert not torch.equal(sample(20, 3, stream(6))[0], one[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_dtype_is_kept(dtype):
    inputs, targets = sample(5, 2, stream(), dtype=dtype)
    assert (inputs.dtype, targets.dtype) == (dtype, dtype)
    assert sample(5, 2, stream())[0].dtype == torch.float32


@pytest.mark.parametrize(
    ("length", "batch", "generator", "sentence"),
    [
        (1, 2, stream(), "length is 1: it takes a whole number of at least 2"),
        (0, 2, stream(), "length is 0: it takes a whole number of at least 2"),
        (5.5, 2, stream(), "length is 5.5: it takes a whole number of at least 2"),
        (5, 0, stream(), "batch is 0: it takes a whole number of at least 1"),
        (5, "2", stream(), "batch is '2': it takes a whole number of at least 1"),
        (5, 2, None, r"generator is None: it takes a torch\.Generator"),
        (5, 2, 0, r"generator is 0: it takes a torch\.Generator"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(length, batch, generator, sentence):
    with pytest.raises(ValueError, match=sentence):
        sample(length, batch, generator)


@pytest.mark.parametrize("dtype", [torch.int32, torch.complex64, "float32", None])
def test_a_dtype_that_is_not_floating_is_refused(dtype):
    with pytest.raises(ValueError, match=r"dtype is .*: it takes torch\.float32 or torch\.float64"):
        sample(4, 2, torch.Generator(), dtype)


@pytest.mark.parametrize("length", [2, 3, 10, 101])
def test_the_least_error_of_a_memory_is_what_the_best_guess_costs(length):
    """By enumeration of both marks: 1/12 for each that lies further back than the memory."""
    half = length // 2
    pairs = [(p, q) for p in range(half) for q in range(half, length)]
    for memory in range(length + 2):
        lost = sum((p < length - memory) + (q < length - memory) for p, q in pairs)
        assert memory_floor(length, memory) == pytest.approx(lost / len(pairs) / 12, abs=1e-15)
    assert memory_floor(length, 0) == pytest.approx(BASELINE_MSE)
    assert memory_floor(length, length - half) == pytest.approx(HALF_MSE)
    assert memory_floor(length, length) == 0


def test_no_answer_from_the_last_steps_does_better_than_the_floor():
    inputs, targets = sample(40, 20_000, stream(3), torch.float64)
    for memory in (0, 10, 20, 30, 40):
        values, mask = inputs[40 - memory :].unbind(-1)
        guess = (values * mask).sum(0) + (2 - mask.sum(0)) / 2  # what was seen, and 1/2 for each mark that was not
        error = (guess - targets).square()
        # six standard errors of a mean over 20,000
        assert float(error.mean()) == pytest.approx(memory_floor(40, memory), abs=6 * float(error.std()) / 20_000**0.5)


@pytest.mark.parametrize(
    ("length", "memory", "says"), [(1, 0, "length is 1"), (10, -1, "memory is -1"), (10, 2.5, "memory is 2.5")]
)
def test_a_memory_that_cannot_be_is_refused(length, memory, says):
    with pytest.raises(ValueError, match=says):
        memory_floor(length, memory)
