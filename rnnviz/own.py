"""Own numbers, pasted or from a CSV file: text to rows and back; standard library only.

A row of the text is a step, a column an input. Rows are counted as an editor or a spreadsheet counts them, from 1, the
header and empty ones included.
"""

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rnnviz import arguments
from rnnviz.arguments import Name

if TYPE_CHECKING:
    Table = tuple[tuple[float, ...], ...]
else:
    Table = object  # wide at run time, as the annotations in arguments.py are

STEPS, WIDTH, LARGEST = 200, 8, 1e6
LONGEST = 50_000
"""Characters: 200 rows of 8 numbers with all their digits, and some blanks."""

TAKES = "it takes a number, as 0.5 or −2"
SIGNS = str.maketrans({"−": "-", "－": "-", "﹣": "-", "＋": "+", "．": ".", "，": ",", "；": ";", "\u3000": " "})
NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
WITH_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
UNKNOWN = re.compile(r"[+-]?(?:nan|inf|infinity)|#?n/a|null|none", re.IGNORECASE)


def table(text: Name) -> Table:
    """The rows of a text, a step each: text = rows of numbers between commas, semicolons, tabs or blanks.

    Which of them separates is found; where it is no comma, 0,5 is a number too. Empty rows and a byte order mark are
    skipped, a first row without any number is a header. rows [steps, inputs]: at most STEPS, WIDTH and LARGEST.
    ValueError names row, column, what stands there and what to do. Source: as CSV, RFC 4180 (2005), without quotes
    around separators.
    """
    if not isinstance(text, str):
        raise ValueError(f"the numbers are {arguments.shown(text)}: they take a text, a row a step")
    lines = text.removeprefix("\ufeff").splitlines()
    rows = [(at, line.translate(SIGNS)) for at, line in enumerate(lines, 1) if line.strip()]
    if len(text) > LONGEST and len(rows) <= STEPS:
        raise ValueError(
            f"the text has {len(text):,} characters: it takes at most {LONGEST:,}, so give the numbers fewer digits"
        )
    if not rows:
        raise ValueError("there is nothing to read: paste numbers, a row a step, a column an input")
    first = [line[:LONGEST] for _, line in rows[: STEPS + 1]]
    mark = _separator(first)
    if not any(_is_number(cell, mark) for cell in _cells(first[0], mark)):
        rows, mark = rows[1:], _separator(first[1:])
        if not rows:
            raise ValueError(f"there is no number: {TAKES}, a row a step; a first row without one is only a header")
    if len(rows) > STEPS:
        raise ValueError(f"there are {len(rows):,} rows: at most {STEPS} are taken, so leave some out")
    found = [(at, _cells(line, mark)) for at, line in rows]
    _check_width(found)
    commas = _decimal_commas(found, mark)
    return tuple(tuple(_value(cell, at, n, commas) for n, cell in enumerate(cells, 1)) for at, cells in found)


def write(rows: Table) -> str:
    """The shortest text that table() reads back exactly: table(write(rows)) = rows, for links.

    rows [steps, inputs], within STEPS, WIDTH and LARGEST. ValueError names row and column. Source: shortest digits that
    read back, Steele and White (1990), as Python's repr has them.
    """
    values = rectangle("rows", rows)
    if len(values) > STEPS or len(values[0]) > WIDTH:
        raise ValueError(f"rows is {len(values)} by {len(values[0])}: at most {STEPS} by {WIDTH} are written")
    for at, row in enumerate(values, 1):
        for n, value in enumerate(row, 1):
            if abs(value) > LARGEST:
                raise ValueError(f"row {at}, column {n} is {value!r}: it takes at most {LARGEST:,.0f} in size")
    return "\n".join(",".join(map(_shortest, row)) for row in values)


def rectangle(name: str, values: object) -> Table:
    """values as rows of finite floats, all of one length; ValueError names row, column and what stands there."""
    takes = "it takes rows of numbers, a row a step, all of one length"
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ValueError(f"{name} is {arguments.shown(values)}: {takes}")
    rows: list[tuple[float, ...]] = []
    for at, row in enumerate(values, 1):
        if isinstance(row, str | bytes) or not isinstance(row, Iterable):
            raise ValueError(f"{name}, row {at} is {arguments.shown(row)}: {takes}")
        rows.append(tuple(arguments.number(f"{name}, row {at}, column {n}", v) for n, v in enumerate(row, 1)))
        if len(rows[-1]) != len(rows[0]) or not rows[-1]:
            raise ValueError(f"{name}, row {at} has {_columns(len(rows[-1]))}: {takes}")
    if not rows:
        raise ValueError(f"{name} is {arguments.shown(values)}: {takes}, at least one")
    return tuple(rows)


