"""Ten thousand hostile paths, and none of them leads out of the workspace (SAFETY 3.6, 4)."""

from __future__ import annotations

import os
import random
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.tools.files.workspace import Workspace
from tests.examples import at_least
from toolsupport.core.errors import NotFound, ToolError

CANARY = b"canary: nobody may read this"
PLANTED = ("", "a", "a/b", "a/b/c")
STEPS = (
    *("..", "...", ".", "", "../..", "..;", ".. ", " ..", "..\\..", "..%2f", "%2e%2e", "%2e%2e%2f", "%252e%252e"),
    *("．．", "‥", "․․", "..\u200b", "\u202e..", "..／", "..∕", "..%c0%af", "..%5c", "\\..\\", "..\0", "\0..", "..\n"),
    *("a", "b", "c", "out", "abs", "self", "up", "top", "host", "proc", "loop", "dead", "pipe", "hard", "sock", "dev"),
    *("~", "~root", "$HOME", "C:", "C:\\", "file:", "//host", "x" * 255, "x" * 256, "ä" * 128, "-rf", "*"),
    *("proc/self/root", "proc/self/cwd", "dev/fd/0", "etc/passwd", "good.txt", "outside", "secret.txt", "one"),
)
ENDS = ("", "/", "secret.txt", "/secret.txt", "outside/secret.txt", "/etc/passwd", "/dev/zero", "\0.txt", "good.txt")

# Half of the paths are made of what really leads somewhere, so that a careless opener would arrive.
WAYS = (
    *("a", "a/b", "a/b/c", ".", "", "..", "../..", "../outside", "out/../one"),
    *("up", "out", "top", "top/outside", "top/one"),
)
GOALS = ("secret.txt", "outside/secret.txt", "abs", "hard", "good.txt")


