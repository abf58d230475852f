"""Reads the bytes of files for the tools, and caches them until they change (T8).

A file is looked up and opened again each time; only reading is saved. An entry belongs to one person, one workspace and
one path, and to a file of that inode, size and times: a write gives a file another change time, which programs cannot
set. Since the clock of a file system is coarse, a file that changed within the last seconds is not cached: any later
write has a later time.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from threading import Lock
from typing import BinaryIO

from chat.tools.files.safe_open import in_words
from chat.tools.files.workspace import FileContent
from chat.tools.tool import ToolContext

MOST_BYTES = 16 * 1024 * 1024
# The coarsest clock of the usual file systems.
SETTLED_NS = 2_000_000_000

Key = tuple[int | str, ...]


class ReadCache:
    """The last reads, up to so many bytes; thread-safe."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most, self._size = most, 0
        self._kept: OrderedDict[Key, bytes] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key) -> bytes | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: Key, data: bytes) -> None:
        with self._lock:
            self._size += len(data) - len(self._kept.pop(key, b""))
            self._kept[key] = data
            while self._size > self._most:
                self._size -= len(self._kept.popitem(last=False)[1])


remembered = ReadCache()


def beginning(context: ToolContext, path: str) -> FileContent:
    """Return the first bytes of a file, up to the limit of a result. Raises NotFound or ToolError."""
    with context.workspace.open(path) as file, in_words(path):
        status = os.fstat(file.fileno())
        key = _key(context, path, status)
        known = remembered.get(key)
        if known is not None:
            return FileContent(known, status.st_size)
        data = file.read(context.text_bytes)
        after = os.fstat(file.fileno())
        if _key(context, path, after) == key and _settled(after):
            remembered.put(key, data)
        return FileContent(data, after.st_size)


def ending(context: ToolContext, path: str) -> FileContent:
    """Return the last bytes of a file, up to the limit of a result. Raises NotFound or ToolError."""
    with context.workspace.open(path) as file, in_words(path):
        size = _to_end(file, context.text_bytes)
        return FileContent(file.read(context.text_bytes), size)


def _to_end(file: BinaryIO, most: int) -> int:
    size = os.fstat(file.fileno()).st_size
    file.seek(max(0, size - most))
    return size


def _key(context: ToolContext, path: str, status: os.stat_result) -> Key:
    place = (context.person, str(context.workspace.root), path, context.text_bytes)
    return (*place, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _settled(status: os.stat_result) -> bool:
    """Return whether any later change is certain to change the file's time; false after a clock was set back."""
    return time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > SETTLED_NS
