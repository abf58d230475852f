"""Runs a self-test in the background: callers wait a moment, once, and then get "still being tested".

A success lasts as long as the process. A failure is tested again after a minute, at the next question: a machine may
have been too busy at the start, and what was missing may be installed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

MOMENT = 2.0  # seconds, less than the lease of a running answer
AGAIN = 60.0  # seconds between a failure and the next test
STILL = "Its self-test runs now. Reload the page in a moment."


class CachedTest:
    """The newest result of a self-test: why something cannot run, "" if it can."""

    def __init__(self, test: Callable[[], str], clock: Callable[[], float]) -> None:
        self._test, self._clock = test, clock
        self._found = STILL
        self._tested = 0.0
        self._running = False
        self._lock, self.done = threading.Lock(), threading.Event()

    def result(self) -> str:
        """Return the newest result, and begin a test if it is time for one."""
        with self._lock:
            if self._is_due():
                self._running = True
                threading.Thread(target=self._run, name="self-test", daemon=True).start()
            return self._found

    def _is_due(self) -> bool:
        over = self._found == STILL or self._clock() - self._tested >= AGAIN
        return bool(self._found) and not self._running and over

    def _run(self) -> None:
        try:
            found = self._test()
        except Exception as error:
            found = f"Its self-test broke: {type(error).__name__}."
        with self._lock:
            self._found, self._tested, self._running = found, self._clock(), False
        self.done.set()


def cached_test(
    test: Callable[[], str], moment: float = MOMENT, clock: Callable[[], float] = time.monotonic
) -> Callable[[], str]:
    """Return the same function with a cached result; only its first caller waits for it, `moment` seconds at most."""
    cached, waited = CachedTest(test, clock), threading.Lock()

    def answer() -> str:
        found = cached.result()
        if found == STILL and waited.acquire(blocking=False):
            cached.done.wait(moment)
            return cached.result()
        return found

    return answer
