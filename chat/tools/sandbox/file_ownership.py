"""Changes the ownership of a workspace's files for a command, and back."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from chat.tools.files.paths import TEMPORARY
from chat.tools.files.safe_open import DIRECTORY, directory
from chat.tools.sandbox.bwrap import NOBODY
from toolsupport import cancellable_threads

# Levels of nested directories that are kept after a command; every level needs an open descriptor.
DEEPEST = 64
SEEN = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


def hand_over(root: Path) -> None:
    """Give all files to `nobody` if the server runs as root; otherwise they have the right owner already."""
    if os.geteuid() == 0:
        with directory(root) as top:
            os.chown(top, NOBODY, NOBODY)
            _give(top, NOBODY, DEEPEST)


def _give(above: int, user: int, levels: int) -> None:
    for name in os.listdir(above):
        cancellable_threads.check()
        with suppress(FileNotFoundError):
            os.chown(name, user, user, dir_fd=above, follow_symlinks=False)
            if levels and stat.S_ISDIR(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode):
                with _inside(above, name) as inner:
                    _give(inner, user, levels - 1)


def take_back(root: Path) -> bool:
    """Give all files to the server, accessible to it alone.

    Files deeper than DEEPEST are removed, and then it returns True: no one else could do it later.
    """
    with directory(root) as top:
        os.chown(top, os.geteuid(), os.getegid())
        os.chmod(top, 0o700)
        return _take(top, top, DEEPEST)


def _take(top: int, above: int, levels: int) -> bool:
    cut = False
    for name in os.listdir(above):
        is_directory = _make_ours(above, name)
        if is_directory and not levels:
            _uproot(top, above, name)
            cut = True
        elif is_directory:
            with _inside(above, name) as inner:
                cut = _take(top, inner, levels - 1) or cut
    return cut


def _make_ours(above: int, name: str) -> bool:
    """Set owner and mode of one file, without following a link; return True for a directory."""
    os.chown(name, os.geteuid(), os.getegid(), dir_fd=above, follow_symlinks=False)
    seen = os.open(name, SEEN, dir_fd=above)
    try:
        mode = os.fstat(seen).st_mode
        if stat.S_ISDIR(mode):
            os.chmod(f"/proc/self/fd/{seen}", 0o700)
        elif stat.S_ISREG(mode):
            os.chmod(f"/proc/self/fd/{seen}", mode & 0o700 | 0o600)
        return stat.S_ISDIR(mode)
    finally:
        os.close(seen)


@contextmanager
def _inside(above: int, name: str) -> Iterator[int]:
    inner = os.open(name, DIRECTORY, dir_fd=above)
    try:
        yield inner
    finally:
        os.close(inner)


def _uproot(top: int, above: int, name: str) -> None:
    """Remove a directory of any depth: each one in it is moved to the top before it is emptied."""
    waiting = [_lifted(top, above, name)]
    while waiting:
        one = waiting.pop()
        with _inside(top, one) as inner:
            for child in os.listdir(inner):
                if _make_ours(inner, child):
                    waiting.append(_lifted(top, inner, child))
                else:
                    os.unlink(child, dir_fd=inner)
        os.rmdir(one, dir_fd=top)


def _lifted(top: int, above: int, name: str) -> str:
    """Return the name that a directory got at the top."""
    fresh = TEMPORARY + secrets.token_hex(8)
    os.rename(name, fresh, src_dir_fd=above, dst_dir_fd=top)
    return fresh
