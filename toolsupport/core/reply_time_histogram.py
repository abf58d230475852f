"""Counts the times of replies in steps of a twentieth, from which the median and other shares are read."""

from __future__ import annotations

import math
from collections.abc import Mapping

STEP = 1.05
LONGEST = 400  # steps: more than three days


def step_of(milliseconds: int) -> int:
    """Return the step in which a time is counted; a step is a twentieth longer than the one before."""
    return min(LONGEST, round(math.log(max(1, milliseconds), STEP)))


def text(seconds: float) -> str:
    """Format 0.4 as "400 ms" and 9.2 as "9.2 s"."""
    return f"{seconds:g} s" if seconds >= 1 else f"{seconds * 1000:g} ms"


def seconds_at(counts: Mapping[int, int], share: float) -> float:
    """Return the time within which this share of the replies came, to two digits; 0 for no reply."""
    wanted, counted = share * sum(counts.values()), 0
    for step in sorted(counts):
        counted += counts[step]
        if counted >= wanted:
            return float(f"{STEP**step / 1000:.2g}")
    return 0.0
