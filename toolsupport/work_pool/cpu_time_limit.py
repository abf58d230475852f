"""Interrupts a piece of work inside a worker once it has used its processor time.

A timer of the system counts the processor time of the process and sends a signal, whose handler raises. Regular
expressions are interrupted as well: CPython looks for signals while it matches. A function of C that never looks is
not; for it the worker has a limit of the system, and its parent a clock. Outside a worker nothing is limited.
"""

from __future__ import annotations

import signal
import time
from types import FrameType, TracebackType

# A handler may raise where an exception is ignored, for example in a destructor: it raises again after this time.
AGAIN = 0.02
SHORTEST = 0.0005


class Interrupted(BaseException):
    """The processor time is used up. No `except Exception` in a library may catch it."""


_ends: list[float] = []


class CpuBudget:
    """Limits the work inside `with` to some seconds of processor time, and to what is left of an outer budget."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        _ends.append(min([used() + self._seconds, *_ends[-1:]]))
        _set_timer()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if _ends:
            _ends.pop()
        _set_timer()


def used() -> float:
    """Return the processor time of this process in seconds."""
    return time.process_time()


def install() -> None:
    """Make budgets effective in this process."""
    signal.signal(signal.SIGPROF, _interrupt)


def forget() -> None:
    """Remove all budgets: an interruption may have come while one was being removed."""
    _ends.clear()
    _set_timer()


def _interrupt(_: int, __: FrameType | None) -> None:
    if _ends and used() >= _ends[-1]:
        raise Interrupted
    _set_timer()


def _set_timer() -> None:
    if signal.getsignal(signal.SIGPROF) is not _interrupt:
        return
    left = max(SHORTEST, _ends[-1] - used()) if _ends else 0.0
    signal.setitimer(signal.ITIMER_PROF, left, AGAIN if _ends else 0.0)
