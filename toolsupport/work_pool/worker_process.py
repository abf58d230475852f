"""Starts, asks and kills one worker process."""

from __future__ import annotations

import json
import math
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from toolsupport.work_pool.types import OverBudget, Task, WorkFailed, WorkTimedOut

ROOT = str(Path(__file__).resolve().parents[2])
PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from toolsupport.work_pool.worker import main; main()"
MOST_BYTES = 16 * 1024 * 1024
# What starting adds to the time of the first task.
START = 10.0


class WorkerProcess:
    """One worker, which does one task after the other."""

    def __init__(self) -> None:
        mine, theirs = socket.socketpair()
        with theirs:
            self._process: subprocess.Popen[bytes] = subprocess.Popen(
                [sys.executable, "-I", "-c", PROGRAM, ROOT],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"LANG": "C.UTF-8"},
                cwd="/",
                start_new_session=True,
            )
        self._socket = mine
        self._spent = 0.0  # seconds of processor time, up to the last answer
        self.used = False

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def at_work(self) -> float:
        """Return the processor time since the last answer in seconds; infinite where the system does not show it."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return math.inf
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK") - self._spent

    def ask(self, task: Task, arguments: Sequence[Any]) -> Any:
        """Return the result of a task. Raises OverBudget, WorkTimedOut or WorkFailed."""
        ends = time.monotonic() + task.wall + (0.0 if self.used else START)
        self.used = True
        request = {"function": task.function, "arguments": list(arguments), "cpu": task.cpu}
        try:
            answer = self._exchanged(json.dumps(request).encode(), ends)
        except (OSError, ValueError) as error:
            spent = self.kill() - self._spent
            if isinstance(error, TimeoutError) and spent < task.cpu:
                raise WorkTimedOut(f"{task.function} had only {spent:.1f} s of processor time") from None
            raise OverBudget(f"{task.function} was stopped") from None
        self._spent = answer["spent"]
        if answer["last"]:
            self.kill()
        if "result" in answer:
            return answer["result"]
        if "over" in answer:
            raise OverBudget(f"{task.function} needs too much {answer['over']}")
        raise WorkFailed(f"{task.function} failed: {answer['failed']}")

    def _exchanged(self, request: bytes, ends: float) -> dict[str, Any]:
        """Raises OSError (TimeoutError included) or ValueError."""
        self._socket.settimeout(max(0.001, ends - time.monotonic()))
        self._socket.sendall(len(request).to_bytes(4, "big") + request)
        length = int.from_bytes(self._read(4, ends), "big")
        if length > MOST_BYTES:
            raise ValueError("the answer is too long")
        answer: dict[str, Any] = json.loads(self._read(length, ends))
        return answer

    def _read(self, length: int, ends: float) -> bytes:
        found = bytearray()
        while len(found) < length:
            self._socket.settimeout(max(0.001, ends - time.monotonic()))
            piece = self._socket.recv(length - len(found))
            if not piece:
                raise ConnectionResetError("the worker ended")
            found += piece
        return bytes(found)

    def interrupt(self) -> None:
        """Kill the process from another thread; the one that waits for its answer reaps it."""
        self._process.kill()

    def kill(self) -> float:
        """Kill and reap the process, and return its processor time in seconds; 0 if it was reaped before."""
        self._process.kill()
        spent = 0.0
        if self._process.returncode is None:
            with suppress(ChildProcessError):  # another thread has just reaped it
                _, status, usage = os.wait4(self.pid, 0)
                self._process.returncode = os.waitstatus_to_exitcode(status)
                spent = usage.ru_utime + usage.ru_stime
        self._socket.close()
        return spent
