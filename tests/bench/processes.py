"""Starts the processes that are measured, reads their cost from /proc, and stops them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TICKS = os.sysconf("SC_CLK_TCK")

# The client and the fake server share one core, what is measured has the other.
OURS, THEIRS = {0}, {1}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def pin(cores: set[int], pid: int = 0) -> None:
    """Keep a process on these cores, where the system can do that and has them."""
    if hasattr(os, "sched_setaffinity") and cores <= os.sched_getaffinity(0) | OURS | THEIRS and os.cpu_count() != 1:
        os.sched_setaffinity(pid, cores)


@contextmanager
def running(
    command: list[str], cores: set[int], env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A Python process for as long as the block lasts; its output goes to stderr."""
    process = subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, env={**os.environ, **(env or {})}, stdout=sys.stderr
    )
    pin(cores, process.pid)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until_answers(url: str, process: subprocess.Popen[bytes], seconds: float = 120) -> float:
    """Seconds until the address answers with anything at all. Raises RuntimeError where the process gave up."""
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        try:
            urllib.request.urlopen(url, timeout=1).close()
            return time.monotonic() - start
        except urllib.error.HTTPError:
            return time.monotonic() - start
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.02)
    raise RuntimeError(f"{url} does not answer")


def wait_until_listens(port: int, process: subprocess.Popen[bytes], seconds: float = 120) -> None:
    """Wait until something accepts connections there. Raises RuntimeError where the process gave up."""
    start = time.monotonic()
    while time.monotonic() - start < seconds and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.02)
    raise RuntimeError(f"port {port} does not answer")


def family(pid: int) -> list[int]:
    """The process and its children, as far as they still live."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError):  # a thread that ended since it was listed has no children
            found += [one for child in task.read_text().split() for one in family(int(child))]
    return found


def cost(pid: int) -> tuple[float, float]:
    """(CPU seconds so far, MiB) of a process and its children; pid 0 is nobody.

    The memory is all that the process has, and what each child has to itself: the rest of it they share.
    """
    cpu = memory = 0.0
    for one in family(pid) if pid else ():
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        cpu += (int(fields[11]) + int(fields[12])) / TICKS
        rows = dict(row.split(":") for row in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()[1:])
        counted = ("Rss",) if one == pid else ("Private_Clean", "Private_Dirty")
        memory += sum(int(rows[name].split()[0]) for name in counted) / 1024
    return cpu, memory
