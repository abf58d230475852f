"""Writes CSV that a spreadsheet program opens without running any formula in it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

# Excel, LibreOffice and Google Sheets take a cell that begins so for a formula; the last four are full-width forms,
# which some of them read alike. A line break in front is skipped by the programs before they look.
_FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
# A number is no formula, and a quote in front would make it text.
_NUMBER = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,4})?")
# The largest cell that is read; the limit of the csv module (128 KiB) is too low for a result.
_LONGEST_CELL = 16 * 1024 * 1024


def cell(value: Any) -> str:
    """Return a value as a cell; a text that looks like a formula gets a leading apostrophe. None is empty."""
    text = "" if value is None else str(value)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def lines(rows: Iterable[Iterable[Any]]) -> str:
    """Return rows of values as CSV with safe cells."""
    written = io.StringIO()
    csv.writer(written).writerows([cell(value) for value in row] for row in rows)
    return written.getvalue()


def safe(text: str) -> str:
    """Return a CSV text with safe cells. A lone carriage return ends a row, as in programs that open it."""
    csv.field_size_limit(_LONGEST_CELL)
    return lines(csv.reader(io.StringIO(text, newline="")))
