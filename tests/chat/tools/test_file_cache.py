"""File contents are cached only as long as they are certain to be unchanged (T8)."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from chat.tools import file_cache
from chat.tools.file_cache import Key, ReadCache, beginning, ending
from chat.tools.tool import ToolContext
from toolsupport.core.errors import NotFound


class Counting(ReadCache):
    """Counts how often it was asked for what it has."""

    hits = 0

    def get(self, key: Key) -> bytes | None:
        found = super().get(key)
        self.hits += found is not None
        return found


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Counting:
    fresh = Counting()
    monkeypatch.setattr(file_cache, "remembered", fresh)
    return fresh


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some seconds after the files of the test were written."""
    now = time.time_ns() + 10 * file_cache.SETTLED_NS
    monkeypatch.setattr(time, "time_ns", lambda: now)


def write(context: ToolContext, content: bytes, path: str = "a.txt") -> Path:
    """In place: the same file, of the same number."""
    file = context.workspace.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "r+b" if file.exists() else "wb") as opened:
        opened.truncate()
        opened.write(content)
    return file


def test_a_file_is_read_once(context: ToolContext, kept: Counting, later: None) -> None:
    write(context, b"one")
    assert [beginning(context, "a.txt").data for _ in range(3)] == [b"one"] * 3
    assert kept.hits == 2


def test_a_write_in_between_is_always_seen_also_within_one_tick(context: ToolContext, kept: Counting) -> None:
    times = set()
    for number in range(300):
        content = f"{number:03}".encode()
        times.add(write(context, content).stat().st_ctime_ns)
        assert beginning(context, "a.txt").data == content == beginning(context, "a.txt").data
    # The clock of the file system stood still meanwhile, again and again, or it is finer than any we know.
    assert kept.hits == 0


def test_a_write_after_it_was_remembered_is_seen(context: ToolContext, kept: Counting, later: None) -> None:
    file = write(context, b"one")
    os.utime(file, ns=(0, 0))
    assert beginning(context, "a.txt").data == b"one" == beginning(context, "a.txt").data
    before = file.stat().st_ctime_ns
    while file.stat().st_ctime_ns == before:  # what waits for two seconds has waited for this
        write(context, b"two")
        os.utime(file, ns=(0, 0))  # no program can hide its change by this
    assert beginning(context, "a.txt").data == b"two" and kept.hits == 1
    context.workspace.write("a.txt", [b"six"])
    assert beginning(context, "a.txt").data == b"six"


def test_what_is_gone_is_not_remembered(context: ToolContext, kept: Counting, later: None) -> None:
    write(context, b"one").rename(context.workspace.root / "b.txt")
    assert beginning(context, "b.txt").data == b"one"
    context.workspace.delete("b.txt")
    with pytest.raises(NotFound):
        beginning(context, "b.txt")


def test_nobody_gets_what_another_read(context: ToolContext, kept: Counting, later: None) -> None:
    write(context, b"one")
    for other in (context, replace(context, person=2), replace(context, text_bytes=2)):
        assert beginning(other, "a.txt").size == 3
    assert kept.hits == 0 and beginning(replace(context, text_bytes=2), "a.txt").data == b"on"


def test_there_is_room_for_so_much_only() -> None:
    small = ReadCache(10)
    for number in range(5):
        small.put((number,), b"1234")
    assert [number for number in range(5) if small.get((number,))] == [3, 4]
    small.put((3,), b"12345678")
    assert small.get((3,)) == b"12345678" and small.get((4,)) is None
    small.put((9,), b"x" * 11)
    assert small.get((9,)) is None


def test_the_end_of_a_file(context: ToolContext) -> None:
    write(context, b"0123456789")
    content = ending(replace(context, text_bytes=4), "a.txt")
    assert (content.data, content.size) == (b"6789", 10)
