"""What a result says in words: one or two sentences with value, cause and contrast, each number computed. Pure, no torch."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Verdict:
    """text: the sentences. numbers: name -> the exact value of what the text rounds, and of what scenes check."""

    text: str
    numbers: Mapping[str, float]


def digits(value: float) -> str:
    """Three significant digits as people write them: 0.0061, 2.18, 6,700, 2.8·10⁻⁵."""
    if math.isnan(value):
        return "not known"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinity"
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e5:
        places = max(0, 2 - math.floor(math.log10(abs(value))))
        text = f"{value:,.{places}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return text.replace("-", "−")
    return power(math.log10(abs(value)), negative=value < 0)


def power(log10: float, *, negative: bool = False) -> str:
    """A number given by its decimal logarithm, however far outside the range of floats: 2.8·10⁻⁵."""
    if math.isnan(log10):
        return "not known"
    if math.isinf(log10):
        return "exactly 0" if log10 < 0 else "infinite"
    exponent = math.floor(log10)
    mantissa = round(10 ** (log10 - exponent), 2)
    if mantissa >= 10:
        mantissa, exponent = 1.0, exponent + 1
    if -3 <= exponent < 5:
        return digits((-1 if negative else 1) * 10**log10)
    return f"{'−' if negative else ''}{mantissa:.3g}·10{str(exponent).translate(_SUPERSCRIPT)}"


def exponent(log10: float) -> str:
    """Ten to a power with one decimal, for numbers of which only the size counts: 10^−18.7; 1 for 10^0."""
    if math.isnan(log10):
        return "not known"
    if math.isinf(log10):
        return "exactly 0" if log10 < 0 else "infinite"
    return "1" if abs(log10) < 0.05 else f"10^{log10:+.1f}".replace("-", "−")
