"""Computes the bars and the line of a table with one column of names and one of numbers."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")

# Rows from which a line shows more than two bars do.
FEWEST = 3
SHOWN_ROWS = 100


@dataclass(frozen=True, slots=True)
class LineChart:
    """The points of a line in a box of 100 by 40, and what it shows in one sentence."""

    points: str
    text: str


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
    return line(head, rows[:SHOWN_ROWS]) is not None


def lengths(rows: Sequence[Sequence[str]]) -> list[float] | None:
    """Return the length of each row's bar in percent of the longest; None if bars would not fit these rows.

    They fit two rows or more of two cells, where the second cells are numbers of at least 0 and the first are names.
    """
    if len(rows) < 2 or any(len(row) != 2 for row in rows):
        return None
    if not all(NUMBER.fullmatch(number) for _, number in rows) or all(NUMBER.fullmatch(name) for name, _ in rows):
        return None
    numbers = [float(number) for _, number in rows]
    most = max(numbers)
    if min(numbers) < 0 or most == 0:
        return None
    return [round(100 * number / most, 1) for number in numbers]


def line(head: Sequence[str], rows: Sequence[Sequence[str]]) -> LineChart | None:
    """Return the line through the numbers, from left to right; None where bars would not fit, or for few rows."""
    found = lengths(rows)
    if found is None or len(found) < FEWEST or len(head) != 2:
        return None
    step = 100 / (len(found) - 1)
    points = " ".join(f"{number * step:.1f},{40 - 0.4 * length:.1f}" for number, length in enumerate(found))
    low, high = (pick(rows, key=lambda row: float(row[1])) for pick in (min, max))
    return LineChart(
        points,
        f"{head[1]} by {head[0]}, {len(rows)} points: lowest {low[1]} at {low[0]}, highest {high[1]} at {high[0]}.",
    )
