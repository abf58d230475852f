"""Computes the bars and the line of a table with one column of names and one of numbers."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import NamedTuple

# Numbers as databases write them: averages have up to 17 digits after the point, large floats an exponent.
NUMBER = re.compile(r"[-+]?\d{1,18}(?:\.\d{1,20})?(?:[eE][-+]?\d{1,2})?")

# From this many rows on a line chart is drawn too.
FEWEST = 3
SHOWN_ROWS = 100
LONGEST_NAME = 60


class Bar(NamedTuple):
    """Where the bar of a row begins and how long it is, in percent of the width."""

    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Chart:
    """The column of the numbers with the bar of each row, None where it has no number; the path of a line in a box of
    100 by 40 with its sentence, "" for few rows.
    """

    column: int
    bars: Sequence[Bar | None]
    path: str = ""
    text: str = ""


def query_table(text: str) -> tuple[list[list[str]], str]:
    """Return the lines of a query's result, its header first, and the note below them."""
    content, _, note = text.rpartition("\n\n[")
    try:
        return list(csv.reader(io.StringIO(content))) or [[]], note.rstrip("]")
    except csv.Error:  # a result that was kept before cells with a carriage return were quoted
        return [[line] for line in content.split("\n")], note.rstrip("]")


def fit(text: str) -> bool:
    """Whether a query's result can be drawn as bars and as a line."""
    head, *rows = query_table(text)[0]
    drawn = chart(head, rows[:SHOWN_ROWS])
    return drawn is not None and bool(drawn.path)


def chart(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Chart | None:
    """Return the bars of these rows and the line through them; None where one of two columns is not all numbers.

    An empty cell is no number. Numbers in both columns are names and numbers if the first ones only rise or only fall,
    as years do.
    """
    column = _number_column(rows)
    if column is None or len(head) != 2:
        return None
    numbers = [float(row[column]) if row[column] else None for row in rows]
    known = [number for number in numbers if number is not None]
    low, high = min(0.0, *known), max(0.0, *known)
    if low == high:
        return None
    shares = [None if number is None else (number - low) / (high - low) * 100 for number in numbers]
    zero = -low / (high - low) * 100
    bars = [None if one is None else Bar(round(min(one, zero), 1), round(abs(one - zero), 1)) for one in shares]
    if len(known) < FEWEST:
        return Chart(column, bars)
    return Chart(column, bars, _path(shares), _sentence(head, rows, column))


def _number_column(rows: Sequence[Sequence[str]]) -> int | None:
    if any(len(row) != 2 for row in rows):
        return None
    first, second = ([row[column] for row in rows] for column in (0, 1))
    if _numbers(second) and (not _numbers(first) or _axis(first)):
        return 1
    return 0 if _numbers(first) and not _numbers(second) else None


def _numbers(cells: Sequence[str]) -> bool:
    """Whether two cells or more are numbers, and the others are empty."""
    given = [cell for cell in cells if cell]
    return len(given) >= 2 and all(NUMBER.fullmatch(cell) for cell in given)


def _axis(cells: Sequence[str]) -> bool:
    if not all(cells):
        return False
    steps = [float(before) < float(after) for before, after in pairwise(cells)]
    return len(set(cells)) == len(cells) and len(set(steps)) == 1


def _path(shares: Sequence[float | None]) -> str:
    """The line from left to right, with a gap where a number is missing; a lone point is a dot."""
    step = 100 / (len(shares) - 1)
    pieces: Iterator[list[str]] = (
        [f"{place * step:.1f} {40 - 0.4 * share:.1f}" for place, share in group if share is not None]
        for missing, group in groupby(enumerate(shares), key=lambda one: one[1] is None)
        if not missing
    )
    return "".join("M" + "L".join(piece) + ("h0" if len(piece) == 1 else "") for piece in pieces)


def _sentence(head: Sequence[str], rows: Sequence[Sequence[str]], column: int) -> str:
    known = [row for row in rows if row[column]]
    low, high = (pick(known, key=lambda row: float(row[column])) for pick in (min, max))
    title, by, least, most = (_short(cells[1 - column]) for cells in (head[::-1], head, low, high))
    return f"{title} by {by}, {len(known)} points: lowest {low[column]} at {least}, highest {high[column]} at {most}."


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