def _separator(lines: list[str]) -> str:
    """What separates the numbers: ";", a tab, ",", or "" for blanks."""
    if any(";" in line for line in lines):
        return ";"
    if any("\t" in line.strip(" ") for line in lines):
        return "\t"
    words = [word for line in lines for word in line.split()]
    beside = len(words) > len(lines)  # several in a line: blanks stand between them
    commas = [word for word in words if "," in word]
    if not commas or (beside and all(WITH_COMMA.fullmatch(word) for word in commas)):
        return ""
    return ","


def _cells(line: str, mark: str) -> list[str]:
    if not mark:
        return line.split()
    return [_bare(cell.strip()) for cell in line.split(mark)]


def _bare(cell: str) -> str:
    """Without the quotes that spreadsheets write around a cell."""
    return cell[1:-1].strip() if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def _is_number(cell: str, mark: str) -> bool:
    """Also one that is refused: a header has none at all."""
    comma = mark != "," and WITH_COMMA.fullmatch(cell)
    return bool(NUMBER.fullmatch(cell) or comma or UNKNOWN.fullmatch(cell))


def _check_width(found: list[tuple[int, list[str]]]) -> None:
    width = max((len(cells) for _, cells in found), key=[len(cells) for _, cells in found].count)
    for at, cells in found:
        if len(cells) != width:
            rest = f"the others have {width}: fill in what is missing, or take out what is too much"
            raise ValueError(f"row {at} has {_columns(len(cells))}, {rest}")
    if width > WIDTH:
        raise ValueError(f"there are {width:,} columns: at most {WIDTH} are taken, so leave some out")


def _decimal_commas(found: list[tuple[int, list[str]]], mark: str) -> bool:
    """Whether 0,5 is a number; ValueError where a comma and a point both stand for it, for 1,234 may be either."""
    if mark == ",":
        return False
    cells = [(cell, at, n) for at, row in found for n, cell in enumerate(row, 1)]
    commas = [place for place in cells if WITH_COMMA.fullmatch(place[0])]
    if commas and any("." in cell and NUMBER.fullmatch(cell) for cell, _, _ in cells):
        cell, at, n = commas[0]
        raise ValueError(
            f"row {at}, column {n} is {arguments.shown(cell)}, and others have a point: use one of the two"
        )
    return bool(commas)


def _value(cell: str, row: int, column: int, commas: bool) -> float:
    where = f"row {row}, column {column}"
    if not cell:
        raise ValueError(f"{where} is empty: {TAKES}; write 0 where there is nothing")
    text = cell.replace(",", ".") if commas and WITH_COMMA.fullmatch(cell) else cell
    if UNKNOWN.fullmatch(cell):
        raise ValueError(
            f"{where} is {arguments.shown(cell)}: it takes a finite number; fill it in, or leave the row out"
        )
    if not NUMBER.fullmatch(text):
        raise ValueError(f"{where} is {arguments.shown(cell)}: {TAKES}")
    value = float(text)
    if abs(value) > LARGEST:
        raise ValueError(
            f"{where} is {arguments.shown(cell)}: it takes at most {LARGEST:,.0f} in size, so scale it down"
        )
    return value


def _shortest(value: float) -> str:
    """The shortest of the ways to write a float exactly: 0.5 is .5, 1e-05 is 1e-5, 1200000.0 is 12e5."""
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    mantissa, exponent = f"{abs(value)!r}e0".split("e")[:2]
    whole, _, part = mantissa.partition(".")
    digits, power = whole + part, int(exponent) - len(part)
    kept = digits.rstrip("0")
    if not kept:
        return f"{sign}0"
    power += len(digits) - len(kept)
    kept = kept.lstrip("0")
    scientific = f"{kept}e{power}"
    if power >= 0:
        plain = kept + "0" * power
    else:
        padded = kept.rjust(-power, "0")
        plain = f"{padded[:power]}.{padded[power:]}"
    return sign + min(plain, scientific, key=len)


def _columns(count: int) -> str:
    return f"{count:,} column{'' if count == 1 else 's'}"
