"""A command in the sandbox reaches its workspace and nothing else, and uses no more than it may (SAFETY 3.8)."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from chat.tools.files.workspace import Workspace
from chat.tools.sandbox import bwrap, shell_process, usage
from chat.tools.sandbox.bwrap import MIB
from chat.tools.sandbox.shell_process import LIMITS, CommandResult, OutputBuffer
from tests.chat.tools.sandbox import probes
from tests.installed import needs
from toolsupport.core.errors import ToolError

needs_a_sandbox = needs("bwrap")
pytestmark = [pytest.mark.asyncio, needs_a_sandbox]


def unheard(_: str) -> None:
    """Nobody looks on."""


async def run(workspace: Workspace, command: str, say: Callable[[str], None] = unheard, **limits: Any) -> CommandResult:
    workspace.root.mkdir(parents=True, exist_ok=True)
    return await shell_process.run(workspace, command, say, replace(LIMITS, **limits))


def alive(command: str) -> bool:
    """Whether a process of this machine runs this command."""
    wanted = command.encode().replace(b" ", b"\0") + b"\0"
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if path.read_bytes() == wanted:
                return True
    return False


async def output(workspace: Workspace, command: str) -> str:
    ended = await run(workspace, command)
    assert ended.why == ""
    return ended.output


async def test_it_works_in_the_workspace(workspace: Workspace) -> None:
    workspace.write("src/a.txt", [b"before"])
    ended = await run(workspace, "cat src/a.txt; echo after > src/b.txt; rm src/a.txt; echo to stderr >&2; exit 3")
    assert ended == CommandResult("beforeto stderr\n", 3)
    assert [entry.path for entry in workspace.entries("src").entries] == ["src/b.txt"]
    assert workspace.read("src/b.txt", 100).data == b"after\n"


async def test_who_it_is(workspace: Workspace) -> None:
    told = await output(workspace, "id; pwd; hostname; grep -E '^(Cap|NoNewPrivs)' /proc/self/status")
    assert told.startswith("uid=65534 gid=65534 groups=65534\n/workspace\nsandbox\n")
    assert {line.split()[1].strip("0") for line in told.splitlines() if line.startswith("Cap")} == {""}
    assert "NoNewPrivs:\t1" in told


async def test_nothing_of_the_server_in_its_environment(workspace: Workspace) -> None:
    with patch.dict(os.environ, {"TOOLSUPPORT_SECRET_KEY": "canary-in-the-environment"}):
        told = await output(workspace, "env; cat /proc/*/environ | tr '\\0' '\\n'; cat /proc/*/cmdline | tr '\\0' ' '")
    assert "PATH=/usr/local/bin:/usr/bin:/bin" in told and "canary" not in told
    assert not [line for line in told.splitlines() if line.startswith(("TOOLSUPPORT", "DJANGO", "PYTEST", "VIRTUAL"))]


async def test_devices_and_the_start_of_the_machine_are_not_seen(workspace: Workspace) -> None:  # S5
    names = " ".join((*bwrap.MACHINE, *bwrap.MACHINE_PARTS))
    reading = f"cd /proc; for one in {names}; do cat $one $one/*; done 2>/dev/null; nproc; cat meminfo"
    told = await output(workspace, reading)
    assert len(told.split("\n")[0]) < 4 and "MemTotal:" in told
    assert Path("/proc/cmdline").read_text().split()[0] not in told


async def test_only_its_own_processes_are_seen(workspace: Workspace) -> None:
    told = await output(workspace, f"ls -d /proc/[0-9]* | wc -l; ls /proc/{os.getpid()}; kill -9 {os.getpid()}")
    assert int(told.split()[0]) < 9
    assert told.count("No such") == 2


async def test_no_open_file_is_inherited(workspace: Workspace) -> None:
    assert (await output(workspace, "echo /proc/self/fd/*")).split() == [
        f"/proc/self/fd/{number}" for number in range(4)
    ]


async def test_nothing_outside_is_seen(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("canary")
    here = Path(__file__).resolve().parents[3]
    places = f"/etc/shadow /etc/passwd /root /home /var /opt /sys /run {here} {tmp_path} /proc/1/root/etc/shadow"
    told = await output(workspace, f"cat {tmp_path}/secret.txt; for each in {places}; do ls -d $each 2>&1; done")
    assert "canary" not in told and told.count("No such file or directory") == len(places.split()) + 1


async def test_nor_the_application_where_it_lies_among_the_programs(workspace: Workspace) -> None:
    with patch.object(bwrap, "APP", Path("/usr/share")):
        assert await output(workspace, "ls -A /usr/share; echo x > /usr/share/made") == (
            "/bin/bash: line 1: /usr/share/made: Read-only file system\n"
        )
    argv = bwrap.argv(Path("/usr/local/site/workspaces/one"), "true", LIMITS, 9)
    assert argv[argv.index("--tmpfs") + 1] == "/usr/local/site"


@pytest.mark.parametrize("place", ["/", "/usr", "/etc", "/dev", "/proc/sys/kernel", "/bin"])
async def test_nothing_else_can_be_written(workspace: Workspace, place: str) -> None:
    ended = await run(workspace, f"echo x > {place}/made")
    assert ended.code == 1 and "made" in ended.output


async def test_no_network_of_the_host(workspace: Workspace, tmp_path: Path) -> None:
    hidden = f"\0toolsupport-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        listener.listen()
        abstract = socket.socket(socket.AF_UNIX)
        abstract.bind(hidden)
        abstract.listen()
        port = server.getsockname()[1]
        ways = f"""
