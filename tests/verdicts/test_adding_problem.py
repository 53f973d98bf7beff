"""The learning page's words: no step that is not there, and what a recording is of."""

import numpy as np

from rnnviz.results import Progress
from rnnviz.verdicts import adding_problem


def lane(cell="gru", n=100):
    steps = np.arange(n)
    return Progress(
        cell.upper(), cell, 30, steps, np.full(n, 0.17), steps[::10], np.full(n // 10, 7.0), np.zeros((n // 10, 3))
    )


def test_a_step_after_the_last_is_the_last():
    assert adding_problem.within([lane()], 900) == 99
    assert adding_problem.within([lane(), lane("rnn", 200)], 900) == 199
    assert adding_problem.within([lane()], 40) == 40
    assert adding_problem.within([], 900) == 900
    assert adding_problem.verdict([lane()], 900).text.startswith("Step 99:")
    assert adding_problem.verdict([lane(), lane("rnn")], 900).text.startswith("Step 99:")


def test_a_run_without_a_point_names_no_step():
    assert "on its way" in adding_problem.verdict([], 900).text


def test_a_recording_says_what_it_is_of():
    assert "recorded: GRU, RNN, sequences of 30 steps" in adding_problem.source([lane(), lane("rnn")])
