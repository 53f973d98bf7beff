"""The reach: the first lag at which less than 1 % is left."""

import math

import numpy as np
import pytest

from rnnviz.results import Transport, reach


def decay(factor, steps):
    """ln of factor**lag, from lag = steps down to 0."""
    return math.log(factor) * np.arange(steps, -1, -1.0)


@pytest.mark.parametrize(
    ("log_norm", "expected"),
    [
        (decay(0.5, 20), 7),  # 0.5**6 = 0.0156, 0.5**7 = 0.0078
        (decay(0.5, 7), 7),
        (decay(0.5, 6), None),
        (decay(1.0, 100), None),
        (decay(2.0, 100), None),
        (decay(0.2, 5), 3),
        (np.array([0.0]), None),
        (np.array([-math.inf, 0.0]), 1),
        (np.array([math.nan, 0.0, 0.0]), 2),
        (np.array([0.0, -9.0, 0.0]), 1),  # the first lag, though more is left further back
        (np.array([-4.0, 7.0]), 1),  # relative to the last step
        (np.array([3.0, 7.0]), None),
    ],
)
def test_reach(log_norm, expected):
    assert reach(log_norm) == expected
    rest = np.zeros(len(log_norm))
    assert Transport(log_norm, rest, rest, rest).reach == expected


def test_the_reach_of_a_long_memory():
    """ST-06: 0.99 a step leaves 1 % after 459 steps, ln 0.01 / ln 0.99 = 458.2."""
    assert reach(decay(0.99, 458)) is None
    assert reach(decay(0.99, 1000)) == 459
