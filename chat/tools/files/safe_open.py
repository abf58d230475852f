"""Opens files below a directory, one name at a time, without following links."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from chat.tools.files.paths import shown
from toolsupport import cancellable_threads
from toolsupport.core.errors import NotFound, ToolError

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK opening a pipe waits for a writer.
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

# One directory is sorted in memory, so its size needs a bound.
SCANNED = 20_000

WORDS = {
    errno.ENOTDIR: "is not a directory, or is not inside one (links are not followed)",
    errno.ELOOP: "is a link, and links are not followed",
    errno.EISDIR: "is a directory",
    errno.ENOTEMPTY: "changed while it was being used",
    errno.EACCES: "may not be used",
    errno.EPERM: "may not be used",
    errno.ENOSPC: "could not be written: the disk of the server is full",
    errno.EDQUOT: "could not be written: the disk of the server is full",
    errno.EROFS: "could not be written: the disk of the server cannot be changed",
}


Walk = Generator[tuple[tuple[str, ...], "DirectoryEntry"], None, None]


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """An entry of a directory. `kind` is file, directory or other (a link, a pipe, a device); `size` in bytes."""

    name: str
    kind: str
    size: int

    @property
    def order(self) -> tuple[bool, str, str]:
        """Return the sort key: directories first, then names as people sort them."""
        return (self.kind != "directory", self.name.casefold(), self.name)


@contextmanager
def in_words(path: str) -> Iterator[None]:
    """Convert the system's errors to NotFound or ToolError that mention only `path`."""
    try:
        yield
    except FileNotFoundError:
        raise NotFound(f"{shown(path)!r} does not exist.") from None
    except OSError as error:
        reason = WORDS.get(error.errno or 0, "could not be used")
        raise ToolError(f"{shown(path)!r} {reason}.") from None


@contextmanager
def directory(root: Path, names: Sequence[str] = (), *, make: bool = False) -> Iterator[int]:
    """Return a descriptor of the directory at `names` below `root`; missing ones are created on request."""
    descriptor = os.open(root, DIRECTORY)
    try:
        for name in names:
            above, descriptor = descriptor, _step(descriptor, name, make)
            os.close(above)
        yield descriptor
    finally:
        os.close(descriptor)


def _step(above: int, name: str, make: bool) -> int:
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=above)
    return os.open(name, DIRECTORY, dir_fd=above)


def regular_file(above: int, name: str) -> int:
    """Return a descriptor for reading the file `name` in the directory `above`.

    Raises ToolError for anything else. It is checked before opening, because opening a device can have effects, and
    after, because it may have been replaced in between.
    """
    _check_regular(os.stat(name, dir_fd=above, follow_symlinks=False), name)
    descriptor = os.open(name, FILE, dir_fd=above)
    try:
        _check_regular(os.fstat(descriptor), name)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check_regular(status: os.stat_result, name: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise ToolError(f"{shown(name)!r} is a directory.")
    if stat.S_ISLNK(status.st_mode):
        raise ToolError(f"{shown(name)!r} is a link, and links are not followed.")
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(f"{shown(name)!r} is not a regular file.")
    # A second name of the file may be outside the workspace.
    if status.st_nlink > 1:
        raise ToolError(f"{shown(name)!r} has more than one name (a hard link), so it is not used.")


def look(above: int, name: str) -> DirectoryEntry:
    """Return the kind of `name`, without opening it. Raises FileNotFoundError."""
    status = os.stat(name, dir_fd=above, follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode):
        return DirectoryEntry(name, "directory", 0)
    usable = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
    return DirectoryEntry(name, "file" if usable else "other", status.st_size)


def scan(above: int) -> list[DirectoryEntry]:
    """Return the sorted entries of a directory; at most SCANNED."""
    with os.scandir(above) as entries:
        names = [entry.name for entry in islice(entries, SCANNED)]
    found: list[DirectoryEntry] = []
    for name in names:
        cancellable_threads.check()
        with suppress(FileNotFoundError):
            found.append(look(above, name))
    return sorted(found, key=lambda one: one.order)


def walk(above: int, levels: int) -> Walk:
    """Yield everything below a directory, `levels` deep: (parent names, entry)."""
    for found in scan(above):
        yield (found.name,), found
        if found.kind == "directory" and levels > 1:
            yield from _below(above, found.name, levels - 1)


def _below(above: int, name: str, levels: int) -> Walk:
    try:
        descriptor = os.open(name, DIRECTORY, dir_fd=above)
    except OSError:  # it was removed or swapped since it was seen
        return
    try:
        for names, found in walk(descriptor, levels):
            yield (name, *names), found
    finally:
        os.close(descriptor)
