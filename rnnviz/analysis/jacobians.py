"""The derivative of a step and of many steps, far outside the range of floats."""

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnviz import arguments
from rnnviz.arguments import Flag, Network, Unrolled
from rnnviz.axes import Jacobians
from rnnviz.results import AllPairs, Array, Transport
from rnnviz.trace import check_trace

TOGETHER = 64
"""Matrices whose singular values are asked for at once: more would leave the processor's cache, and gain nothing."""
MOST_PAIRED = 2000
"""Steps of an all-pairs map: 2,000 are 32 MB, and two minutes for 64 units."""


def step_jacobians(cell: Network, trace: Unrolled, batch: Any = 0) -> Tensor:
    """J_t = ds_t/ds_{t-1}, in closed form: for Elman diag(phi'(a_t)) W_h.

    Returns [time, state, state], J[t-1, i, j] = ds_{t,i}/ds_{t-1,j} of one sequence; state is hidden, for the LSTM
    2*hidden, h first. A clamped gate has no derivative, a padded step is the identity. ValueError names what does
    not fit. Source: Bengio et al. (1994).
    """
    check_trace(cell, trace)
    row = arguments.integer("batch", batch, 0, trace.inputs.shape[1] - 1)
    if trace.first_nonfinite is not None:
        broken = torch.nonzero(~torch.stack([trace[k][:, row].isfinite().all(-1) for k in cell.state_names]).all(0))
        if broken.numel():
            raise ValueError(
                f"the trace is not finite from step {int(broken[0])}: there is no derivative to take from there"
            )
    with torch.no_grad():
        J = cell.jacobian(tuple(f[..., row, :] for f in cell.factors(trace)))
        if trace.valid is not None:
            J = torch.where(trace.valid[:, row].unsqueeze(-1), J, torch.eye(J.shape[-1], dtype=J.dtype))
    return J


def transport(jacobians: Any, *, exponents: Flag = True) -> Transport:
    """How a product of step Jacobians grows: ln of the norm of ds_T/ds_k = J_T ... J_{k+1}, later steps on the left.

    jacobians [time, state, state], finite. Norms are 2-norms; log_bound is the sum of ln sigma_max(J_i); the exponents
    come by QR at each step from Q_0 = I, descending, and are left out, [0], with exponents=False. The product is
    rescaled by powers of two as it is formed, so 10^-4000 is a number like any other; see Transport for what is lost.
    ValueError names what does not fit.
    Sources: Bengio et al. (1994), Pascanu et al. (2013); exponents Benettin et al. (1980).
    """
    J = _check(jacobians)
    log_norm, lost = _norms(J)
    log_bound = np.zeros(len(J) + 1)
    with np.errstate(divide="ignore"):
        sizes, largest = _spectral_norms(J)
        factors = np.log(sizes) + np.log(largest)  # apart, since their product may be above the range
    log_bound[:-1] = np.cumsum(factors[::-1])[::-1]
    # never below the truth by a rounding either
    lyapunov = _lyapunov(J) if exponents else np.zeros(0)
    return Transport(log_norm, np.fmax(log_bound, log_norm), lyapunov, lost)


def product_norms(jacobians: Any) -> tuple[Array, Array]:
    """log_norm = ln ‖J_T ... J_{k+1}‖ and lost, as transport() has them, without the bound and the exponents.

    jacobians [time, state, state], finite; both [time+1]. ValueError names what does not fit. Source: Pascanu et al.
    (2013).
    """
    return _norms(_check(jacobians))


def _norms(J: Jacobians) -> tuple[Array, Array]:
    products = _products(J)
    # from the last step to the first
    sigma: list[Array] = []
    logs: list[float] = []
    lost: list[bool] = []
    while some := list(islice(products, TOGETHER)):
        matrices, scales, gone = zip(*some, strict=True)
        sigma.append(_two_norms(torch.stack(matrices)).numpy())
        logs += scales
        lost += gone
    with np.errstate(divide="ignore"):
        log_norm = np.log(np.concatenate(sigma)) + np.array(logs)
    log_norm[np.isneginf(log_norm) & np.array(lost)] = np.nan
    return np.append(log_norm[::-1], 0.0), np.append(np.array(lost)[::-1], False)


