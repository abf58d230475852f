"""Reads numbers that servers report; one that no model, disk or column of a table can have counts as not reported."""

from __future__ import annotations

from typing import Any

# Largest number of tokens and milliseconds in the columns of both databases.
MOST = 2**31 - 1
# Largest number of bytes and parameters; sums of thousands still fit.
MOST_BYTES = 2**50


def whole(value: Any, most: int = MOST) -> int | None:
    """Return a whole number from 0 to `most`, None for everything else."""
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most
    return value if fits else None


def milliseconds(value: Any, unit: float = 1) -> float | None:
    """Return a duration, of which one millisecond has `unit` parts; None for everything else, NaN included."""
    fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST * unit
    return value / unit if fits else None
