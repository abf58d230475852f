"""Settings of the interpreter and its memory for a process that serves the site."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import mmap
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

LOCK_HELD = 0.001  # seconds
YOUNG_OBJECTS = 20_000  # new objects, less those that were freed, after which the garbage collector begins
SELDOM = 1_000  # collections of new objects, after which older ones are collected unless a minute passed before
ARENA_MAX, ARENAS = -8, 2  # the option of glibc's `mallopt` by its number in <malloc.h>, and its value
FREE_SECONDS = 60.0  # a collection of all objects takes 18 to 60 ms, a trim 0.5 to 1.1 ms
SETTLED = 0.1  # seconds in which the last answers are stored
PAUSE = 20  # the wait before memory is freed again, in multiples of the time it took: at most a twentieth of all time
MAPPINGS = Path("/proc/self/maps")
HUGE_PAGE = Path("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")  # its size in bytes
IN_USE = 31 / 32  # of a block of Python's objects, which are aligned
COLLAPSE = 25  # the advice MADV_COLLAPSE of Linux 6.1 and newer, by its number in <asm-generic/mman-common.h>


def share_the_heap() -> None:
    """Let all threads use two parts of the heap, where the C library is glibc. Call it before threads start.

    By default each thread has a part of its own, and memory that is free in one of them is not used by the others. With
    two parts a process used 5 to 9 MiB less after long replies, and an answer took 0 to 3 % more of the processor.
    """
    if set_option := getattr(ctypes.CDLL(None), "mallopt", None):
        set_option(ARENA_MAX, ARENAS)


async def return_freed_memory(rest: asyncio.Event) -> None:
    """Free objects that refer to each other every minute and at each `rest`, and give freed memory back to the system.

    glibc keeps freed memory that has used memory behind it: 2 to 4 MiB after long replies. Lower limits for what it
    keeps (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD) return the same amount, but an answer took 5 to 18 % more processor time.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout(FREE_SECONDS):
                await rest.wait()
        await asyncio.sleep(SETTLED)
        rest.clear()
        began = time.perf_counter()
        await asyncio.to_thread(gc.collect)
        if trim:
            await asyncio.to_thread(trim, 0)
        await asyncio.sleep(PAUSE * (time.perf_counter() - began))


async def use_huge_pages() -> None:
    """Move the memory of a started process that is almost all in use into huge pages, where the kernel can.

    Code and data of an answer lie in many places of 110 MiB, so the processor looks up many pages. In huge pages the
    first token after a pause came 0.1 to 0.3 ms earlier. It takes 0.2 s of a thread, and memory grew by less than
    1 MiB, since blocks that are in use in part are left. Repeating it cost more than it gained.
    """
    library = ctypes.CDLL(None)
    with suppress(OSError):  # another kernel, or a container without these files
        size = int(HUGE_PAGE.read_text())
        if hasattr(library, "madvise"):
            await asyncio.to_thread(_collapse, library, size)


def _collapse(library: ctypes.CDLL, size: int) -> None:
    """Advise each block of `size` bytes by itself: the kernel refuses some, such as those of stacks."""
    resident = ctypes.create_string_buffer(size // mmap.PAGESIZE)  # a byte for each page, 1 if it is in memory
    for block in map(ctypes.c_void_p, _blocks(size)):
        length = ctypes.c_size_t(size)
        if library.mincore(block, length, resident) == 0 and resident.raw.count(1) >= IN_USE * len(resident):
            library.madvise(block, length, COLLAPSE)


def _blocks(size: int) -> Iterator[int]:
    """Return the addresses of all whole blocks of memory that belongs to no file."""
    for line in MAPPINGS.read_text().splitlines():
        place, access, _, _, _, *name = line.split()
        if access == "rw-p" and name in ([], ["[heap]"]):
            first, end = (int(address, 16) for address in place.split("-"))
            yield from range(-(-first // size) * size, end - size + 1, size)


def collect_garbage_seldom() -> None:
    """Exclude objects that exist at startup from garbage collection, and collect more seldom.

    Imported code stays until the end. Answers and pages leave almost no objects that refer to each other
    (`tests/chat/test_garbage.py`), so memory is freed without the collector, which took 6 to 9 % of an answer. Older
    objects are collected every minute (`return_freed_memory`) instead of after ten collections of new ones.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, SELDOM, SELDOM)


def switch_threads_often() -> None:
    """Let threads hold the interpreter's lock for 1 ms at a time instead of 5.

    A ping passes through six rounds of the event loop, each of which may wait for the lock. Beside two busy threads six
    rounds take 12 ms instead of 90 to 170, and these threads do 3 to 5 % less.
    """
    sys.setswitchinterval(LOCK_HELD)
