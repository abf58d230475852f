"""Runs a program beside a test; it never outlives the test, whatever fails."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
def running(command: Sequence[str], **given: Any) -> Iterator[subprocess.Popen[Any]]:
    """Yield the process. `subprocess.Popen` alone would wait for ever for one that an exception left running."""
    with subprocess.Popen(command, **given) as process:
        try:
            yield process
        finally:
            process.kill()