def all_pairs(jacobians: Any) -> AllPairs:
    """How much of a random push comes through, for every pair of steps: ln(‖J_t ... J_{k+1}‖_F / sqrt(state)), k <= t.

    ‖P‖_F / sqrt(n) is the root mean square of ‖P v‖ over random unit vectors v, and never above the 2-norm, which
    transport(jacobians[k:t]).log_norm[0] has for a single pair. jacobians [time, state, state], finite. The products of
    a lag are formed from those of the lag before, each rescaled by its own norm: O(time^2 state^3) work, O(time
    state^2) memory. ValueError names what does not fit. Source: the mean over directions is Hutchinson (1990).
    """
    J = _check(jacobians)
    time, state, _ = J.shape
    if time > MOST_PAIRED:
        raise ValueError(
            f"jacobians has {time} steps: the map of all pairs takes at most {MOST_PAIRED}, "
            "for its work grows with their square; transport() has one end, at any length"
        )
    largest = J.abs().amax((-1, -2))
    steps, sizes = J / torch.where(largest > 0, largest, 1.0)[:, None, None], largest.log()
    gain = np.full((time + 1, time + 1), math.nan)
    np.fill_diagonal(gain, 0.0)
    # products[k] is J_{k+lag} ... J_{k+1} without its scale, whose logarithm is logs[k]
    products, logs = torch.eye(state, dtype=J.dtype).expand(time + 1, state, state), torch.zeros(time + 1).double()
    living = torch.ones(time + 1, dtype=torch.bool)
    for lag in range(1, time + 1):
        products = steps[lag - 1 :] @ products[:-1]
        logs = logs[:-1] + sizes[lag - 1 :]
        norms = torch.linalg.vector_norm(products, dim=(-1, -2))
        for k in torch.nonzero(living[:-1] & (norms == 0)).flatten().tolist():
            # Nothing, or fallen below the range of floats: formed from its other end it may still be there.
            *_, (products[k], scale, lost) = _products(J[k : k + lag])
            norms[k] = products[k].norm()
            logs[k] = math.nan if lost and norms[k] == 0 else scale
        living = norms > 0
        gain[np.arange(lag, time + 1), np.arange(time + 1 - lag)] = (logs + norms.log()).numpy() - math.log(state) / 2
        if not bool(((norms > 1e-60) & (norms < 1e60)).all()):
            taken = torch.where(living, norms, 1.0)
            products, logs = products / taken[:, None, None], logs + taken.log()
    return AllPairs(gain)


def _products(J: Jacobians) -> Iterator[tuple[Tensor, float, bool]]:
    """J_T, J_T J_{T-1}, ..., J_T ... J_1: each with its largest entry near 1, the logarithm of its scale, and whether
    some of its entries fell below the range of floats."""
    product = torch.eye(J.shape[1], dtype=J.dtype)
    reachable = torch.eye(J.shape[1], dtype=J.dtype)  # where the product is not zero by its structure alone
    log_scale, tiny, whole = 0.0, torch.finfo(J.dtype).tiny, False
    for jacobian in J.flip(0):
        step, shift = _rescaled(jacobian)
        before = product
        product, more = _rescaled(before @ step)
        product = torch.where(product.abs() < tiny, 0.0, product)  # without all its digits it is not known either
        there = jacobian != 0
        if not (whole and bool(there.all())):  # full matrices, as most are, leave all in reach
            reachable = ((reachable @ there.to(J.dtype)) > 0).to(J.dtype)
            whole = bool(reachable.all())
        gone = (product == 0) & (reachable > 0)
        lost = bool(gone.any())
        if lost:
            # Terms that cancel leave an exact zero; terms that fell below the range are lost.
            reachable = reachable.clone()
            reachable[gone & (before.abs() @ step.abs() > tiny * math.exp(more))] = 0
            whole, lost = False, bool(((product == 0) & (reachable > 0)).any())
        log_scale += shift + more
        yield product, log_scale, lost


def _rescaled(matrix: Tensor) -> tuple[Tensor, float]:
    """The matrix with its largest entry in [1/2, 1), by an exact power of two, and the logarithm of what was taken
    out."""
    largest = float(matrix.abs().max())
    if largest == 0.0:
        return matrix, 0.0
    exponent = math.frexp(largest)[1]
    # In two halves: 2^1074 is not a float.
    half = exponent // 2
    return matrix * 2.0**-half * 2.0 ** (half - exponent), exponent * math.log(2)


def _spectral_norms(J: Jacobians) -> tuple[Array, Array]:
    """The 2-norms of the matrices relative to their largest entries, and these."""
    largest = J.abs().amax((-1, -2), keepdim=True).clamp_min(torch.finfo(J.dtype).tiny)
    parts = zip(J.split(TOGETHER), largest.split(TOGETHER), strict=True)
    norms = [_two_norms(part / size) for part, size in parts]
    return torch.cat(norms).numpy(), largest[:, 0, 0].numpy()


def _two_norms(matrices: Tensor) -> Tensor:
    """The 2-norms of matrices whose largest entry is near 1: the largest eigenvalue of P P^T has all its digits, and
    costs two thirds of a singular value."""
    largest: Tensor = torch.linalg.eigvalsh(matrices @ matrices.mT)[..., -1]
    return largest.clamp_min(0.0).sqrt()


def _lyapunov(J: Jacobians) -> Any:
    """Mean over steps of ln |R_ii|, where Q_t R_t = J_t Q_{t-1}."""
    time, state, _ = J.shape
    Q, total = torch.eye(state, dtype=J.dtype), torch.zeros(state, dtype=J.dtype)
    for t in range(time):
        step, shift = _rescaled(J[t])
        Q, R = torch.linalg.qr(step @ Q)
        total += R.diagonal().abs().log() + shift
    return np.sort((total / time).numpy())[::-1].copy()


def _check(jacobians: Any) -> Tensor:
    takes = "it takes a tensor [time, state, state] with at least one step"
    if not isinstance(jacobians, Tensor):
        raise ValueError(f"jacobians is a {type(jacobians).__name__}: {takes}")
    shape = tuple(jacobians.shape)
    if len(shape) != 3 or shape[1] != shape[2] or 0 in shape:
        raise ValueError(f"jacobians has shape {shape}: {takes}")
    if not jacobians.is_floating_point():
        raise ValueError(f"jacobians is {jacobians.dtype}: {takes}, of real floating numbers")
    broken = torch.nonzero(~torch.isfinite(jacobians).all(-1).all(-1))
    if broken.numel():
        raise ValueError(f"jacobians is not finite at step {int(broken[0]) + 1}: there is no product to take")
    return jacobians.detach().double()
