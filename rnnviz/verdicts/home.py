"""What the home page says of two networks at one moment of their training."""

import math
from dataclasses import replace

from rnnviz.results import BASELINE_MSE, HALF_MSE, Moment
from rnnviz.verdicts import Verdict, digits

NAMES = {"rnn": "RNN", "gru": "GRU", "lstm": "LSTM"}
GROWN, FLAT = 1.5, 1.2
"""A reach this many times that at birth is worth a "yet", once the loss is within this factor of 1/6."""


def verdict(moment: Moment) -> Verdict:
    """What both answer, and why: while the loss is flat, what grows beneath it; then, whose answer follows."""
    n = numbers(moment)
    return Verdict(template(moment).format(**{name: two(n[name]) for name in ("answer", "answer_rnn", "truth")}), n)


def along(moment: Moment) -> list[str]:
    """The templates of all snapshots, so that the sentence follows a cursor."""
    return [template(replace(moment, step=int(step))) for step in moment.lanes[moment.second].steps]


def template(moment: Moment) -> str:
    """The verdict of a training step, with {answer}, {answer_rnn} and {truth} for what the first number changes."""
    n = numbers(moment)
    name, lag = NAMES[moment.second], moment.lag
    steps, rnn_steps = (
        f"{n[r]:.0f}" if math.isfinite(n[r]) else f"all {moment.race.T}" for r in ("reach", "reach_rnn")
    )
    answers = f"{name} answers {{answer}}, RNN {{answer_rnn}}, truth {{truth}}"
    if n["loss"] < HALF_MSE:
        moves, rnn_moves = _moved(n["moves"]), _moved(n["moves_rnn"])
        return (
            f"{answers}. The mark is {lag} back: the {name} hears {steps} steps, its answer moves by {moves} of 1; "
            f"the RNN hears {rnn_steps}, and moves by {rnn_moves}."
        )
    loss = f"{answers}: loss {n['loss']:.3f}, and always saying 1 costs {BASELINE_MSE:.3f}."
    if n["reach"] <= lag and (n["reach"] <= GROWN * n["reach_birth"] or n["loss"] > FLAT * BASELINE_MSE):
        return f"{loss} Reach {steps} steps, RNN {rnn_steps}: the mark, {lag} back, is not heard."
    met = f": it has met the mark, {lag} back" if n["reach"] > lag else f", and the mark is {lag} back"
    return f"{loss} Yet the {name}'s reach is {steps} steps, was {n['reach_birth']:.0f}{met}. RNN: {rnn_steps}."


def numbers(moment: Moment) -> dict[str, float]:
    """Of the second lane, and with _rnn of the RNN; a reach or an escape that never is, is inf.

    moves: how far the answer goes as the first number goes from 0 to 1. hears: dy/dv at the first mark, of the probe.
    """
    values = {"truth": moment.truth}
    for cell, end in (("rnn", "_rnn"), (moment.second, "")):
        lane = moment.race.lanes[cell]
        k = lane.at(moment.step)
        values |= {
            f"reach{end}": moment.reach(cell),
            f"reach_birth{end}": float(lane.reach[0]),
            f"loss{end}": float(lane.loss[k]),
            f"answer{end}": moment.answer(cell),
            f"moves{end}": float(lane.answers[k, -1] - lane.answers[k, 0]),
            f"hears{end}": float(lane.listening[k, 0]),
            f"escape{end}": math.inf if lane.escape is None else lane.escape,
        }
    return values


def two(value: float) -> str:
    """An answer as the picture and the sentence show it."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def _moved(by: float) -> str:
    """Answers are float32: below a millionth a difference is rounding."""
    return digits(by) if abs(by) >= 1e-6 else "less than 10⁻⁶"
