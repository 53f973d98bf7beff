"""The home page's picture: two lanes of cells with the light that reaches back; loss, reach and answers of both.

What is drawn is here: arrays, names, colours, words. Where it stands is the browser's, in ui/components/lanes/.
"""

from typing import Any

import numpy as np

from rnnviz.figures import theme
from rnnviz.results import BASELINE_MSE, HEARD, Moment
from rnnviz.verdicts.home import LIGHT, NAMES, along, stages, task

TITLES = NAMES | {"rnn": "tanh RNN"}
END, PACE = 1600, (0, 2400, 5200, 8000)
"""What plays by itself ends where the GRU's answer has locked on. PACE: milliseconds until each stage, and until END: a
sentence takes its time to be read, however few training steps it is about."""


def lanes(moment: Moment) -> dict[str, Any]:
    """Both networks at every snapshot and for every first number; the moment is where the cursor stands at first.

    Plain dicts, lists and arrays, as ui/components/payload.py sends them. heard: the share of the answer's derivative
    from which a cell is lit. log_answer [snapshots, T+1] and answers [snapshots, values] are those of Lane.
    """
    race = moment.race
    steps = race.lanes["rnn"].steps
    drawn = [
        {
            "cell": cell,
            "name": NAMES[cell],
            "title": TITLES[cell],
            "color": theme.CELLS[cell],
            "dashed": cell == "rnn",
            "loss": _single(lane.loss),
            "reach": lane.reach.astype(np.int32),
            "log_answer": _single(lane.log_answer),
            "answers": _single(lane.answers),
        }
        for cell, lane in moment.lanes.items()
    ]
    return {
        "alt": f"{task(moment)} Two networks learn it: the RNN, and the {drawn[1]['name']}. {LIGHT}",
        "T": race.T,
        "marks": list(race.marks),
        "lag": moment.lag,
        "values": race.values,
        "second_number": float(race.sequence[race.marks[1] - 1, 0]),
        "steps": steps,
        "lanes": drawn,
        "baseline": BASELINE_MSE,
        "heard": HEARD,
        "colors": {"reach": theme.REACH, "grey": theme.GREY, "lit": list(theme.LIT)},
        "task": task(moment),
        "light": LIGHT,
        "says": along(moment),
        "stages": [{"since": since, "text": text} for since, text in stages(moment)],
        "dims": dimensions(moment),
    }


def tour(moment: Moment) -> dict[str, Any]:
    """What plays once by itself: from birth to an answer that has locked on, [milliseconds, step] a point."""
    points = [*(since for since, _ in stages(moment)), END]
    return {"dim": "training", "points": [list(point) for point in zip(PACE, points, strict=True)]}


def dimensions(moment: Moment) -> dict[str, dict[str, Any]]:
    """The two of its cursor: the training step, snapshot by snapshot, and which of its values the first number has.

    grid: there is nothing between these. factor and decimals: what people read of a whole number.
    """
    steps, values = moment.race.lanes["rnn"].steps, moment.race.values
    each = int(steps[1] - steps[0])
    return {
        "training": {
            "low": int(steps[0]),
            "high": int(steps[-1]),
            "each": each,
            "stride": each,
            "grid": each,
            "at": moment.step,
            "label": theme.DIMENSIONS["training"],
        },
        "number": {
            "low": 0,
            "high": len(values) - 1,
            "at": moment.value,
            "label": theme.DIMENSIONS["number"],
            "factor": float(values[1] - values[0]),
            "decimals": 2,
        },
    }


def _single(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float32)
