"""What the learning page says of a training."""

import math
from collections.abc import Sequence

from rnnviz.analysis.learning import at, escape
from rnnviz.results import BASELINE_MSE, Progress
from rnnviz.verdicts import Verdict, digits


def verdict(lanes: Sequence[Progress], step: int, fault: str | None = None) -> Verdict:
    """Loss, reach and listening at a training step, or at the last one that there is: what the loss does not say yet,
    the reach does."""
    if fault is not None:
        return Verdict(f"Stopped. {fault[0].upper()}{fault[1:]}.", {})
    seen = [lane for lane in lanes if len(lane.step) and len(lane.probe_step)]
    if not seen:
        return Verdict("The run has begun; its first point is on its way.", {})
    step = within(seen, step)
    numbers: dict[str, float] = {}
    for lane in seen:
        numbers[f"loss_{lane.cell}"] = float(at(lane.step, lane.loss, step))
        numbers[f"reach_{lane.cell}"] = float(at(lane.probe_step, lane.reach, step))
        numbers[f"first_{lane.cell}"] = float(at(lane.probe_step, lane.listening[:, 0], step))
        left = escape(lane.step, lane.loss)
        numbers[f"escape_{lane.cell}"] = math.inf if left is None else float(left)
    if len(seen) == 1:
        return Verdict(_one(seen[0], step, numbers), numbers)
    told = "; ".join(
        f"{lane.name} loss {digits(numbers[f'loss_{lane.cell}'])}, reach {_now(lane, numbers)}" for lane in seen
    )
    return Verdict(f"Step {step:,}: {told}. Always answering 1 gives {digits(BASELINE_MSE)}.", numbers)


def along(lanes: Sequence[Progress]) -> dict[int, str]:
    """The sentences at every training step with a look, and at the last, so that they follow a cursor."""
    seen = [lane for lane in lanes if len(lane.step) and len(lane.probe_step)]
    steps = {int(step) for lane in seen for step in (*lane.probe_step, lane.step[-1])}
    return {step: verdict(lanes, step).text for step in sorted(steps)}


def source(lanes: Sequence[Progress]) -> str:
    """What a recording is of, for it need not be what the controls say."""
    names = ", ".join(lane.name for lane in lanes)
    return (
        f"A real training, recorded: {names}, sequences of {lanes[0].length} steps. The controls are of what you train."
    )


def within(lanes: Sequence[Progress], step: int) -> int:
    """The training step, or the last one shown if that comes before it."""
    return min(step, max((int(lane.step[-1]) for lane in lanes if len(lane.step)), default=step))


def _one(lane: Progress, step: int, numbers: dict[str, float]) -> str:
    loss, reach, first = (numbers[f"{name}_{lane.cell}"] for name in ("loss", "reach", "first"))
    start, now = float(lane.reach[0]), _now(lane, numbers)
    if loss > 1.2 * BASELINE_MSE:
        worse = f"still worse than always answering 1 ({digits(BASELINE_MSE)})"
        return f"Step {step:,}: loss {digits(loss)}, {worse}. Reach {now}."
    if loss > BASELINE_MSE / 2:
        more = "nothing is heard that was not before" if reach <= start + 1 else "something is being learned"
        return (
            f"Step {step:,}: loss {digits(loss)}, always answering 1 gives {digits(BASELINE_MSE)}. "
            f"Reach {now}, was {_reach(start, lane.length)}: {more}."
        )
    unmarked = float(at(lane.probe_step, lane.listening[:, 2], step))
    return (
        f"Step {step:,}: loss {digits(loss)}, reach {now}. The answer moves {digits(first)} for each unit of the "
        f"first number (needs 1) and {digits(unmarked)} for an unmarked one."
    )


def _now(lane: Progress, numbers: dict[str, float]) -> str:
    return _reach(numbers[f"reach_{lane.cell}"], lane.length)


def _reach(reach: float, length: int) -> str:
    return f"beyond all {length} steps" if math.isinf(reach) else f"{reach:.0f} of {length}"
