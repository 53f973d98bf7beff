"""What a result says in words: one or two sentences with value, cause and contrast, each number computed. Pure, no
torch."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Verdict:
    """text: the sentences. numbers: name -> the exact value of what the text rounds, and of what scenes check."""

    text: str
    numbers: Mapping[str, float]


def digits(value: float | int) -> str:
    """Three significant digits as people write them: 0.0061, 2.18, 6,700, 2.8·10⁻⁵."""
    if math.isnan(value):
        return "not known"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinity"
    if value == 0:
        return "0"
    mantissa, exponent = f"{abs(value):.2e}".split("e")
    return _written(mantissa, int(exponent), value < 0)


def power(log10: float | int) -> str:
    """The same of a positive number given by its decimal logarithm, however far outside the range of floats."""
    if math.isnan(log10):
        return "not known"
    if math.isinf(log10):
        return "exactly 0" if log10 < 0 else "infinite"
    exponent = math.floor(log10)
    mantissa, carry = f"{10 ** (log10 - exponent):.2e}".split("e")
    return _written(mantissa, exponent + int(carry), negative=False)


def _written(mantissa: str, exponent: int, negative: bool) -> str:
    """A mantissa of three digits and its power of ten; written out from a thousandth to below a hundred thousand."""
    sign = "−" if negative else ""
    if -3 <= exponent < 5:
        text = f"{float(mantissa) * 10.0**exponent:,.{max(0, 2 - exponent)}f}"
        return sign + (text.rstrip("0").rstrip(".") if "." in text else text)
    return f"{sign}{float(mantissa):g}·10{str(exponent).translate(_SUPERSCRIPT)}"


def exponent(log10: float | int) -> str:
    """Ten to a power with one decimal, for numbers of which only the size counts: 10^−18.7; 1 for 10^0."""
    if math.isnan(log10):
        return "not known"
    if math.isinf(log10):
        return "exactly 0" if log10 < 0 else "infinite"
    return "1" if abs(log10) < 0.05 else f"10^{log10:+.1f}".replace("-", "−")
