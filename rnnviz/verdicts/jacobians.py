"""What the gradients page says of a push and of the way back."""

import math

import numpy as np

from rnnviz.results import Array, Carried, Push
from rnnviz.verdicts import Verdict, digits, exponent, power

LATER = (10, 20, 40, 60)


def verdict(push: Push, carried: Carried) -> Verdict:
    """How much of the push is left, how far the gradient reaches, and whether slopes or weights decide it."""
    ten = math.log(10)
    steps = len(push.left) - 1
    transport = carried.transport
    numbers = {f"left_of_push_{k}": float(push.left[k]) for k in LATER if k <= steps}
    numbers |= {f"derivative_{k}": float(np.exp(push.predicted[k])) for k in LATER if k <= steps}
    numbers["reach"] = math.inf if transport.reach is None else float(transport.reach)
    numbers["carried_log10"] = float(carried.total[-1]) / ten
    numbers["bound_log10"] = float(transport.log_bound[0]) / ten
    first = pushed(push)
    time = len(carried.total) - 1
    reach = f"Reach beyond all {time} steps" if transport.reach is None else f"Reach {_count(transport.reach)}"
    if carried.slopes is None or carried.weights is None:
        allowed, truth = exponent(numbers["bound_log10"]), exponent(float(transport.log_norm[0]) / ten)
        return Verdict(f"{first} {reach}; the bound allows {allowed} over {time} steps, the truth is {truth}.", numbers)
    slopes, weights = float(carried.slopes[-1]) / ten, float(carried.weights[-1]) / ten
    numbers |= {"slopes_log10": slopes, "weights_log10": weights}
    if math.isinf(numbers["carried_log10"]):
        part, lag = ("weights", carried.weights) if math.isinf(weights) else ("slopes", carried.slopes)
        return Verdict(f"{first} {reach}: the {part} take it to exactly 0, {_steps(lag)} back from the end.", numbers)
    cause = f"over {time} steps the weights multiply by {exponent(weights)}, the slopes by {exponent(slopes)}"
    return Verdict(f"{first} {reach}: {cause}.", numbers)


def pushed(push: Push) -> str:
    """How much of the push is left."""
    steps = len(push.left) - 1
    n = max((later for later in (*LATER, steps) if later <= min(steps, 40)), default=steps)
    seen = push.left[n] > push.floor[n]
    left = digits(float(push.left[n])) if seen else power(float(push.predicted[n]) / math.log(10))
    how = "" if seen else ", by the derivative (the difference is below rounding)"
    return f"Push the state at step {push.step}: {_count(n)} later {left} of it is left{how}."


def _steps(part: Array) -> str:
    """After how many steps back it is exactly 0."""
    return _count(int(np.flatnonzero(np.isneginf(part))[0]))


def _count(steps: int) -> str:
    return f"{steps} step{'' if steps == 1 else 's'}"
