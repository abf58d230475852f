"""Settings of the interpreter and its memory for a process that serves the site."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import sys

LOCK_HELD = 0.001  # seconds
YOUNG_OBJECTS = 20_000  # new objects, less those that were freed, after which the garbage collector begins
ARENA_MAX, ARENAS = -8, 2  # the option of glibc's `mallopt` by its number in <malloc.h>, and its value
TRIM_SECONDS = 60.0  # a trim took 0.5 to 1.1 ms


def share_the_heap() -> None:
    """Let all threads use two parts of the heap, where the C library is glibc. Call it before threads start.

    By default each thread has a part of its own, and memory that is free in one of them is not used by the others. With
    two parts a process used 5 to 9 MiB less after long replies, and an answer took 0 to 3 % more of the processor.
    """
    if set_option := getattr(ctypes.CDLL(None), "mallopt", None):
        set_option(ARENA_MAX, ARENAS)


async def return_freed_memory() -> None:
    """Give freed memory back to the system every minute, where the C library is glibc; else end.

    It keeps freed memory that has used memory behind it: 2 to 4 MiB after long replies. Lower limits for what it keeps
    (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD) give back as much, but an answer then took 5 to 18 % more of the processor.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    while trim:
        await asyncio.sleep(TRIM_SECONDS)
        await asyncio.to_thread(trim, 0)


def collect_garbage_seldom() -> None:
    """Exclude objects that exist at startup from garbage collection, and collect more seldom.

    Imported code stays until the end. Answers and pages leave almost no objects that refer to each other
    (`tests/chat/test_garbage.py`), so memory is freed without the collector, which took 6 to 9 % of an answer.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)


def switch_threads_often() -> None:
    """Let threads hold the interpreter's lock for 1 ms at a time instead of 5.

    A ping passes through six rounds of the event loop, each of which may wait for the lock. Beside two busy threads six
    rounds take 12 ms instead of 90 to 170, and these threads do 3 to 5 % less.
    """
    sys.setswitchinterval(LOCK_HELD)
