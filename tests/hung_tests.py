"""A plugin of pytest: a test that hangs fails where it hangs, with the stacks of all threads, and the others run.

`faulthandler_timeout` ends the whole process instead: what the test started stays, and pytest-xdist may wait for ever.
"""

from __future__ import annotations

import faulthandler
import signal
import sys
from collections.abc import Generator

import pytest

SHARE = 0.9  # of the time after which the process is ended
AGAIN = 0.05  # of the same time: what hangs once more while the exception leaves it


@pytest.hookimpl(wrapper=True)
def _limited(item: pytest.Item) -> Generator[None, object, object]:
    longest = float(item.config.getini("faulthandler_timeout") or 0)

    def end(*_: object) -> None:
        faulthandler.dump_traceback(sys.__stderr__ or 2)
        pytest.fail(f"It did not end within {SHARE * longest:g} s.")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, SHARE * longest, AGAIN * longest)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


pytest_runtest_setup = pytest_runtest_call = pytest_runtest_teardown = _limited
