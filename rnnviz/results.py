"""The frozen results of analysis and training: numpy only, so that figures and stored first pictures need no torch."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rnnviz.training import Snapshot

Array = NDArray[Any]
HEARD = 0.01
"""The share of a gradient that still counts as heard; the reach is the first lag at which less is left."""


def reach(log_norm: Array) -> int | None:
    """The first lag k at which less than 1 % is left: log_norm[T-k] - log_norm[T] < ln 0.01; None if beyond T.

    log_norm [time+1] holds natural logarithms over the steps 0..T. A value that is not known (NaN: below what could be
    carried) counts as not heard.
    """
    left = np.asarray(log_norm)[::-1] - log_norm[-1]
    quiet = np.flatnonzero(~(left >= math.log(HEARD)))
    return int(quiet[0]) if quiet.size else None


@dataclass(frozen=True, slots=True, eq=False)
class Transport:
    """The product of step Jacobians, measured.

    log_norm [time+1]: ln of the norm of ds_T/ds_k for k = 0..T, 0 at k = T, -inf for an exact zero, NaN where lost.
    log_bound [time+1]: the sum of ln sigma_max(J_i) for i = k+1..T, never below log_norm.
    lyapunov [state]: exponents a step, descending.
    lost [time+1]: some entries of the product were more than 308 decades below its largest and are gone.
    """

    log_norm: Array
    log_bound: Array
    lyapunov: Array
    lost: Array

    @property
    def reach(self) -> int | None:
        """The first lag at which less than 1 % is left; None if beyond T."""
        return reach(self.log_norm)


@dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """A look at a fixed batch of adding problems, from one forward and one backward pass.

    error: mean squared error. reach: of the answer, None if beyond T.
    listening: mean of dy/dv at the first mark and at the second, mean of |dy/dv| at unmarked steps; 1, 1, 0 is solved.
    log_answer [time+1]: median over the batch of ln of ‖dy/ds_t‖ / ‖dy/ds_T‖, s the whole state; -inf is an exact zero.
    grad_norm [time+1]: ‖dL/ds_t‖ of the whole batch.
    inputs [time, 2], gates: name -> [time, hidden] (Elman: its state "h", row 0 is after step 1), of the first sequence.
    predictions, targets [batch]. weights: name -> array, those that were looked at, read-out included.
    """

    error: float
    reach: int | None
    listening: tuple[float, float, float]
    log_answer: Array
    grad_norm: Array
    inputs: Array
    gates: Mapping[str, Array]
    predictions: Array
    targets: Array
    weights: Mapping[str, Array]


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """One training step: everything was measured before the step's update, but update, which is of the update itself.

    grad_norm is the global norm before clipping; parts are the norms of single parameters. update is the size of the
    step relative to the size of the weights. rho is the spectral radius of W_h (RNN only, at probes). seconds are spent in this config so far.
    fault says why the run cannot go on: step and parameter that were not finite; the weights are then the last finite.
    """

    step: int
    loss: float
    grad_norm: float
    clipped: bool
    update: float
    seconds: float
    parts: Mapping[str, float]
    rho: float | None = None
    probe: Probe | None = None
    fault: str | None = None
    _take: "Callable[[], Snapshot] | None" = field(default=None, repr=False)

    def snapshot(self) -> "Snapshot":
        """The state after this step, from which train() goes on; ask before the next record is drawn."""
        if self._take is None:
            raise RuntimeError("this record is a copy without its run: take snapshots from the records of train()")
        return self._take()


@dataclass(frozen=True, slots=True, eq=False)
class Push:
    """A push of the state after step `step`, seen at later steps n = 0, 1, ...

    left [n]: the true difference relative to the size of the push. The rest are natural logarithms: predicted, the
    derivative along the push; log_norm, the most that any push could keep; log_bound, the product of the steps' largest
    singular values; log_simple, (gamma sigma_max(W_h))^n, None for gated cells. A left below floor is rounding.
    """

    step: int
    size: float
    left: Array
    predicted: Array
    log_norm: Array
    log_bound: Array
    log_simple: Array | None
    floor: float


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """What arrives from the end, by lag 0, 1, ..., T, in natural logarithms: mean over random unit vectors carried back.

    total = slopes + weights, exactly; the two parts are None for gated cells, which have no such split.
    """

    transport: Transport
    total: Array
    slopes: Array | None
    weights: Array | None
