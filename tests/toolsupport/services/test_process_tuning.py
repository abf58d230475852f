"""The settings of the interpreter and of its memory, each in effect."""

import asyncio
import ctypes
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from toolsupport.services import process_tuning

C = ctypes.CDLL(None)
glibc = pytest.mark.skipif(not hasattr(C, "malloc_info"), reason="the C library is not glibc")
BLOCK, BLOCKS = 1000, 60_000
# Eight threads that all hold memory at once; then the parts of the heap by glibc's own report.
PARTS_OF_THE_HEAP = """
import ctypes, sys, threading
from toolsupport.services import process_tuning
if sys.argv[1] == "shared":
    process_tuning.share_the_heap()
C = ctypes.CDLL(None)
C.malloc.restype = C.fdopen.restype = ctypes.c_void_p
together = threading.Barrier(8)
def hold():
    together.wait()
    C.malloc(ctypes.c_size_t(1000))
    together.wait()
threads = [threading.Thread(target=hold) for _ in range(8)]
for each in threads: each.start()
for each in threads: each.join()
out = ctypes.c_void_p(C.fdopen(1, b"w"))
C.malloc_info(0, out)
C.fflush(out)
"""


def parts_of_the_heap(how: str) -> int:
    seen = subprocess.run([sys.executable, "-c", PARTS_OF_THE_HEAP, how], capture_output=True, text=True, check=True)
    return seen.stdout.count("<heap nr=")


@glibc
def test_all_threads_share_two_parts_of_the_heap() -> None:
    assert parts_of_the_heap("apart") > 2
    assert parts_of_the_heap("shared") <= 2


@glibc
def test_freed_memory_is_returned_to_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """Free blocks below one that is still used."""
    C.malloc.restype, C.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    blocks = [C.malloc(ctypes.c_size_t(BLOCK)) for _ in range(BLOCKS)]
    for block in blocks:
        ctypes.memset(block, 1, BLOCK)
    for block in blocks[:-1]:
        C.free(block)
    kept = resident()
    monkeypatch.setattr(process_tuning, "TRIM_SECONDS", 0.0)
    try:
        asyncio.run(must_trim_until(lambda: resident() < kept - BLOCK * BLOCKS // 2))
    finally:
        C.free(blocks[-1])


async def must_trim_until(enough: Callable[[], bool]) -> None:
    """Raises TimeoutError."""
    work = asyncio.create_task(process_tuning.return_freed_memory())
    try:
        async with asyncio.timeout(20):
            while not enough():
                await asyncio.sleep(0)
    finally:
        work.cancel()


def resident() -> int:
    """Return the bytes of this process that are in memory."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) * 1024


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    process_tuning.share_the_heap()
    assert asyncio.run(process_tuning.return_freed_memory()) is None


def test_threads_give_the_interpreter_back_within_a_millisecond() -> None:
    before = sys.getswitchinterval()
    try:
        process_tuning.switch_threads_often()
        assert sys.getswitchinterval() <= 0.001
    finally:
        sys.setswitchinterval(before)
