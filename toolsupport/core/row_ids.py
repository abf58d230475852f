"""Parses the number of a row from an address or a form."""

from __future__ import annotations

MOST_DIGITS = 18  # digits; a longer text is no number of a row, and databases would refuse it


def row_number(text: str) -> int:
    """Return the number, 0 for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else 0
