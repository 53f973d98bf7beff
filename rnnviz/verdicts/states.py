"""What the unrolling page says of a stack's states, of a state that was carried over, and of what a sequence costs."""

import math
from collections.abc import Sequence

import numpy as np

from rnnviz.results import Array, Cost, Leaked, States
from rnnviz.verdicts import Verdict, digits
from rnnviz.verdicts.unrolling import counted

STUCK = 0.9
"""Beyond it a tanh hardly answers: its slope is below 0.19."""


def states(result: States) -> Verdict:
    """How large the states of each layer are after steps 1..T, how many are all but stuck, and what each layer
    reads."""
    sizes = [_size(result.read(name)) for name in result.names]
    everything = np.concatenate([result.read(name).ravel() for name in result.names])
    stuck = float((np.abs(everything) > STUCK).mean())
    numbers = {
        "size": sizes[0],
        "size_last": sizes[-1],
        "stuck": stuck,
        "parameters": float(result.parameters),
        "parameters_torch": float(result.parameters_torch),
    }
    time, hidden = len(result.inputs), result.hidden
    listed = [f"{digits(size)} in {name}" for name, size in zip(result.names, sizes, strict=True)]
    is_size = listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
    beyond = ""
    if np.abs(everything).max() <= 1:  # not so of a ReLU's
        why = ", where a tanh hardly answers" if result.cell == "rnn" else ""
        few = f"{digits(100 * stuck)} % of all values lie" if stuck else "none of its values lies"
        beyond = f"; {few} beyond {STUCK}{why}"
    first = f"Over {counted(time, 'step')} a state of {counted(hidden, 'unit')} has the mean size {is_size}{beyond}."
    if any(name.endswith("←") for name in result.names):
        cause = f"At step 1 → has read 1 of {counted(time, 'step')}, ← all of them: only together they know both sides."
    elif len(result.names) > 1:
        cause = "Each layer after the first reads the states of the one below it, not the input."
    else:
        cause = f"{result.parameters:,} parameters, used again at each step, make them all."
    return Verdict(f"{first} {cause}", numbers)


def leak(leaked: Leaked) -> Verdict:
    """How much a forgotten reset still changes at the end, how fast it fades, and in how many answers it is."""
    start, left, time = float(leaked.apart[0]), float(leaked.apart[-1]), len(leaked.apart) - 1
    gone = leaked.gone
    until = time if gone is None or gone == 0 else gone
    share = float(leaked.share[until])
    rate = round(share ** (1 / until), 12) if share > 0 else 0.0  # an equal size is not grown by rounding
    numbers = {
        "start": start,
        "left": left,
        "left_share": float(leaked.share[-1]),
        "gone": math.inf if gone is None else float(gone),
        "rate": rate,
        "h_start": float(leaked.h_apart[0]),
        "h_left": float(leaked.h_apart[-1]),
    }
    if not start > 0:
        return Verdict("The first pass ends in a state of exactly 0: carried over or reset, nothing changes.", numbers)
    carried = f"The state carried over is {digits(start)} away from a reset one"
    a_step = f"On average a step {_keeps(rate)}"
    if gone is not None:
        touched = f"a forgotten reset touches {gone} of {counted(time, 'answer')}"
        few = f"less than 1 % of that is left after {counted(gone, 'step')}"
        return Verdict(f"{carried}; {few}. {a_step}, so {touched}.", numbers)
    of_h = ""
    if leaked.cell == "lstm":
        of_h = f", in h {digits(numbers['h_left'])} of {digits(numbers['h_start'])}"
    there = f"after {counted(time, 'step')} {digits(left)} is there{of_h}"
    if rate > 1:
        of = (
            f"to {digits(left)}, {digits(left / start)} times that" if left < math.inf else "beyond the range of floats"
        )
        there = f"in {counted(time, 'step')} it grows {of}{of_h}"
    every = f"a forgotten reset is in all {counted(time, 'answer')}"
    return Verdict(f"{carried}, and {there}. {a_step}, so {every}.", numbers)


def cost(costs: Sequence[Cost]) -> Verdict:
    """Work and memory by the number of steps, as counted, and what does not grow with it."""
    several = sorted(costs, key=lambda one: one.steps)
    if not several:
        return Verdict("Nothing was counted.", {})
    short, long = several[0], several[-1]
    numbers = {
        "steps": float(long.steps),
        "forward": float(long.forward),
        "backward": float(long.backward),
        "formula": float(long.formula),
        "bytes": float(long.bytes),
        "parameters": float(long.parameters),
        "forward_ratio": long.forward / short.forward,
        "bytes_ratio": long.bytes / short.bytes,
    }
    gates = "" if long.gates == 1 else f"{long.gates}"
    work = f"Counted at T = {long.steps:,}: {long.forward:,} multiply-adds"
    says = "exactly" if long.forward == long.formula else f"where {long.formula:,} is"
    times = digits(long.backward / long.forward)
    back = f"{work}, {says} {gates}T (n² + n d), and {times} times as many for the gradient."
    if short.steps == long.steps:
        return Verdict(f"{back} The trace holds {long.bytes:,} bytes.", numbers)
    grow = f"{digits(long.steps / short.steps)} times the steps cost {digits(numbers['forward_ratio'])} times the work"
    rest = f"and {digits(numbers['bytes_ratio'])} times the bytes, {long.bytes:,}"
    return Verdict(f"{back} {grow} {rest}; the {long.parameters:,} parameters stay.", numbers)


def _keeps(rate: float) -> str:
    """What becomes of a difference; near 1 what is lost or added, which three digits of what is kept would hide."""
    if 0.995 < rate < 1:
        return f"loses {digits(100 * (1 - rate))} % of a difference"
    if rate > 1:
        return (
            f"adds {digits(100 * (rate - 1))} % to a difference" if rate < math.inf else "adds more than can be counted"
        )
    return f"keeps {digits(100 * rate)} % of a difference"


def _size(values: Array) -> float:
    """The root mean square of all values."""
    return float(np.sqrt(np.mean(np.square(values))))
