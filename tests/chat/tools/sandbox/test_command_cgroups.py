"""A command gets a control group of its own where one is delegated, and the reason is given where none is.

The groups here are directories with the kernel's files: what is written is checked, not what a kernel does with it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chat.tools.files.workspace import Workspace
from chat.tools.sandbox import command_cgroups, shell_process
from chat.tools.sandbox.active_guards import guards
from chat.tools.sandbox.bwrap import MIB, SandboxLimits
from chat.tools.sandbox.command_cgroups import Delegation
from tests.installed import needs


def group(place: Path, controllers: str = "cpu memory pids", enabled: str = "", processes: str = "10\n11\n") -> Path:
    place.mkdir()
    (place / "cgroup.controllers").write_text(controllers)
    (place / "cgroup.subtree_control").write_text(enabled)
    (place / "cgroup.procs").write_text(processes)
    return place


def test_the_server_makes_room_for_groups(tmp_path: Path) -> None:  # S5
    own = group(tmp_path / "own")
    assert command_cgroups.find(own, True, [10, 11]) == Delegation(own)
    assert (own / "toolsupport-server" / "cgroup.procs").read_text() in ("10", "11")
    assert (own / "cgroup.subtree_control").read_text() == "+memory +pids"


def test_room_that_was_made_is_used_again(tmp_path: Path) -> None:
    own = group(tmp_path / "own", enabled="memory pids", processes="")
    assert command_cgroups.find(own / "toolsupport-server", True, [10]) == Delegation(own)


@pytest.mark.parametrize(
    ("controllers", "processes", "why"),
    [
        ("hugetlb", "10", "the server's group has no controller memory and pids"),
        ("memory", "10", "the server's group has no controller pids"),
        ("memory pids", "10 99", "other programs run in the server's group"),
    ],
)
def test_no_group_where_none_is_ours(controllers: str, processes: str, why: str, tmp_path: Path) -> None:
    own = group(tmp_path / "own", controllers, processes=processes)
    assert command_cgroups.find(own, True, [10]) == Delegation(None, why)
    assert not (own / "toolsupport-server").exists() and (own / "cgroup.subtree_control").read_text() == ""


def test_root_needs_a_delegation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    found = command_cgroups.find(group(tmp_path / "own"), False, [10, 11])
    assert found.directory is None and "Delegate=memory pids" in found.why
    assert "version 2" in command_cgroups.find(None, False, []).why


@pytest.mark.asyncio
@needs("bwrap")
async def test_a_command_enters_its_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # S5
    monkeypatch.setattr(command_cgroups, "delegation", lambda: Delegation(tmp_path))
    workspace = Workspace(tmp_path / "workspace")
    workspace.root.mkdir()
    ended = await shell_process.run(workspace, "echo here", lambda _: None, SandboxLimits(memory=200 * MIB))
    (made,) = tmp_path.glob("command-*")
    assert ended.output == "here\n" and int((made / "cgroup.procs").read_text()) > 1
    kept = {name: (made / name).read_text() for name in ("memory.max", "pids.max", "memory.oom.group", "cgroup.kill")}
    assert kept == {"memory.max": str(328 * MIB), "pids.max": "72", "memory.oom.group": "1", "cgroup.kill": "1"}
    assert not command_cgroups.ran_out_of_memory(made)
    (made / "memory.events").write_text("low 0\nmax 9\noom 1\noom_kill 2\n")
    assert command_cgroups.ran_out_of_memory(made) and command_cgroups.reached_its_limit(made)
    (made / "memory.events").write_text("low 0\nmax 0\noom 0\noom_kill 2\n")
    assert command_cgroups.ran_out_of_memory(made) and not command_cgroups.reached_its_limit(made)


def test_the_doctor_names_each_guard(monkeypatch: pytest.MonkeyPatch) -> None:  # S5
    monkeypatch.setattr(command_cgroups, "delegation", lambda: Delegation(None, "no reason"))
    found = {guard.name: guard for guard in guards()}
    assert set(found) == {"isolation", "control group", "free memory", "number of files"}
    assert not found["control group"].is_real and "none: no reason. Memory of all" in found["control group"].words
    monkeypatch.setattr(command_cgroups, "delegation", lambda: Delegation(Path("here")))
    assert {guard.name for guard in guards() if not guard.is_real} == set()