class Trap:
    """A workspace with every kind of way out planted at every level, and what lies outside of it."""

    def __init__(self, base: Path) -> None:
        self.outside = base / "outside"
        self.outside.mkdir()
        (self.outside / "secret.txt").write_bytes(CANARY)
        self.workspace = Workspace(base / "one")
        for level in PLANTED:
            self.plant(self.workspace.root / level)
        # Nothing that goes through the front door may name these, whatever else it does.
        self.starts = ("", "/", "./", "//", "a/", "a/b/", "/a/b/c/", f"{base}/", f"{self.outside}/", f"{base}/one/")

    def plant(self, at: Path) -> None:
        at.mkdir(parents=True, exist_ok=True)
        (at / "good.txt").write_bytes(b"good")
        links: dict[str, str | Path] = {
            "out": self.outside,
            "abs": self.outside / "secret.txt",
            "self": "/proc/self/root",
            "up": "..",
            "top": os.path.relpath(self.outside.parent, at),
            "host": "/",
            "proc": "/proc/self/cwd",
            "loop": "loop",
            "dead": "/nowhere/at/all",
            "dev": "/dev/zero",
        }
        for name, target in links.items():
            (at / name).symlink_to(target)
        os.mkfifo(at / "pipe")
        os.link(self.outside / "secret.txt", at / "hard")
        with socket.socket(socket.AF_UNIX) as listener, suppress(OSError):
            listener.bind(str(at / "sock"))

    def replant(self) -> None:
        """Deletions succeed inside: everything is put back, so that the later paths meet it again."""
        shutil.rmtree(self.workspace.root)
        for level in PLANTED:
            self.plant(self.workspace.root / level)

    def paths(self, chance: random.Random) -> Iterator[str]:
        while True:
            steps = chance.choices(STEPS, k=chance.randint(1, 5))
            yield chance.choice(self.starts) + chance.choice(("/", "//", "/./", "\\")).join(steps) + chance.choice(ENDS)
            steps = chance.choices(WAYS, k=chance.randint(0, 3))
            yield chance.choice(self.starts) + "/".join((*steps, chance.choice(GOALS)))

    def state(self) -> dict[str, tuple[int, int, bytes]]:
        return {
            str(path): (path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
            for path in (self.outside, *self.outside.rglob("*"))
        }


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap(tmp_path)


def read(workspace: Workspace, path: str) -> str:
    data = workspace.read(path, 4096).data
    return "" if data in (b"good", b"ours") else f"read {data[:40]!r}"


def listed(workspace: Workspace, path: str) -> str:
    names = [entry.path for entry in workspace.entries(path, recursive=True).entries]
    return "" if not any("secret" in name for name in names) else f"listed {names}"


def written(workspace: Workspace, path: str) -> str:
    at = workspace.write(path, [b"ours"])
    workspace.delete(at)
    return ""


def deleted(workspace: Workspace, path: str) -> str:
    workspace.delete(path)
    return ""


def attempt(act: Callable[[Workspace, str], str], workspace: Workspace, path: str) -> str:
    """Error, or "". Anything but a refusal in words is wrong, and so is a word about the host."""
    try:
        return act(workspace, path)
    except (ToolError, NotFound) as refusal:
        host = str(workspace.root.parent)
        return "" if host not in str(refusal) or host in path else f"told {refusal}"


def test_ten_thousand_paths_and_no_way_out(trap: Trap) -> None:
    before = trap.state()
    wrong, good = [], 0
    for path in islice(trap.paths(random.Random(20)), 10_000):
        for act in (read, listed):
            said = attempt(act, trap.workspace, path)
            wrong += [(act.__name__, path, said)] if said else []
        with suppress(ToolError, NotFound):
            good += trap.workspace.read(path, 10).data == b"good"
    assert wrong == []
    assert trap.state() == before
    assert good > 50, "some of the paths must lead to a file, else nothing was shown"


def test_the_same_paths_change_nothing_outside(trap: Trap) -> None:
    before = trap.state()
    wrong = []
    for number, path in enumerate(islice(trap.paths(random.Random(21)), 10_000)):
        if number % 500 == 0:
            trap.replant()
        for act in (deleted,) if number % 8 else (written, deleted):
            said = attempt(act, trap.workspace, path)
            wrong += [(act.__name__, path, said)] if said else []
    assert wrong == []
    assert trap.state() == before


def test_the_paths_have_teeth(trap: Trap) -> None:
    """An ordinary join and open lets many of the same paths out."""
    leaked = 0
    for path in islice(trap.paths(random.Random(20)), 10_000):
        if not {"dev", "pipe", "proc", "fd", "zero"} & set(path.replace("/", " ").split()):
            with suppress(OSError, ValueError):
                leaked += CANARY in (trap.workspace.root / path).read_bytes()
    assert leaked > 100


@settings(max_examples=at_least(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.lists(st.sampled_from([*"./\\~%:\0．\u202e", "../", *WAYS, *GOALS]), max_size=12).map("".join))
def test_paths_found_by_search_do_not_lead_out(trap: Trap, path: str) -> None:
    assert [said for act in (read, listed) if (said := attempt(act, trap.workspace, path))] == []


@pytest.mark.parametrize("level", PLANTED)
@pytest.mark.parametrize("name", ["out", "abs", "self", "up", "host", "loop", "dead", "dev", "pipe", "hard", "sock"])
def test_nothing_that_was_planted_opens(trap: Trap, level: str, name: str) -> None:
    path = f"{level}/{name}"
    if (trap.workspace.root / level / name).is_socket() or os.path.lexists(trap.workspace.root / level / name):
        with pytest.raises(ToolError):
            trap.workspace.read(path, 100)
        assert trap.workspace.entry(path).kind == "other"
        with pytest.raises((ToolError, NotFound)):
            trap.workspace.entries(path)


def test_a_pipe_does_not_make_the_reader_wait(trap: Trap) -> None:
    done = threading.Event()

    def reading() -> None:
        with suppress(ToolError):
            trap.workspace.read("pipe", 10)
        done.set()

    threading.Thread(target=reading, daemon=True).start()
    assert done.wait(10)


def test_a_workspace_that_is_a_link_itself_is_refused(trap: Trap, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(trap.outside)
    for act in (read, listed, written):
        assert attempt(act, Workspace(tmp_path / "linked"), "secret.txt") == ""
    assert (trap.outside / "secret.txt").read_bytes() == CANARY


def test_a_directory_that_is_swapped_for_a_link_during_the_walk(trap: Trap) -> None:
    """Another process flips `d` between a directory and a link to the outside as fast as it can."""
    root, over = trap.workspace.root, threading.Event()
    (root / "inside").mkdir()
    (root / "inside" / "secret.txt").write_bytes(b"good")
    (root / "link").symlink_to(trap.outside)
    os.rename(root / "inside", root / "d")

    def flip() -> None:
        while not over.is_set():
            os.rename(root / "d", root / "inside")
            os.rename(root / "link", root / "d")
            os.rename(root / "d", root / "link")
            os.rename(root / "inside", root / "d")

    flipping = threading.Thread(target=flip)
    flipping.start()
    seen = {"read": 0, "refused": 0, "out": 0}
    try:
        for _ in range(3_000):
            try:
                data = trap.workspace.read("d/secret.txt", 100).data
                seen["read" if data == b"good" else "out"] += 1
            except (ToolError, NotFound):
                seen["refused"] += 1
    finally:
        over.set()
        flipping.join()
    assert seen["out"] == 0
    assert seen["read"] and seen["refused"], seen
