"""What Keep writes: exact numbers, and nothing that a spreadsheet or a parser trips over."""

import csv
import io
import json
import math

import numpy as np

from rnnviz.ui.downloads import as_csv, as_json

DATA = {"n": range(3), "x": np.array([0.1, math.nan, -math.inf]), "short": np.array([1e-300])}


def test_csv_holds_every_digit_and_leaves_missing_cells_empty():
    rows = list(csv.DictReader(io.StringIO(as_csv(DATA))))
    assert [float(row["x"]) for row in rows[:1]] == [0.1]
    assert [row["x"] for row in rows[1:]] == ["nan", "-inf"]
    assert [row["short"] for row in rows] == ["1e-300", "", ""]
    assert as_csv({}).strip() == ""


def test_json_is_strict_and_says_null_for_what_is_not_finite():
    read = json.loads(as_json(DATA), parse_constant=lambda name: 1 / 0)
    assert read == {"n": [0, 1, 2], "x": [0.1, None, None], "short": [1e-300]}


def test_letters_stand_plain_and_a_table_has_a_column_a_unit():
    rows = list(csv.DictReader(io.StringIO(as_csv({"letter": ["H", ","], "h": np.array([[1.0, 2.0], [3.0, 4.0]])}))))
    assert rows == [{"letter": "H", "h_1": "1.0", "h_2": "2.0"}, {"letter": ",", "h_1": "3.0", "h_2": "4.0"}]
