"""The files of one chat on disk, under one directory that no path can leave."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from chat.tools.files.paths import DEPTH, TEMPORARY, file_parts, is_valid_name, parts, shown
from chat.tools.files.safe_open import NEW_FILE, DirectoryEntry, directory, in_words, look, regular_file, walk
from chat.tools.files.text_decoding import size_in_words
from toolsupport import cancellable_threads
from toolsupport.core.errors import NotFound, ToolError

MIB = 1024 * 1024
ENTRIES = 10_000
LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
GIVEN_UP = b"given up"  # in the lock of a workspace whose chat was deleted
PATIENCE, PAUSE = 20.0, 0.02  # seconds that a writer waits for another one, and between two tries


@dataclass(frozen=True, slots=True)
class WorkspaceEntry:
    """`path` from the top of the workspace; `kind` is file, directory or other; `size` in bytes."""

    path: str
    kind: str
    size: int


@dataclass(frozen=True, slots=True)
class WorkspaceListing:
    """`more` is True if the limit left entries out."""

    entries: tuple[WorkspaceEntry, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class FileContent:
    """The first bytes of a file; `size` is that of the whole file."""

    data: bytes
    size: int


@dataclass(frozen=True, slots=True)
class DiskUsage:
    """The contents of a workspace, in bytes and in files and directories."""

    size: int
    entries: int


@dataclass(frozen=True, slots=True)
class Workspace:
    """One directory; `quota` is its maximum size in bytes.

    Every method blocks on the disk: async code calls it in a thread. Paths are parsed by paths.parts. All raise
    NotFound for missing files and ToolError for impossible operations, with messages that contain no path of this
    machine.
    """

    root: Path
    quota: int = 100 * MIB

    def entries(self, path: str = "", *, recursive: bool = False, limit: int = ENTRIES) -> WorkspaceListing:
        """Return the sorted entries of a directory, directories first."""
        names = parts(path)
        with in_words(path), self._directory(names) as above, closing(walk(above, _levels(recursive))) as found:
            visible = (one for one in found if not one[0][0].startswith(TEMPORARY))
            first = tuple(islice(visible, limit + 1))
        entries = tuple(_entry((*names, *below), one) for below, one in first[:limit])
        return WorkspaceListing(entries, more=len(first) > limit)

    def entry(self, path: str) -> WorkspaceEntry:
        """Return the entry at a path, without opening it."""
        above, name = file_parts(path)
        with in_words(path), self._directory(above) as descriptor:
            return _entry((*above, name), look(descriptor, name))

    def read(self, path: str, limit: int) -> FileContent:
        """Return the first `limit` bytes of a file."""
        with self.open(path) as file, in_words(path):
            return FileContent(file.read(limit), os.fstat(file.fileno()).st_size)

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading; the caller closes it."""
        above, name = file_parts(path)
        with in_words(path), self._directory(above) as descriptor:
            return os.fdopen(regular_file(descriptor, name), "rb")

    def changed(self, path: str) -> int:
        """Return when a file was last changed, in nanoseconds."""
        with self.open(path) as file, in_words(path):
            return os.fstat(file.fileno()).st_mtime_ns

    def write(self, path: str, chunks: Iterable[bytes], *, replace: bool = True) -> str:
        """Write a whole file or nothing, create its directories, and return its path.

        A file of that name is replaced, or else a free name is found: `notes (2).md`.
        """
        above, name = file_parts(path)
        with in_words(path), self._alone() as root, self._temporary(root) as temporary:
            _pour(root, temporary, chunks, self._free_space(path if replace else None))
            with self._directory(above, make=True) as parent:
                name = name if replace else _free_name(parent, name)
                os.rename(temporary, name, src_dir_fd=root, dst_dir_fd=parent)
                os.fsync(parent)
        return "/".join((*above, name))

    def delete(self, path: str) -> None:
        """Remove a file, or a directory with its contents; of a link only the link. `path` is as a listing shows it."""
        above, name = file_parts(path)
        with in_words(path), self._alone(), self._directory(above) as parent:
            _remove(parent, _made_name(parent, (*above, name)))

    def usage(self) -> DiskUsage:
        """Count the usage; ToolError if there is too much to count."""
        with in_words("."), self._directory() as root, closing(walk(root, DEPTH + 1)) as found:
            seen = [(len(names), one.size) for names, one in islice(found, ENTRIES + 1)]
        if len(seen) > ENTRIES or any(depth > DEPTH for depth, _ in seen):
            raise ToolError(
                f"The workspace holds more than {ENTRIES:,} files, or more than {DEPTH} directories inside each other: "
                "delete some first."
            )
        return DiskUsage(sum(size for _, size in seen), len(seen))

    def _free_space(self, replaced: str | None) -> int:
        freed = 0
        if replaced is not None:
            with suppress(NotFound):
                freed = self.entry(replaced).size
        return self.quota - self.usage().size + freed

    @contextmanager
    def _directory(self, names: tuple[str, ...] = (), *, make: bool = False) -> Iterator[int]:
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        # After the directory was made, so that a removal that begins later includes it.
        if is_given_up(self.root):
            with suppress(OSError):
                self.root.rmdir()
            raise NotFound("The chat of these files was deleted.")
        with directory(self.root, names, make=make) as descriptor:
            yield descriptor

    @contextmanager
    def _alone(self) -> Iterator[int]:
        """Open the top directory with an exclusive lock on writing, across processes; readers never wait.

        The lock is on a file beside the directory, where no command of the conversation can hold it.
        """
        with self._directory() as root, os.fdopen(os.open(lock_file(self.root), LOCK, 0o600)) as lock:
            _wait_for(lock.fileno())
            yield root

    @contextmanager
    def _temporary(self, root: int) -> Iterator[str]:
        """Return a name for an unfinished file; leftovers of killed writers are removed first."""
        for name in os.listdir(root):
            if name.startswith(TEMPORARY):
                _remove(root, name)
        name = TEMPORARY + secrets.token_hex(8)
        try:
            yield name
        finally:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=root)


