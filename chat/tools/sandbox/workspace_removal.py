"""Removes the files of a deleted conversation, also while a tool of it still writes."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from chat.tools.files.workspace import give_up, is_given_up, lock_file
from chat.tools.sandbox import file_ownership

DISCARDED = ".deleted"  # after the name of a workspace whose conversation is being deleted
TRIES = 3
# Seconds after which no writer is left that began before the deletion.
KEPT = 3600


def discard(root: Path) -> None:
    """Rename a workspace whose rows are deleted next. It takes no time; an interrupted removal is continued later."""
    with suppress(OSError):
        root.rename(_discarded(root))


def remove(root: Path) -> None:
    """Delete a workspace for ever; undeletable files stay, unreachable."""
    give_up(root)
    for folder in (root, _discarded(root)):
        erase(folder)


def erase(folder: Path) -> None:
    """Delete a folder: again if a program wrote there meanwhile, or made folders that it could not read itself."""
    for _ in range(TRIES):
        with suppress(RecursionError):
            shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            return
        with suppress(OSError):
            file_ownership.take_back(folder)


def remove_outdated_locks(folder: Path) -> None:
    """Delete the locks of workspaces that were given up long ago."""
    for lock in folder.glob(".*.lock"):
        with suppress(OSError):
            root = lock.with_name(lock.name[1:].removesuffix(".lock"))
            if is_given_up(root) and time.time() - lock.stat().st_mtime > KEPT and lock == lock_file(root):
                lock.unlink()


def _discarded(root: Path) -> Path:
    return root.with_name(f"{root.name}{DISCARDED}")
