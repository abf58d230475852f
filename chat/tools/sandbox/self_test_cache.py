"""Runs a self-test in the background: callers wait a moment, once, and then get "still being tested"."""

from __future__ import annotations

import threading
from collections.abc import Callable

MOMENT = 2.0  # seconds, less than the lease of a running answer
STILL = "Its self-test runs now. Reload the page in a moment."


def cached_test(test: Callable[[], str], moment: float = MOMENT) -> Callable[[], str]:
    """Return the same function with a cached result, computed in a thread that starts at the first call."""
    lock, found, done = threading.Lock(), list[str](), threading.Event()
    begun = list[threading.Thread]()

    def run() -> None:
        try:
            found.append(test())
        except Exception as error:
            found.append(f"Its self-test broke: {type(error).__name__}.")
        done.set()

    def answer() -> str:
        with lock:
            if not begun:
                begun.append(threading.Thread(target=run, name="self-test", daemon=True))
                begun[0].start()
                done.wait(moment)
        return found[0] if done.is_set() else STILL

    return answer
