"""The files of a conversation: written whole, read with limits, never more than the quota (T12)."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from chat.tools.files import workspace as module
from chat.tools.files.paths import TEMPORARY
from chat.tools.files.workspace import MIB, Workspace, lock_file
from toolsupport.core.errors import NotFound, ToolError


def paths(workspace: Workspace, path: str = "", *, recursive: bool = True) -> list[str]:
    return [entry.path for entry in workspace.entries(path, recursive=recursive).entries]


def breaking() -> Iterator[bytes]:
    yield b"half"
    raise ConnectionError("the browser went away")


def test_what_is_written_is_read_back(workspace: Workspace) -> None:
    assert workspace.write("src/deep/app.py", [b"one ", b"two"]) == "src/deep/app.py"
    content = workspace.read("/src/deep/app.py", MIB)
    assert (content.data, content.size) == (b"one two", 7)
    with workspace.open("src/deep/app.py") as file:
        assert file.read() == b"one two"


def test_reading_stops_at_the_limit(workspace: Workspace) -> None:
    workspace.write("a", [b"x" * 100])
    content = workspace.read("a", 10)
    assert (len(content.data), content.size) == (10, 100)


def test_only_its_owner_may_enter_it(workspace: Workspace) -> None:
    workspace.write("a/b", [b""])
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (workspace.root, workspace.root / "a")]
    assert modes == [0o700, 0o700]
    assert stat.S_IMODE((workspace.root / "a" / "b").stat().st_mode) == 0o600


def test_listings_are_sorted_directories_first(workspace: Workspace) -> None:
    for path in ("b.txt", "A.txt", "z/2", "z/1", "c/y/x"):
        workspace.write(path, [b"12"])
    assert paths(workspace, recursive=False) == ["c", "z", "A.txt", "b.txt"]
    assert paths(workspace) == ["c", "c/y", "c/y/x", "z", "z/1", "z/2", "A.txt", "b.txt"]
    assert paths(workspace, "z") == ["z/1", "z/2"]
    assert [(one.kind, one.size) for one in workspace.entries("z").entries] == [("file", 2)] * 2


def test_a_listing_says_when_there_is_more(workspace: Workspace) -> None:
    for number in range(5):
        workspace.write(f"{number}", [b""])
    assert workspace.entries(limit=5).more is False
    listing = workspace.entries(limit=4)
    assert (len(listing.entries), listing.more) == (4, True)


def test_an_empty_workspace_is_empty_and_not_an_error(workspace: Workspace) -> None:
    assert paths(workspace) == []
    assert (workspace.usage().size, workspace.usage().entries) == (0, 0)


def test_same_name_replaces_or_gets_a_number(workspace: Workspace) -> None:
    workspace.write("a/notes.md", [b"old"])
    assert workspace.write("a/notes.md", [b"kept"], replace=False) == "a/notes (2).md"
    assert workspace.write("a/notes.md", [b"kept"], replace=False) == "a/notes (3).md"
    assert workspace.write("a/notes.md", [b"new"]) == "a/notes.md"
    assert workspace.read("a/notes.md", 10).data == b"new"
    assert paths(workspace, "a") == ["a/notes (2).md", "a/notes (3).md", "a/notes.md"]


def test_writing_replaces_a_link_and_not_what_it_points_to(workspace: Workspace) -> None:
    target = workspace.root.parent / "target"
    workspace.write("a", [b""])
    target.write_text("untouched")
    for make in (os.symlink, os.link):
        (workspace.root / "a").unlink()
        make(target, workspace.root / "a")
        workspace.write("a", [b"new"])
        assert workspace.read("a", 10).data == b"new"
        assert target.read_text() == "untouched"


@pytest.mark.parametrize("replace_it", [True, False])
def test_a_broken_write_leaves_what_was_there(workspace: Workspace, replace_it: bool) -> None:
    workspace.write("a", [b"old"])
    with pytest.raises(ToolError):
        workspace.write("a", breaking(), replace=replace_it)
    assert workspace.read("a", 10).data == b"old"
    assert os.listdir(workspace.root) == ["a"]


def test_a_file_is_on_the_disk_before_it_has_its_name(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    sync, rename = os.fsync, os.rename

    def synced(descriptor: int) -> None:
        done.append("directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        sync(descriptor)

    def renamed(old: str, new: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        done.append("name")
        rename(old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "rename", renamed)
    workspace.write("d/a", [b"1"])
    assert done == ["file", "name", "directory"]


def test_a_killed_writer_leaves_nothing_that_stays(workspace: Workspace) -> None:
    workspace.write("a", [b"1"])
    (workspace.root / f"{TEMPORARY}dead").write_bytes(b"x" * 100)
    (workspace.root / f"{TEMPORARY}odd").mkdir()
    assert paths(workspace) == ["a"]
    workspace.write("b", [b"2"])
    assert sorted(os.listdir(workspace.root)) == ["a", "b"]
    assert workspace.usage().size == 2


def test_the_quota_holds_and_says_what_is_free(workspace: Workspace) -> None:
    small = replace(workspace, quota=1000)
    small.write("a", [b"x" * 600])
    with pytest.raises(ToolError, match="only 400 bytes are free"):
        small.write("b", [b"x" * 200] * 3)
    assert paths(small) == ["a"]
    small.write("b", [b"x" * 400])
    assert small.usage().size == 1000
    with pytest.raises(ToolError, match="only 0 bytes are free"):
        small.write("c", [b"x"])


def test_a_file_that_is_replaced_does_not_count_twice(workspace: Workspace) -> None:
    small = replace(workspace, quota=1000)
    small.write("a", [b"x" * 900])
    small.write("a", [b"y" * 1000])
    assert small.usage().size == 1000


def test_writers_at_once_never_exceed_the_quota(workspace: Workspace) -> None:
    small = replace(workspace, quota=1000)

    def write(number: int) -> bool:
        try:
            return bool(small.write("same.txt", [b"x" * 100] * 3, replace=False))
        except ToolError:
            return False

    with ThreadPoolExecutor(8) as pool:
        written = list(pool.map(write, range(24)))
    assert sum(written) == 3
    assert paths(small) == ["same (2).txt", "same (3).txt", "same.txt"]


def test_too_many_files_are_refused(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ENTRIES", 3)
    for name in "abc":
        workspace.write(name, [b""])
    (workspace.root / "d").touch()
    with pytest.raises(ToolError, match="more than 3 files"):
        workspace.write("e", [b""])


def test_what_lies_too_deep_to_be_counted_stops_writing(workspace: Workspace) -> None:
    (workspace.root / "/".join("d" * 17)).mkdir(parents=True)
    with pytest.raises(ToolError, match="inside each other"):
        workspace.write("a", [b""])
    workspace.delete("d")
    assert workspace.write("a", [b""]) == "a"


def test_deleting_what_only_a_program_could_name(workspace: Workspace) -> None:
    workspace.write("d/a", [b""])
    for name in (b"two\nlines", b"no text \xc3", "\u202egpj.exe".encode(), b"\t" * 255, b"no text \\udcc3", b"d/\x1b"):
        Path(os.fsdecode(os.fsencode(workspace.root) + b"/" + name)).touch()
    listed = [one.path for one in workspace.entries(recursive=True).entries if one.kind != "directory"]
    assert len(listed) == 7 and listed.count("no text \\udcc3") == 2
    for path in listed:
        workspace.delete(path)
    assert [one.path for one in workspace.entries(recursive=True).entries] == ["d"]


def test_deleting(workspace: Workspace) -> None:
    for path in ("a", "d/x", "d/e/y"):
        workspace.write(path, [b""])
    outside = workspace.root.parent / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    (workspace.root / "d" / "link").symlink_to(outside)
    workspace.delete("a")
    workspace.delete("d/link")
    (workspace.root / "d" / "link").symlink_to(outside)
    workspace.delete("d/")
    assert os.listdir(workspace.root) == []
    assert (outside / "kept").exists()
    with pytest.raises(NotFound):
        workspace.delete("a")
    with pytest.raises(ToolError):
        workspace.delete("/")


WRONG = {
    "missing": NotFound,
    "d/missing": NotFound,
    "missing/d": NotFound,
    "d": ToolError,
    "": ToolError,
    "file/below": ToolError,
}


@pytest.mark.parametrize("path", WRONG)
def test_what_cannot_be_read_is_said_without_a_path_of_the_host(workspace: Workspace, path: str) -> None:
    workspace.write("d/x", [b""])
    workspace.write("file", [b""])
    with pytest.raises(WRONG[path]) as caught:
        workspace.read(path, 10)
    assert str(workspace.root.parent) not in str(caught.value)


def test_names_that_cannot_be_asked_for_are_shown_escaped(workspace: Workspace) -> None:
    workspace.write("fine", [b""])
    (workspace.root / "line\nbreak").touch()
    (workspace.root / os.fsdecode(b"\xff")).touch()
    entries = {entry.path: entry.kind for entry in workspace.entries().entries}
    assert entries == {"fine": "file", "line\\nbreak": "other", "\\udcff": "other"}


def test_what_something_is_without_opening_it(workspace: Workspace) -> None:
    workspace.write("d/x", [b"123"])
    entry = workspace.entry("d/x")
    assert (entry.path, entry.kind, entry.size) == ("d/x", "file", 3)
    assert workspace.entry("d").kind == "directory"


# S5: a command can lock the directory and all files in it.
def test_locks_inside_delay_nobody(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.1)
    workspace.write("a.txt", [b"x"])
    for path in (workspace.root, workspace.root / "a.txt"):
        held = os.open(path, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    workspace.write("a.txt", [b"y"])
    workspace.delete("a.txt")
    assert workspace.usage().entries == 0


def test_a_writer_waits_for_another_one_and_not_for_ever(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.1)
    workspace.write("a.txt", [b"x"])
    with lock_file(workspace.root).open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(ToolError, match="another write"):
            workspace.write("a.txt", [b"y"])
    workspace.write("a.txt", [b"z"])
    assert lock_file(workspace.root).parent == workspace.root.parent and workspace.usage().entries == 1
