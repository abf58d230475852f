"""Cuts a write of many rows into steps, with pauses in which others write: SQLite keeps no queue of its writers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from django.db import connection

STEP = 50  # rows of one transaction
Row = TypeVar("Row")
Made = TypeVar("Made")


def of_each(rows: Sequence[Row], write: Callable[[Sequence[Row]], Made]) -> Iterator[Made]:
    """Write STEP rows at a time; each step is followed by a pause of the same length.

    Written rows stay if the process ends in between. A caller's transaction would hold its lock in the pauses, so
    there are none in it.
    """
    for first in range(0, len(rows), STEP):
        began = time.monotonic()
        yield write(rows[first : first + STEP])
        if first + STEP < len(rows) and not connection.in_atomic_block:
            time.sleep(time.monotonic() - began)
