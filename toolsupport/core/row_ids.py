"""Reads the number of a row as an address or a form has it."""

from __future__ import annotations

MOST_DIGITS = 18  # whatever has more is no number of a row, and no database would look it up


def row_number(text: str) -> int:
    """The number, 0 for whatever is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else 0
