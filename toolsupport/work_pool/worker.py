"""Runs the tasks of one worker process: requests come in by a socket at descriptor 0, results leave by it.

A message is four bytes of length and a JSON value. The process ends when its parent closes the socket or ceases to
exist. No Django: the process starts quickly and stays small.
"""

from __future__ import annotations

import json
import os
import resource
import select
import threading
import time
from contextlib import suppress
from importlib import import_module
from typing import Any, BinaryIO

from toolsupport.work_pool import cpu_time_limit
from toolsupport.work_pool.cpu_time_limit import CpuBudget, Interrupted

MIB = 1024 * 1024
LIMITS = (
    (resource.RLIMIT_AS, 512 * MIB),
    # Compiled modules may be written.
    (resource.RLIMIT_FSIZE, 16 * MIB),
    (resource.RLIMIT_NOFILE, 64),
    (resource.RLIMIT_CORE, 0),
)
# Requests of people come first: the server's own processes are not slowed down by this one.
NICENESS = 10
# A worker that has become larger than this ends after its answer, and a new one is started at need.
LARGEST = 40 * MIB


def main() -> None:
    """Answer requests until there are no more, or until this process should be replaced."""
    _restrict()
    cpu_time_limit.install()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    received, sent = os.fdopen(0, "rb", closefd=False), os.fdopen(0, "wb", closefd=False)
    with suppress(BrokenPipeError, ConnectionResetError):
        while (request := _received(received)) is not None:
            answer = answered(request)
            answer |= {"last": "result" not in answer or size() > LARGEST, "spent": time.process_time()}
            written = json.dumps(answer).encode()
            sent.write(len(written).to_bytes(4, "big") + written)
            sent.flush()
            if answer["last"]:
                return


def _end_with_parent() -> None:
    """End this process, also in the middle of a task, when the other end of the socket is closed or killed."""
    hangup = select.poll()
    hangup.register(0, 0)
    hangup.poll()
    os._exit(1)


def _restrict() -> None:
    os.nice(NICENESS)
    for limit, most in LIMITS:
        # macOS refuses some of them.
        with suppress(ValueError, OSError):
            resource.setrlimit(limit, (most, most))


def _received(source: BinaryIO) -> dict[str, Any] | None:
    length = source.read(4)
    if len(length) < 4:
        return None
    written = source.read(int.from_bytes(length, "big"))
    request: dict[str, Any] = json.loads(written)
    return request


def answered(request: dict[str, Any]) -> dict[str, Any]:
    """Return {"result": …}, {"over": reason} or {"failed": error and place, without its text}."""
    try:
        module, _, name = request["function"].partition(":")
        function = getattr(import_module(module), name)
        _limit_system_time(request["cpu"])
        with CpuBudget(request["cpu"]):
            return {"result": function(*request["arguments"])}
    except Interrupted:
        return {"over": "processor time"}
    except MemoryError:
        return {"over": "memory"}
    except Exception as error:
        return {"failed": f"{type(error).__name__} at {_place(error)}"}
    finally:
        cpu_time_limit.forget()


def _limit_system_time(seconds: float) -> None:
    """Let the system kill this process if the timer does not interrupt the work: full seconds only."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + seconds) + 2, hard))


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}" if trace else "?"


def size() -> int:
    """Return the resident memory in bytes; where only its highest value is known, that."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
