"""What the gates page says of a unit set by hand, of a layer's gates, of two GRUs; and the cells' equations."""

import math

from rnnviz.results import HandSet, Layer, Parting, Paths
from rnnviz.verdicts import Verdict, digits, exponent

UPDATE_RESET = r"""z_t &= \sigma(W_z x_t + U_z h_{t-1} + b_z) \\
r_t &= \sigma(W_r x_t + U_r h_{t-1} + b_r) \\"""
EQUATIONS = {
    "unit": r"""\begin{aligned}
f_t &= \sigma(b_f) \\
i_t &= \sigma(b_i + w_i\,\text{mark}_t) \\
g_t &= \tanh(0.1\,\text{value}_t) \\
c_t &= f_t\,c_{t-1} + i_t\,g_t \\
h_t &= o_t \tanh(c_t), \quad o_t = 1 \\
\hat y &= w\,h_T + b
\end{aligned}""",
    "lstm": r"""\begin{aligned}
i_t &= \sigma(W_i x_t + U_i h_{t-1} + b_i) \\
f_t &= \sigma(W_f x_t + U_f h_{t-1} + b_f) \\
g_t &= \tanh(W_g x_t + U_g h_{t-1} + b_g) \\
o_t &= \sigma(W_o x_t + U_o h_{t-1} + b_o) \\
c_t &= f_t \odot c_{t-1} + i_t \odot g_t \\
h_t &= o_t \odot \tanh(c_t)
\end{aligned}""",
    "before": rf"""\begin{{aligned}}
{UPDATE_RESET}
n_t &= \tanh(W_n x_t + U_n (r_t \odot h_{{t-1}}) + b_n) \\
h_t &= (1 - z_t) \odot h_{{t-1}} + z_t \odot n_t
\end{{aligned}}""",
    "after": rf"""\begin{{aligned}}
{UPDATE_RESET}
n_t &= \tanh(W_n x_t + b_n + r_t \odot (U_n h_{{t-1}} + c_n)) \\
h_t &= (1 - z_t) \odot h_{{t-1}} + z_t \odot n_t
\end{{aligned}}""",
}
"""LaTeX by what is shown: the unit, the LSTM, the GRU with its reset before or after U_n."""


def parting(result: Parting) -> str:
    """How far two GRUs end apart, and why no other weights bring them together."""
    return (
        f"The same weights end {digits(100 * float(result.apart[-1]))} % apart, with the diagonal of U_n alone "
        f"{digits(100 * float(result.diagonal[-1]))} %. r ⊙ (U_n h) = U_n (r ⊙ h) for every r and h only if U_n is "
        "diagonal: otherwise no weights of the one cell make it the other."
    )


def half_lives(ways: Paths, bias: float | None) -> str:
    """The half-life by formula beside the two that were measured."""
    direct = f"half of it in {_steps(ways.half_direct)}"
    whole = (
        "grows over the sequence: it has no half-life"
        if math.isinf(ways.half_whole)
        else f"in {_steps(ways.half_whole)}"
    )
    measured = f"The direct path loses {direct} at its mean rate, the whole derivative {whole}."
    if bias is None:
        return measured
    closed = math.log(2) / math.log1p(math.exp(-bias))
    gate = f"σ({digits(bias)})"
    return f"{gate} = {digits(1 / (1 + math.exp(-bias)))} a step: ln ½ / ln {gate} = {digits(closed)} steps. {measured}"


def _steps(half_life: float) -> str:
    return "none at all" if math.isinf(half_life) else f"{digits(half_life)} steps"


def verdict(shown: HandSet | Layer, ways: Paths, parted: Parting | None = None) -> Verdict:
    """How far back the cell hears, what its gates have to do with it, and what that is to be compared with."""
    time, ten = len(ways.direct) - 1, math.log(10)
    numbers = {
        "reach": math.inf if ways.reach is None else float(ways.reach),
        "direct_log10": float(ways.direct[-1]) / ten,
        "best_direct_log10": float(ways.most[-1]) / ten,
        "whole_log10": float(ways.whole[-1]) / ten,
        "half_direct": ways.half_direct,
        "half_whole": ways.half_whole,
    }
    reach = (
        f"Reach beyond all {time} steps"
        if ways.reach is None
        else f"Reach {ways.reach} step{'s' if ways.reach > 1 else ''}"
    )
    if isinstance(shown, HandSet):
        return _of_unit(shown, reach, numbers)
    numbers["kept"] = float(shown.kept.mean())
    numbers["largest_state"] = float(abs(list(shown.values.values())[-1]).max())
    if parted is not None:
        numbers["apart"], numbers["diagonal"] = float(parted.apart[-1]), float(parted.diagonal[-1])
        return Verdict(
            f"{reach}: units keep 1 − z = {digits(numbers['kept'])} of their state a step. "
            f"The same weights with r on the other side of U_n end {digits(100 * numbers['apart'])} % away.",
            numbers,
        )
    direct, best, whole = (exponent(numbers[f"{k}_log10"]) for k in ("direct", "best_direct", "whole"))
    # Like with like: both are norms, the direct path's being its best unit's.
    elsewhere = numbers["whole_log10"] - numbers["best_direct_log10"] > 0.05
    rest = "the rest travels through the gates" if elsewhere else "nothing travels elsewhere"
    return Verdict(
        f"{reach}: forget gates keep {digits(numbers['kept'])} a step. Over {time} the direct path leaves {direct} "
        f"(best unit {best}), the whole derivative {whole}: {rest}.",
        numbers,
    )


def _of_unit(unit: HandSet, reach: str, numbers: dict[str, float]) -> Verdict:
    numbers |= {
        "score": unit.score,
        "constant": unit.constant,
        "kept": float(unit.gates["f"][0]),
        "first_left": unit.first_left,
        "unmarked": unit.unmarked,
        "last_level": float(unit.level[-1]),
        "last_state": math.tanh(float(unit.level[-1])),
    }
    left, flood = digits(unit.first_left), digits(unit.unmarked)
    return Verdict(
        f"Score {digits(unit.score)} on 1,000 sequences (answering 1: 1/6, knowing one number: 1/12). "
        f"{reach}: {left} of the first number is left, {flood} of the level is unmarked.",
        numbers,
    )
