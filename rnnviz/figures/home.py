"""The home page's picture: two lanes of cells with the light that reaches back; loss, reach and answers of both.

What is drawn is here: arrays, names, colours, words. Where it stands is the browser's, in ui/components/lanes/.
"""

from typing import Any

import numpy as np

from rnnviz.figures import theme
from rnnviz.results import BASELINE_MSE, HEARD, Moment
from rnnviz.verdicts.home import NAMES, along

TITLES = NAMES | {"rnn": "tanh RNN"}
TOUR = {"dim": "training", "from": 0, "to": 1600, "milliseconds": 8000}
"""What plays once by itself: from birth through the step where the GRU's loss falls."""


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
        "alt": f"Two networks read the same {race.T} numbers, two of them marked: the RNN, and the {drawn[1]['name']}.",
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
        "says": along(moment),
        "dims": dimensions(moment),
    }


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
