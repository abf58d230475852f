"""The settings of the interpreter and of its memory, each in effect."""

import asyncio
import ctypes
import gc
import mmap
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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

# 32 MiB of objects; then the memory in huge pages, and all memory, by the kernel's own count, before and after.
MEMORY_IN_HUGE_PAGES = """
import ctypes
from pathlib import Path
from toolsupport.services import process_tuning
held = [bytes(400) for _ in range(80_000)]
for _ in range(2):
    counts = dict(line.split()[:2] for line in Path("/proc/self/smaps_rollup").read_text().splitlines()[1:])
    print(counts["AnonHugePages:"], counts["Rss:"])
    process_tuning._collapse(ctypes.CDLL(None), int(process_tuning.HUGE_PAGE.read_text()))
"""


@contextmanager
def blocks(number: int) -> Iterator[tuple[int, int]]:
    """Yield the address of some new blocks, none of them in memory, and the size of a huge page."""
    size = int(Path("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size").read_text())
    with mmap.mmap(-1, (number + 1) * size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        first = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        yield -(-first // size) * size, size


def can_collapse() -> bool:
    """Return whether the kernel moves memory into huge pages on request, asked without the product."""
    try:
        with blocks(1) as (block, size):
            ctypes.memset(block, 1, size)
            return bool(C.madvise(ctypes.c_void_p(block), ctypes.c_size_t(size), 25) == 0)
    except (OSError, AttributeError):
        return False


def in_memory(block: int, size: int) -> int:
    """Return how many pages of a block are in memory."""
    pages = ctypes.create_string_buffer(size // mmap.PAGESIZE)
    assert C.mincore(ctypes.c_void_p(block), ctypes.c_size_t(size), pages) == 0
    return pages.raw.count(1)


def parts_of_the_heap(how: str) -> int:
    seen = subprocess.run([sys.executable, "-c", PARTS_OF_THE_HEAP, how], capture_output=True, text=True, check=True)
    return seen.stdout.count("<heap nr=")


@glibc
def test_all_threads_share_two_parts_of_the_heap() -> None:
    assert parts_of_the_heap("apart") > 2
    assert parts_of_the_heap("shared") <= 2


@pytest.mark.skipif(not can_collapse(), reason="the kernel has no huge pages on request")
def test_memory_moves_into_huge_pages_and_hardly_grows() -> None:
    seen = subprocess.run([sys.executable, "-c", MEMORY_IN_HUGE_PAGES], capture_output=True, text=True, check=True)
    (before, whole), (after, grown) = ([int(count) for count in line.split()] for line in seen.stdout.splitlines())
    assert before < 4096  # KiB
    assert after > 16 * 1024
    assert grown < whole + 4096


@pytest.mark.skipif(not can_collapse(), reason="the kernel has no huge pages on request")
def test_memory_that_is_in_use_in_part_is_left() -> None:
    with blocks(2) as (block, size):
        ctypes.memset(block, 1, size - mmap.PAGESIZE)
        ctypes.memset(block + size, 1, size // 2)
        process_tuning._collapse(C, size)
        assert in_memory(block, size) == size // mmap.PAGESIZE
        assert in_memory(block + size, size) == size // 2 // mmap.PAGESIZE


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
    monkeypatch.setattr(process_tuning, "FREE_SECONDS", 0.0)
    try:
        asyncio.run(must_trim_until(lambda: resident() < kept - BLOCK * BLOCKS // 2))
    finally:
        C.free(blocks[-1])


async def must_trim_until(enough: Callable[[], bool], rest: asyncio.Event | None = None) -> None:
    """Raises TimeoutError."""
    work = asyncio.create_task(process_tuning.return_freed_memory(rest or asyncio.Event()))
    try:
        async with asyncio.timeout(20):
            while not enough() and not work.done():
                await asyncio.sleep(0)
    finally:
        assert work.cancel(), work.exception()


def resident() -> int:
    """Return the bytes of this process that are in memory."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) * 1024


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    process_tuning.share_the_heap()
    assert asyncio.run(process_tuning.use_huge_pages()) is None


@pytest.mark.parametrize("library", [C, object()], ids=["this C library", "another C library"])
def test_objects_that_refer_to_each_other_are_freed_every_minute(
    monkeypatch: pytest.MonkeyPatch, library: object
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    monkeypatch.setattr(process_tuning, "FREE_SECONDS", 0.0)
    must_be_freed(None)


def must_be_freed(rest: asyncio.Event | None) -> None:
    dropped = weakref.ref(circle())
    gc.disable()  # as on a site with few new objects
    try:
        assert dropped() is not None
        asyncio.run(must_trim_until(lambda: dropped() is None, rest))
    finally:
        gc.enable()


def test_memory_is_freed_at_once_when_many_answers_have_ended() -> None:
    rest = asyncio.Event()
    rest.set()
    must_be_freed(rest)
    assert not rest.is_set()


class Circle:
    """An object that refers to itself."""


def circle() -> Circle:
    made = Circle()
    vars(made)["itself"] = made
    return made


@pytest.mark.parametrize("file", ["HUGE_PAGE", "MAPPINGS"])
def test_a_system_without_huge_pages_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: str) -> None:
    (tmp_path / "size").write_text("2097152\n")
    monkeypatch.setattr(process_tuning, "HUGE_PAGE", tmp_path / "size")
    monkeypatch.setattr(process_tuning, file, tmp_path / "absent")
    assert asyncio.run(process_tuning.use_huge_pages()) is None


def test_threads_give_the_interpreter_back_within_a_millisecond() -> None:
    before = sys.getswitchinterval()
    try:
        process_tuning.switch_threads_often()
        assert sys.getswitchinterval() <= 0.001
    finally:
        sys.setswitchinterval(before)
