"""Compares what a short and a long run cost, so that a load on the machine does not decide."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

LEAST_ROUNDS, MOST_ROUNDS = 2, 5
FLOOR = 0.001  # seconds of the processor; what costs less shows no ratio


def grows_no_faster(
    run: Callable[[int], object], small: int, large: int, *, times: float = 3.0, enough: float = 0.0
) -> bool:
    """Whether a run of length `large` costs at most `times` its length in comparison with one of length `small`.

    Both are measured in turns, in time of this process alone, without garbage collection, which would count what other
    tests left behind. Other load can only add to a run, so the cheapest of each counts; more rounds follow as long as
    they do not agree. A long run that costs less than `enough` seconds shows no ratio, and passes. A quadratic
    run fails: its cheapest long run is `large / small` times too expensive.
    """
    limit = times * large / small
    shorts, longs = [FLOOR], [float("inf")]
    if _seconds(run, large) < enough:
        return True
    for done in range(MOST_ROUNDS):
        if done >= LEAST_ROUNDS and min(longs) < limit * max(FLOOR, min(shorts[1:])):
            return True
        shorts.append(_seconds(run, small))
        longs.append(_seconds(run, large))
    return min(longs) < limit * max(FLOOR, min(shorts[1:]))


def _seconds(run: Callable[[int], object], length: int) -> float:
    enabled = gc.isenabled()
    gc.disable()
    try:
        begun = time.process_time()
        run(length)
        return time.process_time() - begun
    finally:
        if enabled:
            gc.enable()
