"""Own numbers: what is read, what is refused in which words, and that what is written is read back."""

import math
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.own import LARGEST, LONGEST, STEPS, WIDTH, rectangle, table, write

NUMBERS = st.floats(-LARGEST, LARGEST)
ROWS = st.integers(1, WIDTH).flatmap(
    lambda width: st.lists(st.tuples(*[NUMBERS] * width), min_size=1, max_size=12).map(tuple)
)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("1,2\n3,4", [[1, 2], [3, 4]]),
        ("1, 2\r\n3 ,4\r\n", [[1, 2], [3, 4]]),
        ("1;2\n3;4.5", [[1, 2], [3, 4.5]]),
        ("1,5;2\n−3;0,25", [[1.5, 2], [-3, 0.25]]),
        ("1\t2\n3,5\t4", [[1, 2], [3.5, 4]]),
        ("1 2\n3   4", [[1, 2], [3, 4]]),
        ("1,5 2,5\n3 4", [[1.5, 2.5], [3, 4]]),
        ("1,5 2,5", [[1.5, 2.5]]),
        ("1,5\n2,5", [[1, 5], [2, 5]]),  # between commas, a comma separates
        ("5", [[5]]),
        ("\n\n.5\n\n 1. \n", [[0.5], [1]]),
        ("\ufeffvalue;mark\n1,5;0\n", [[1.5, 0]]),
        ("x1,x2\n1e3,-2E-3\n", [[1000, -0.002]]),
        ("a, b\n1,5 2,5", [[1.5, 2.5]]),
        ('"t","v"\n"1","2"', [[1, 2]]),
        ("１，２\n−３，+4", [[1, 2], [-3, 4]]),
        ("１．５\u3000２\n", [[1.5, 2]]),
        (f"{LARGEST:.0f},{-LARGEST:.0f}", [[1e6, -1e6]]),
        ("0\n" * STEPS, [[0]] * STEPS),
        (",".join("1" * WIDTH), [[1] * WIDTH]),
    ],
)
def test_a_text_is_a_row_a_step_and_a_column_an_input(text, rows):
    assert table(text) == tuple(map(tuple, rows))
    assert all(type(value) is float for row in table(text) for value in row)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "there is nothing to read: paste numbers"),
        (" \n\t\n\ufeff", "there is no"),
        ("value", "there is no number: it takes a number, as 0.5 or −2"),
        ("1,2\n3", "row 2 has 1 column, the others have 2: fill in what is missing"),
        ("1 2\n\n3 4 5\n6 7", "row 3 has 3 columns, the others have 2"),
        ("a,b\n1,2\n,4", "row 3, column 1 is empty: it takes a number"),
        ("1,2,\n3,4,", "row 1, column 3 is empty"),
        ("1\t\t2\n3\t4\t5", "row 1, column 2 is empty"),
        ("1,2\n3,four", "row 2, column 2 is 'four': it takes a number, as 0.5 or −2"),
        ("1;2,3,4", "row 1, column 2 is '2,3,4': it takes a number"),
        ("1;1,234\n5.5;6", "row 1, column 2 is '1,234', and others have a point: use one of the two"),
        ("1\n1_0", "row 2, column 1 is '1_0'"),
        ("1\nNaN", "row 2, column 1 is 'NaN': it takes a finite number"),
        ("nan\n1", "row 1, column 1 is 'nan': it takes a finite number"),
        ("1,-inf", "row 1, column 2 is '-inf': it takes a finite number"),
        ("1\n2000000", "row 2, column 1 is '2000000': it takes at most 1,000,000 in size, so scale it down"),
        ("1e400", "row 1, column 1 is '1e400': it takes at most 1,000,000"),
        ("1\n" * 201, "there are 201 rows: at most 200 are taken"),
        ("v\n" + "1\n" * 100_000, "there are 100,000 rows: at most 200 are taken"),
        ("1 2 3 4 5 6 7 8 9", "there are 9 columns: at most 8 are taken"),
        ("1" * (LONGEST + 1), "the text has 50,001 characters: it takes at most 50,000"),
        (None, "the numbers are None: they take a text"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place_and_a_remedy(text, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        table(text)


@pytest.mark.parametrize("piece", [*'1,;\t-+.e x"\ufeff−１', "1e", "1,", "1,1 ", "1\n", "9.9;", "\r", "nan,", "\x85"])
def test_ten_thousand_characters_of_anything_are_answered_at_once(piece):
    began = time.perf_counter()
    with pytest.raises(ValueError, match=r"^.{20,200}$"):
        table((piece * 10_000)[:10_000])
    assert time.perf_counter() - began < 0.5


@given(st.text(max_size=60) | st.text("0159,;.\t\n -e", max_size=40))
def test_any_text_is_read_or_refused_in_words(text):
    try:
        rows = table(text)
    except ValueError:
        return
    assert 1 <= len(rows) <= STEPS
    assert {len(row) for row in rows} == {len(rows[0])}
    assert all(math.isfinite(value) for row in rows for value in row)


@given(ROWS)
def test_what_is_written_is_read_back_exactly_and_never_longer_than_pythons_own_digits(rows):
    text = write(rows)
    again = table(text)
    assert again == rows
    assert [math.copysign(1, v) for row in again for v in row] == [math.copysign(1, v) for row in rows for v in row]
    assert len(text) <= len("\n".join(",".join(map(repr, row)) for row in rows))


def test_it_is_written_short():
    values = (0.5, -0.25, 1.0, 0.0, 1e-05, 1.2e-9, 100000.0, 120.0)
    assert write((values,)) == ".5,-.25,1,0,1e-5,12e-10,1e5,120"
    assert write([[1], [2]]) == "1\n2"


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ((), "rows is (): it takes rows of numbers"),
        ("12", "rows is '12': it takes rows"),
        (5, "rows is 5: it takes rows"),
        ((1.0,), "rows, row 1 is 1.0: it takes rows"),
        (((1.0,), (1.0, 2.0)), "rows, row 2 has 2 columns"),
        (((),), "rows, row 1 has 0 columns"),
        (((1.0, math.nan),), "rows, row 1, column 2 is nan: it takes a finite number"),
        (((2e6,),), "row 1, column 1 is 2000000.0: it takes at most 1,000,000"),
        (((0.0,),) * 201, "rows is 201 by 1: at most 200 by 8"),
    ],
)
def test_what_cannot_be_written_is_refused(rows, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        write(rows)


def test_a_rectangle_is_tuples_of_floats():
    assert rectangle("values", [[1, 2], (3, 4.5)]) == ((1.0, 2.0), (3.0, 4.5))
