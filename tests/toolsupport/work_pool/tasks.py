"""Functions that the tests of the pool run in its workers."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from toolsupport.work_pool.cpu_time_limit import CpuBudget, Interrupted


def echo(*values: Any) -> list[Any]:
    return list(values)


def about() -> dict[str, Any]:
    """What a test wants to learn about the process."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {
        "pid": os.getpid(),
        "django": "django" in sys.modules,
        "environment": sorted(os.environ),
        "resident": int(status["VmRSS"].split()[0]) * 1024,
        "peak": int(status["VmHWM"].split()[0]) * 1024,
    }


def spin() -> None:
    while True:
        pass


def spin_in_a_pattern() -> None:
    re.match(r"(a+)+$", "a" * 40 + "b")


def swallow() -> None:
    while True:
        with suppress(Exception):
            spin()


def spin_outside_python() -> None:
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)


def inner_budget() -> list[str]:
    """One part that uses up its own budget, then one that does not."""
    found = []
    try:
        with CpuBudget(0.02):
            spin()
    except Interrupted:
        found.append("interrupted")
    with CpuBudget(0.02):
        found.append("done")
    return found


def hold(path: str) -> str:
    """Wait until somebody writes into this pipe."""
    with open(path) as pipe:
        return pipe.read()


def remember() -> int:
    return len("x" * 2_000_000_000)


def grow() -> bool:
    """Become larger than a worker may stay."""
    sys.modules["ballast"] = bytearray(60 * 1024 * 1024)  # type: ignore[assignment]
    return True


def fail(text: str) -> None:
    raise ValueError(text)


def end() -> None:
    os._exit(3)