def lock_file(root: Path) -> Path:
    """Return the lock of a workspace."""
    return root.with_name(f".{root.name}.lock")


def give_up(root: Path) -> None:
    """Prevent that a writer makes this workspace again; a writer that has begun finds its directories gone."""
    with suppress(OSError):
        root.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(lock_file(root), LOCK, 0o600), "wb") as lock:
            lock.write(GIVEN_UP)


def is_given_up(root: Path) -> bool:
    try:
        return os.stat(lock_file(root), follow_symlinks=False).st_size > 0
    except FileNotFoundError:
        return False


def _wait_for(lock: int) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > end:
                raise ToolError("Nothing was written: another write to these files has not ended. Try again.") from None
            cancellable_threads.pause(PAUSE)


def _levels(recursive: bool) -> int:
    return DEPTH + 1 if recursive else 1


def _entry(names: tuple[str, ...], found: DirectoryEntry) -> WorkspaceEntry:
    if is_valid_name(found.name):
        return WorkspaceEntry("/".join(names), found.kind, found.size)
    return WorkspaceEntry(shown("/".join(names)), "other", found.size)


def _pour(root: int, name: str, chunks: Iterable[bytes], space: int) -> None:
    free = size_in_words(max(0, space))
    with os.fdopen(os.open(name, NEW_FILE, 0o600, dir_fd=root), "wb") as file:
        for chunk in chunks:
            cancellable_threads.check()
            space -= len(chunk)
            if space < 0:
                raise ToolError(f"There is not enough room: only {free} are free in this workspace.")
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())


def _made_name(parent: int, names: tuple[str, ...]) -> str:
    """Return the name of a file as a program made it; a listing shows unprintable characters as escapes."""
    *above, name = names
    found = os.listdir(parent)
    odd = (one for one in found if name not in found and not is_valid_name(one))
    return next((one for one in odd if shown("/".join((*above, one))) == "/".join(names)), name)


def _remove(parent: int, name: str) -> None:
    if look(parent, name).kind == "directory":
        shutil.rmtree(name, dir_fd=parent)
    else:
        os.unlink(name, dir_fd=parent)


def _free_name(parent: int, name: str) -> str:
    taken = set(os.listdir(parent))
    stem, suffix = PurePosixPath(name).stem, PurePosixPath(name).suffix
    numbered = (f"{stem} ({number}){suffix}" for number in range(2, ENTRIES))
    return next(free for free in (name, *numbered) if free not in taken)
