"""The memory that is left is that of the container, not of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat.tools.sandbox import server_cgroup, usage

MIB = 1024 * 1024


def group(directory: Path, **files: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (directory / name.replace("__", ".")).write_text(text)


def proc(place: Path, groups: str, mounts: str) -> Path:
    (place / "cgroup").write_text(groups)
    (place / "mountinfo").write_text(mounts)
    return place


def test_the_second_version_counts_every_level(tmp_path: Path) -> None:  # S5
    top = tmp_path / "fs"
    group(top / "site", memory__max=str(900 * MIB), memory__current=str(800 * MIB), memory__stat="inactive_file 0\n")
    group(
        top / "site" / "web",
        memory__max="max",
        memory__current=str(700 * MIB),
        memory__stat="anon 5\ninactive_file 1048576\n",
    )
    group(
        top / "site" / "web" / "a",
        memory__max="10485760",
        memory__current="4194304",
        memory__stat="inactive_file 1048576\n",
    )
    mounts = f"31 23 0:28 / {top} rw - cgroup2 cgroup2 rw,nsdelegate\n40 23 0:29 / /proc rw - proc proc rw\n"
    found = list(server_cgroup.memory_left(proc(tmp_path, "0::/site/web/a\n", mounts)))
    assert found == [7 * MIB, 100 * MIB]


def test_the_first_version_with_a_part_that_is_mounted(tmp_path: Path) -> None:  # S5
    top = tmp_path / "memory"
    stat = "inactive_file 0\ntotal_inactive_file 2097152\n"
    group(top, memory__limit_in_bytes="9223372036854771712", memory__usage_in_bytes="1", memory__stat=stat)
    group(top / "b", memory__limit_in_bytes=str(64 * MIB), memory__usage_in_bytes=str(60 * MIB), memory__stat=stat)
    mounts = "32 31 0:29 /docker/x /nowhere rw - cgroup cgroup rw,cpu\n"
    mounts += f"33 31 0:29 /docker/x {top} rw shared:1 - cgroup cgroup rw,memory\n"
    place = proc(tmp_path, "5:cpu:/docker/x/b\n4:memory:/docker/x/b\n0::/\n", mounts)
    assert list(server_cgroup.memory_left(place)) == [6 * MIB]


def test_no_groups(tmp_path: Path) -> None:
    assert list(server_cgroup.memory_left(tmp_path / "none")) == []
    assert list(server_cgroup.memory_left(proc(tmp_path, "0::/gone\n", ""))) == []


def test_the_smallest_limit_counts(monkeypatch: pytest.MonkeyPatch) -> None:  # S5
    monkeypatch.setattr(server_cgroup, "memory_left", lambda: iter([]))
    assert usage.memory_left() > MIB
    monkeypatch.setattr(server_cgroup, "memory_left", lambda: iter([5 * MIB]))
    assert usage.memory_left() == 5 * MIB
