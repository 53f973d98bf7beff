"""The home page's picture: what is sent is what was recorded, to the last digit that is shown."""

from itertools import pairwise

import numpy as np
import pytest

from rnnviz.figures import home, theme
from rnnviz.recorded import race
from rnnviz.results import HEARD, Moment
from rnnviz.ui.components.payload import pack
from rnnviz.verdicts import home as words
from tests.pages.opening import unpacked


@pytest.mark.parametrize("second", ["gru", "lstm"])
def test_all_snapshots_of_both_lanes_arrive_as_they_were_recorded(second):
    tree = unpacked(pack(home.lanes(Moment(race(), second, 900, 16))))
    assert [lane["cell"] for lane in tree["lanes"]] == ["rnn", second]
    for lane in tree["lanes"]:
        recorded = race().lanes[lane["cell"]]
        assert lane["color"] == theme.CELLS[lane["cell"]]
        assert np.shape(lane["answers"]) == (161, 21)
        for name in ("loss", "reach", "log_answer", "answers"):
            np.testing.assert_array_equal(np.array(lane[name]), getattr(recorded, name).astype(float))
        np.testing.assert_array_equal(recorded.steps, tree["steps"])  # one training axis for both
    assert sum(lane["dashed"] for lane in tree["lanes"]) == 1  # told apart without colour
    assert (tree["T"], tree["marks"], tree["lag"], tree["heard"]) == (100, [12, 71], 88, HEARD)
    np.testing.assert_array_equal(np.array(tree["values"]) + tree["second_number"], race().truth)


def test_the_cursor_spans_the_recording_and_stands_at_the_moment():
    dims = home.dimensions(Moment(race(), "gru", 2340, 4))
    training, number = dims["training"], dims["number"]
    assert [training[key] for key in ("low", "high", "grid", "at")] == [0, 3200, 20, 2340]
    assert (number["low"], number["high"], number["at"]) == (0, 20, 4)
    shown = [f"{number['factor'] * k:.{number['decimals']}f}" for k in range(21)]
    assert shown == [f"{value:.2f}" for value in race().values]


def test_what_plays_by_itself_goes_from_birth_past_the_fall_of_the_loss():
    lane = race().lanes["gru"]
    moment = Moment(race(), "gru", 900, 16)
    tour = home.tour(moment)
    times, steps = zip(*tour["points"], strict=True)
    assert tour["dim"] == "training"
    assert (steps[0], times[0], times[-1]) == (0, 0, 8000)
    assert lane.loss[lane.at(0)] > 0.5
    assert lane.loss[lane.at(steps[-1])] < 0.03
    assert steps[-1] > lane.escape
    # every sentence stands for two seconds and more
    assert [since for since, _ in words.stages(moment)] == list(steps[:-1])
    assert all(after - before >= 2000 for before, after in pairwise(times))


def test_it_is_sent_once_and_is_small():
    moment = Moment(race(), "lstm", 2400, 0)
    message = pack(home.lanes(moment))
    assert len(message) < 250_000
    assert unpacked(message)["says"] == words.along(moment)
    assert pack(home.lanes(moment)) == message