import socket
def tried(family, address):
    with socket.socket(family) as one:
        one.settimeout(2)
        try:
            one.connect(address)
            return "connected"
        except OSError as error:
            return type(error).__name__
print(tried(socket.AF_INET, ("127.0.0.1", {port})))
print(tried(socket.AF_INET, ("192.0.2.1", 80)))
print(tried(socket.AF_UNIX, {str(tmp_path / "socket")!r}))
print(tried(socket.AF_UNIX, {hidden!r}))
try:
    print(socket.getaddrinfo("example.org", 80))
except OSError as error:
    print(type(error).__name__)
"""
        workspace.write("ways.py", [ways.encode()])
        told = await output(workspace, "python3 ways.py")
        abstract.close()
    assert told.splitlines() == [
        *("ConnectionRefusedError", "OSError", "FileNotFoundError", "ConnectionRefusedError", "gaierror")
    ]


async def test_links_do_not_lead_the_server_out(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("canary")
    links = f"ln -s {tmp_path}/secret.txt file; ln -s {tmp_path} dir; ln -s / top; mkfifo pipe; ln -s file again"
    await run(workspace, f"{links}; echo x > one; ln one two; ln -s /proc/self/root self")
    listed = {entry.path: entry.kind for entry in workspace.entries(recursive=True).entries}
    assert set(listed.values()) == {"other"} and len(listed) == 8
    for path in ("file", "dir/secret.txt", f"top{tmp_path}/secret.txt", "again", "pipe", "two", "self/etc/passwd"):
        with pytest.raises(ToolError):
            workspace.read(path, 100)
        with pytest.raises(ToolError):
            workspace.write(f"{path}/x", [b"x"])
    for path in listed:
        workspace.delete(path)
    assert (tmp_path / "secret.txt").read_text() == "canary" and workspace.usage().entries == 0


ESCAPES = """
import itertools, os, random
words = random.Random(1)
steps = ".. ../.. . self root cwd fd proc up top dev usr workspace etc 1".split() + [""]
starts = ["", "/", "./", "/proc/self/root/", "/proc/1/root/", "/proc/1/cwd/", "/dev/fd/", "/proc/self/fd/", "/tmp/"]
for link in ("up ..", "top /", "root /proc/1/root", "cwd /proc/1/cwd", "self /proc/self"):
    os.symlink(link.split()[1], link.split()[0])
seen = made = 0
for count in range(TIMES):
    path = words.choice(starts) + "/".join(words.choices(steps, k=words.randrange(9))) + words.choice(ENDS)
    for mode in (os.O_RDONLY, os.O_WRONLY | os.O_CREAT | os.O_APPEND):
        try:
            opened = os.open(path, mode | os.O_NONBLOCK, 0o666)
        except (OSError, ValueError):
            continue
        try:
            seen += mode == os.O_RDONLY and b"canary" in os.read(opened, 100)
            made += mode != os.O_RDONLY and os.write(opened, b"changed") > 0
        except OSError:
            pass
        os.close(opened)
