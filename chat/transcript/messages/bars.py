"""Computes the lengths of the bars beside a table with one column of names and one of numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")


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
