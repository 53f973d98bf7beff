"""Checks of arguments: each raises ValueError with the name, what it got and what it takes."""

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING

# The annotations of public arguments. mypy sees what is meant; at run time they accept anything, so that what is wrong
# meets the check by hand and its sentence, also where a hook checks annotations at each call.
if TYPE_CHECKING:
    from torch import Generator, Tensor

    from rnnviz.cells import Cell
    from rnnviz.config import TrainConfig
    from rnnviz.trace import Clamp, Trace
    from rnnviz.training import Snapshot

    Whole = int
    Flag = bool
    Number = float
    Name = str
    Given = Tensor
    Stream = Generator
    Network = Cell
    Unrolled = Trace
    Clamps = Sequence[Clamp]
    Units = Sequence[int]
    Training = TrainConfig
    Start = Snapshot
else:
    Whole = Flag = Number = Name = Given = Stream = Network = Unrolled = Clamps = Units = Training = Start = object


def integer(name: str, value: object, low: int = 1, high: int | None = None) -> int:
    """Return value as an int in [low, high]; a bool or a float with a fraction is refused."""
    takes = f"a whole number of at least {low}" if high is None else f"a whole number from {low} to {high}"
    try:
        whole = isinstance(value, float) and value.is_integer()
        number = operator.index(int(value) if whole else value)  # type: ignore[call-overload, arg-type]
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"{name} is {shown(value)}: it takes {takes}") from None
    if isinstance(value, bool) or number < low or (high is not None and number > high):
        raise ValueError(f"{name} is {shown(value)}: it takes {takes}")
    return number


def number(
    name: str,
    value: object,
    low: float | int = -math.inf,
    *,
    above: float | int = -math.inf,
    high: float | int = math.inf,
) -> float:
    """Return value as a finite float, at least low, strictly greater than above, at most high."""
    takes = "a finite number"
    if above > -math.inf:
        takes += f" above {above:g}"
    elif low > -math.inf:
        takes += f" of at least {low:g}"
    if high < math.inf:
        takes += f", at most {high:g}"
    if isinstance(value, bool | str | bytes) or not hasattr(value, "__float__"):
        raise ValueError(f"{name} is {shown(value)}: it takes {takes}")
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise ValueError(f"{name} is {shown(value)}: it takes {takes}") from None
    if not math.isfinite(result) or not low <= result <= high or result <= above:
        raise ValueError(f"{name} is {shown(value)}: it takes {takes}")
    return result


def choice(name: str, value: object, options: Sequence[str]) -> str:
    """Return value if it is one of options."""
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name} is {shown(value)}: it takes one of {', '.join(map(repr, options))}")
    return value


def shown(value: object) -> str:
    """A short repr for messages: somebody's megabyte of text does not end up in a sentence."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
