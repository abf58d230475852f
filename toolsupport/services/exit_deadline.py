"""Ends this process at a deadline, even if work still runs in it.

The interpreter waits at its end for every thread of a pool, and a thread that is stuck in a database, a name server or
a file system cannot be interrupted. After the deadline the processes below this one are killed, the log names the
work that still ran, and the process ends with exit code 0.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType

log = logging.getLogger(__name__)

LOGGING = 0.2  # seconds for the last line: the log itself may be blocked
# If C code holds the interpreter's lock, the process ends only this much later.
HELD = 0.3
IDLE = "concurrent/futures/thread.py"
OURS = ("chat.", "toolsupport.")
NAME = "exit deadline"


class ExitDeadline:
    """The deadline of one process; `set` starts a thread that waits for it."""

    def __init__(self) -> None:
        self._at = float("inf")
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def set(self, seconds: float) -> None:
        """End this process in so many seconds, or at the earlier deadline if one is set."""
        with self._changed:
            self._at = min(self._at, time.monotonic() + seconds)
            self._changed.notify_all()
            left = self._at - time.monotonic()
        faulthandler.dump_traceback_later(left + LOGGING + HELD, exit=True, file=_nowhere())
        if self._thread is None:
            self._thread = threading.Thread(target=self._wait, name=NAME, daemon=True)
            self._thread.start()

    def _wait(self) -> None:
        with self._changed:
            while (left := self._at - time.monotonic()) > 0:
                self._changed.wait(left)
        last_line = threading.Thread(target=_log_what_runs, daemon=True)
        last_line.start()
        last_line.join(LOGGING)
        kill_children()
        os._exit(0)


def _nowhere() -> int:
    return os.open(os.devnull, os.O_WRONLY)


def _log_what_runs() -> None:
    log.warning("ended at the deadline; still running: %s", ", ".join(running()) or "unnamed work")


def running() -> list[str]:
    """Return the running work: the busy threads of this process with their places, and its child processes."""
    frames = sys._current_frames()
    found = []
    for thread in threading.enumerate():
        frame = frames.get(thread.ident or 0)
        own = thread.name == NAME or thread is threading.current_thread()
        if frame is not None and not own and not frame.f_code.co_filename.endswith(IDLE):
            found.append(f"thread {thread.name} at {_place(frame)}")
    return found + [f"process {child} ({_name(child)})" for child in children(os.getpid())]


def _place(frame: FrameType) -> str:
    """Return the innermost line of this project that a thread is in."""
    line = frame
    while line.f_back is not None and not line.f_globals.get("__name__", "").startswith(OURS):
        line = line.f_back
    line = line if line.f_globals.get("__name__", "").startswith(OURS) else frame
    return f"{line.f_globals.get('__name__')}:{line.f_lineno}"


def children(process: int) -> Iterator[int]:
    """Yield all descendants of a process; none if the system does not list them."""
    with suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield int(child)
                yield from children(int(child))


def _name(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return "ended"


def kill_children() -> None:
    """Kill every descendant of this process: those with a session of their own would stay."""
    for child in list(children(os.getpid())):
        with suppress(OSError):
            os.kill(child, signal.SIGKILL)


deadline = ExitDeadline()
