"""What the home page says: of the task, of two networks at one moment of their training, and while it plays."""

import math
from dataclasses import replace

import numpy as np

from rnnviz.results import BASELINE_MSE, HALF_MSE, Moment
from rnnviz.verdicts import Verdict, digits

NAMES = {"rnn": "RNN", "gru": "GRU", "lstm": "LSTM"}
LIGHT = (
    "The answer still hears a lit cell: at least 1\u00a0% of ∂answer/∂state is left. "
    "Reach: how many steps back the light goes."
)
"""What the picture's light means, and its reach."""
GROWN, FLAT = 1.5, 1.2
"""A reach this many times that at birth is worth a "yet", once the loss is within this factor of 1/6."""


def task(moment: Moment) -> str:
    """What both networks are asked."""
    (first, second), T = moment.race.marks, moment.race.T
    return (
        f"{T} numbers come in, one a step. Two are marked, at steps {first} and {second}. "
        f"The answer, their sum, is due at step {T}."
    )


def stages(moment: Moment) -> list[tuple[int, str]]:
    """What is said while the training plays: the training step from which on, and the sentence.

    Birth; the flat loss, from where it comes near 1/6; the fall after the light has met the mark.
    """
    race, name = moment.race, NAMES[moment.second]
    lane, rnn = race.lanes[moment.second], race.lanes["rnn"]
    reach = np.where(lane.reach < 0, race.T + 1, lane.reach)
    flat = int(np.flatnonzero(lane.loss <= FLAT * BASELINE_MSE)[0])
    met = int(np.flatnonzero(reach > moment.lag)[0])
    on_the_way = [int(reach[round(flat + share * (met - flat))]) for share in (0, 1 / 3, 2 / 3, 1)]
    *grown, last = (str(steps) for steps in on_the_way)
    grows = f"grows: {grown[0]} steps, {', '.join([*grown[1:], last])}"
    idles = f"idles: {grown[0]} steps, {', '.join(grown[1:])}; then it is {last}"
    said = f"yet the {name}'s reach {grows}" if on_the_way == sorted(on_the_way) else f"the {name}'s reach {idles}"
    return [
        (
            int(lane.steps[0]),
            f"At birth the {name} hears {reach[0]} steps back, the RNN {rnn.reach[0]}: "
            f"neither hears step {race.marks[0]}.",
        ),
        (
            int(lane.steps[flat]),
            f"The loss lies flat near 1/6, and {said}.",
        ),
        (
            int(lane.steps[met]),
            f"At training step {lane.steps[met]:,} the light meets the mark. After that the loss falls: "
            f"by step {lane.escape:,} it has halved.",
        ),
    ]


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
            f"{answers}. Drag the marked number: one answer follows. The {name}'s moves {moves} of 1: "
            f"it hears {steps} steps; the RNN's {rnn_moves}: it hears {rnn_steps}."
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