print(TIMES, seen, made > 0)
"""


# SAFETY 4
async def test_ten_thousand_paths_lead_nowhere(workspace: Workspace, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("canary")
    ends = [f"{outside}/secret.txt", "/etc/shadow", f"{outside}/new", "/etc/passwd", "/secret.txt", ""]
    ways = ESCAPES.replace("TIMES", "10_000").replace("ENDS", repr(ends))
    workspace.write("escapes.py", [ways.encode()])
    before = sorted(str(path) for path in tmp_path.rglob("*") if workspace.root not in path.parents)
    # Its own output is among what it may write to.
    assert (await output(workspace, "python3 escapes.py")).endswith("10000 0 True\n")
    assert (outside / "secret.txt").read_text() == "canary"
    assert sorted(str(path) for path in tmp_path.rglob("*") if workspace.root not in path.parents) == before


# -- limits --


async def test_a_bomb_of_processes_is_bounded(workspace: Workspace) -> None:
    bomb = "import os, time\nmade = 0\ntry:\n while True:\n  if not os.fork(): time.sleep(60)\n  made += 1\n"
    workspace.write("bomb.py", [f"{bomb}except OSError: print(made)".encode()])
    ended = await run(workspace, "python3 bomb.py")
    assert 50 < int(ended.output) < 64 and ended.code == 0


async def test_a_fork_bomb_ends(workspace: Workspace) -> None:
    ended = await run(workspace, "f() { f | f & }; f; sleep 60", seconds=2)
    assert ended.why == "it took longer than 2 seconds"


async def test_what_is_left_in_the_background_dies(workspace: Workspace) -> None:
    ended = await run(workspace, "setsid sleep 4242 & (sleep 4242 &) ; nohup sleep 4242 >/dev/null & echo done")
    assert ended.output == "done\n"
    assert not alive("sleep 4242")


async def test_the_kernel_ends_commands_before_the_server(workspace: Workspace) -> None:
    assert await output(workspace, "cat /proc/self/oom_score_adj") == "1000\n"


# S5
async def test_no_probe_finds_a_way_around_the_limits(workspace: Workspace) -> None:
    workspace.write("probes.py", [probes.program().encode()])
    found = json.loads(await output(workspace, "python3 probes.py"))
    assert len(found) > 70 and found == {name: wanted for name, (_, wanted) in probes.PROBES.items()}


# S5
@pytest.mark.skipif(platform.machine() != "x86_64", reason="another processor has no such table")
async def test_calls_of_the_old_table_end_the_program(workspace: Workspace) -> None:
    workspace.write("old.py", [probes.OTHER_TABLE.encode()])
    ended = await run(workspace, "python3 old.py; echo $?")
    assert int(ended.output.split()[-1]) in (128 + signal.SIGSYS, 128 + signal.SIGSEGV)


async def test_one_process_cannot_take_much_memory(workspace: Workspace) -> None:
    ended = await run(workspace, "python3 -c 'bytearray(600 * 1024 * 1024)' 2>&1 | tail -1")
    assert ended.output == "MemoryError\n"


async def test_nor_can_several_together(workspace: Workspace) -> None:
    hog = "python3 -c 'import time; kept = bytearray(b\"x\") * 40_000_000; time.sleep(60)'"
    ended = await run(workspace, f"for each in 1 2 3 4; do {hog} & done; wait", memory=100 * MIB)
    assert ended.why == "it used more than 100 MiB of memory" and ended.code is None


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
async def test_temporary_files_are_bounded(workspace: Workspace, place: str) -> None:
    ended = await run(workspace, f"for n in 1 2 3; do head -c 30M /dev/zero > {place}/$n; done; du -sm {place}")
    assert "No space left" in ended.output and int(ended.output.split()[-2]) <= 64


async def test_one_file_is_bounded(workspace: Workspace) -> None:
    await run(workspace, "head -c 80M /dev/zero > big")
    assert workspace.entry("big").size == 50 * MIB


async def test_the_disk_cannot_be_filled(tmp_path: Path) -> None:
    small = Workspace(tmp_path / "small", quota=20 * MIB)
    ended = await run(small, "n=0; while :; do n=$((n+1)); head -c 1M /dev/zero > $n; sleep 0.01; done")
    assert ended.why == "the workspace holds more than 20 MiB"
    assert small.usage().size < 100 * MIB
    with pytest.raises(ToolError, match="Nothing was run: the workspace holds more than 20 MiB"):
        await run(small, "true")


async def test_nor_by_many_files(workspace: Workspace) -> None:
    ended = await run(workspace, "n=0; while :; do n=$((n+1)); : > $n; done")
    assert "more than 10,000 files" in ended.why


# S5: 252,000 empty files held 423 MiB of the kernel's memory.
@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
async def test_nor_can_empty_files_fill_memory(workspace: Workspace, place: str) -> None:
    ended = await run(workspace, f"cd {place}; n=0; while :; do n=$((n+1)); : > $n; done", temporary_files=2000)
    assert ended.why == "it made more than 2,000 temporary files"


async def test_nor_where_it_is_nearly_full_already(workspace: Workspace) -> None:
    with pytest.raises(ToolError, match="the disk of the server is nearly full"):
        await run(workspace, "true", reserve=2**60)


async def test_processor_time_is_bounded_for_all_together(workspace: Workspace) -> None:
    ended = await run(workspace, "for each in 1 2 3; do while :; do :; done & done; wait", cpu_seconds=1)
    assert ended.why == "it used more than 1 seconds of processor time"


async def test_a_flood_is_cut_and_does_no_harm(workspace: Workspace) -> None:
    ended = await run(workspace, "yes 2>/dev/null", seconds=1, output=1000)
    assert ended.cut and ended.output == "y\n" * 500 and ended.why == "it took longer than 1 seconds"


async def test_bytes_that_are_no_text(workspace: Workspace) -> None:
    ended = await run(workspace, "printf 'a\\0b\\033[31mc\\377d\\t\\n'; head -c 50000 /dev/urandom")
    assert ended.output.startswith("a\ufffdb\ufffd[31mc\ufffdd\t\n") and "\0" not in ended.output
    assert len(ended.output.encode("utf-8")) > 50_000


async def test_a_character_that_comes_in_pieces() -> None:
    received = OutputBuffer(limit=5)
    assert [received.take(bytes([byte])) for byte in "ä€x".encode()] == ["", "ä", "", "", "€", ""]
    assert received.size == 6


async def test_output_is_heard_while_it_comes(workspace: Workspace) -> None:
    received: list[str] = []
    fifo = "mkfifo wait; echo first; cat wait; echo second"
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        running = group.create_task(run(workspace, fifo, received.append))
        while received != ["first\n"]:
            await asyncio.sleep(0.01)
        (workspace.root / "wait").write_text("")
    assert running.result().output == "first\nsecond\n" and received == ["first\n", "second\n"]


async def test_a_stop_kills_all_of_it(workspace: Workspace) -> None:
    received: list[str] = []
    command = "trap '' TERM INT HUP; setsid sleep 4343 & mkdir -m 0 closed; echo ready; sleep 4343"
    running = asyncio.ensure_future(run(workspace, command, received.append))
    async with asyncio.timeout(20):
        while not received:
            await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert not alive("sleep 4343")
    workspace.delete("closed")


async def test_what_it_leaves_can_be_read_and_removed(workspace: Workspace) -> None:
    made = "mkdir -p a/b; echo x > a/b/c; chmod 0 a/b/c a/b a; touch s; chmod 7777 s; mkdir -m 7777 t"
    deep = "for n in {1..300}; do mkdir d; cd d; done; echo x > bottom; chmod 0 ."
    await run(workspace, f"{made}; {deep}")
    assert workspace.read("a/b/c", 10).data == b"x\n"
    for made_by_it in workspace.root.rglob("*"):
        status = made_by_it.stat()
        assert status.st_uid == os.geteuid() and status.st_mode & 0o7077 == 0
    for path in ("a", "s", "t", "d"):
        workspace.delete(path)
    assert workspace.usage().entries == 0


async def test_it_dies_with_the_server(workspace: Workspace) -> None:
    code = f"""
import asyncio, pathlib
from chat.tools.sandbox import shell_process
from chat.tools.files.workspace import Workspace
workspace = Workspace(pathlib.Path({str(workspace.root)!r}))
asyncio.run(shell_process.run(workspace, "echo up; sleep 4444", lambda text: print(text, flush=True)))
"""
    workspace.root.mkdir(parents=True)
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    assert server.stdout is not None
    async with asyncio.timeout(20):
        assert await server.stdout.readline() == b"up\n"
        while not alive("sleep 4444"):
            await asyncio.sleep(0.01)
        server.kill()
        await server.wait()
        while alive("sleep 4444"):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("command", ["echo \0", "x" * 65 * 1024])
async def test_what_is_no_command(workspace: Workspace, command: str) -> None:
    with pytest.raises(ToolError, match="too long"):
        await run(workspace, command)


async def test_the_gauges_see_children() -> None:
    used = usage.used_by(os.getpid())
    assert used.memory > MIB and used.cpu > 0 and used.members
    assert usage.used_by(2**30) == usage.ResourceUsage(0, 0, (2**30,))
