"""Files of a deleted chat are removed, at any moment of a write (P8)."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chat.tools.files.workspace import Workspace, give_up, is_given_up, lock_file
from chat.tools.sandbox import workspace_removal
from toolsupport.core.errors import NotFound, ToolError

WRITERS: dict[str, Callable[[Workspace], object]] = {
    "a file": lambda files: files.write("src/deep/a.txt", [b"secret", b"secret"]),
    "a free name": lambda files: files.write("notes.md", [b"secret"], replace=False),
    "a deletion": lambda files: files.delete("notes.md"),
    "a listing": lambda files: files.entries(recursive=True),
    "the usage": Workspace.usage,
}
STEPS = ("mkdir", "open", "rename", "stat", "unlink", "listdir", "fsync", "fdopen", "close")


def left(workspace: Workspace) -> list[Path]:
    return [path for path in workspace.root.parent.rglob("*") if path != lock_file(workspace.root)]


def delete(workspace: Workspace) -> None:
    workspace_removal.discard(workspace.root)
    workspace_removal.remove(workspace.root)


@pytest.mark.parametrize("name", WRITERS)
def test_at_each_step_of_a_writer(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    at, reached = 0, True
    while reached:
        at, reached = at + 1, False
        lock_file(workspace.root).unlink(missing_ok=True)
        workspace.write("notes.md", [b"kept so far"])
        steps = iter(range(1, 1000))

        def then(step: Callable[..., Any], *given: Any, **named: Any) -> Any:
            nonlocal reached
            if not reached and next(steps) == at:  # noqa: B023 it is called in this round only
                reached = True
                delete(workspace)
            return step(*given, **named)

        with monkeypatch.context() as patched:
            for step in STEPS:
                patched.setattr(os, step, partial(then, getattr(os, step)))
            with suppress(NotFound, ToolError):
                WRITERS[name](workspace)
        assert left(workspace) == [] or not reached, at
    assert at > 5, "the deletion came at several steps"


def test_a_chat_that_is_gone_has_no_files_again(workspace: Workspace) -> None:
    delete(workspace)
    for write in WRITERS.values():
        with pytest.raises(NotFound, match="was deleted"):
            write(workspace)
    assert left(workspace) == []


def test_a_deletion_that_fails_leaves_a_chat_that_can_have_files(workspace: Workspace) -> None:
    """Its rows are there again; only then is the workspace given up."""
    workspace_removal.discard(workspace.root)
    assert workspace.write("a.txt", [b"text"]) == "a.txt"


@pytest.mark.parametrize("late", [1, 2])
def test_what_a_program_writes_while_its_folder_is_removed_goes_too(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, late: int
) -> None:
    workspace.write("a/b.txt", [b"text"])
    remove, times = shutil.rmtree, iter(range(late))

    def and_written(folder: Path, **how: Any) -> None:
        remove(folder, **how)
        if next(times, None) is not None and folder == workspace.root:
            (folder / "a").mkdir(parents=True)
            (folder / "a" / "late.txt").write_text("secret")

    monkeypatch.setattr(shutil, "rmtree", and_written)
    workspace_removal.remove(workspace.root)
    assert left(workspace) == []


def deep(folder: Path) -> None:
    """More folders inside each other than Python descends."""
    folder.mkdir(parents=True)
    inner = os.open(folder, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=inner)
        above, inner = inner, os.open("d", os.O_RDONLY, dir_fd=inner)
        os.close(above)
    os.close(inner)


def test_folders_that_are_too_deep_go(workspace: Workspace) -> None:
    deep(workspace.root)
    workspace_removal.remove(workspace.root)
    assert left(workspace) == []


@pytest.fixture
def as_another_account(tmp_path: Path) -> Iterator[None]:
    """Root may read what it likes."""
    if os.geteuid():
        yield
        return
    for above in (tmp_path, *tmp_path.parents[:-2]):
        above.chmod(above.stat().st_mode | 0o011)
    shutil.chown(tmp_path, 65534, 65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.usefixtures("as_another_account")
def test_folders_that_a_program_made_unreadable_go(workspace: Workspace) -> None:
    workspace.write("a/b/c.txt", [b"secret"])
    for path in (workspace.root / "a/b", workspace.root / "a"):
        path.chmod(0)
    workspace_removal.remove(workspace.root)
    assert left(workspace) == []


def test_only_locks_that_were_given_up_long_ago_go(tmp_path: Path) -> None:
    old, young, in_use = (tmp_path / name for name in ("old", "young", "in_use"))
    for root in (old, young):
        give_up(root)
    Workspace(in_use).write("a.txt", [b"text"])
    long_ago = time.time() - 2 * workspace_removal.KEPT
    for root in (old, in_use):
        os.utime(lock_file(root), (long_ago, long_ago))
    workspace_removal.remove_outdated_locks(tmp_path)
    assert not is_given_up(old) and is_given_up(young) and lock_file(in_use).exists()
