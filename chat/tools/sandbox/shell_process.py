"""Runs a shell command that can access only its workspace."""

from __future__ import annotations

import asyncio
import codecs
import os
import shutil
import signal
import time
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from chat.tools.files.paths import DEPTH
from chat.tools.files.text_decoding import size_in_words
from chat.tools.files.workspace import ENTRIES, Workspace, is_given_up
from chat.tools.sandbox import (
    bwrap,
    command_cgroups,
    file_ownership,
    seccomp,
    uncounted_memory,
    usage,
    workspace_removal,
)
from chat.tools.sandbox.bwrap import SandboxLimits
from chat.tools.sandbox.usage import ResourceUsage
from toolsupport import cancellable_threads
from toolsupport.core.errors import ToolError

LIMITS = SandboxLimits()
# Seconds for which output gathers before it is shown, and between two measurements of a command.
GATHER, LOOK = 0.05, 0.2
CHUNK = 256 * 1024
LONGEST_COMMAND = 64 * 1024
# If memory or disk of the server is nearly full, only commands that took at least this much are ended.
ITS_PART = 1 / 8
NO_MEMORY = "the server has nearly no memory left"
DISK_FULL = "the disk of the server is nearly full"

# Characters that a terminal or a database does not treat as text.
UNPRINTABLE = {code: "\ufffd" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n\r"}


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The end of a command: an exit code, or `why` it was stopped. `cut`: the output is incomplete."""

    output: str
    code: int | None
    why: str = ""
    cut: bool = False


@dataclass(slots=True)
class OutputBuffer:
    """The output so far: at most `limit` bytes, however much arrives."""

    limit: int
    size: int = 0
    pieces: list[str] = field(default_factory=list)
    decoder: codecs.IncrementalDecoder = field(default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace"))

    def take(self, chunk: bytes) -> str:
        """Return the new text."""
        room = max(0, self.limit - self.size)
        self.size += len(chunk)
        text = self.decoder.decode(chunk[:room]).translate(UNPRINTABLE)
        self.pieces.append(text)
        return text


@dataclass(slots=True)
class CommandMonitor:
    """Decides when a command must end: by the clock, or by its usage."""

    workspace: Workspace
    limits: SandboxLimits
    # The kernel limits all memory of a group.
    in_group: bool = False
    began: float = field(default_factory=time.monotonic)
    # The lowest use of the machine since the beginning: memory that others release is no room for this command.
    kernel: int = field(default_factory=usage.kernel_memory)
    shared: int = field(default_factory=usage.shared_memory)
    looked: float = 0.0

    async def verdict(self, process: int) -> str:
        """Return why the command must stop, or ""; measures only as often as useful."""
        if time.monotonic() - self.began > self.limits.seconds:
            return f"it took longer than {self.limits.seconds:g} seconds"
        if time.monotonic() - self.looked < LOOK:
            return ""
        why = await cancellable_threads.run(self._look, process)
        self.looked = time.monotonic()
        return why

    def _look(self, process: int) -> str:
        used = usage.used_by(process, self.limits.memory)
        if used.memory > self.limits.memory:
            return _too_much_memory(self.limits)
        if used.cpu > self.limits.cpu_seconds:
            return f"it used more than {self.limits.cpu_seconds} seconds of processor time"
        if usage.temporary(used.members).count > self.limits.temporary_files:
            return f"it made more than {self.limits.temporary_files:,} temporary files"
        return (not self.in_group and self._memory_of_the_machine(used)) or self._disk(used)

    def _memory_of_the_machine(self, used: ResourceUsage) -> str:
        """Return why the command must stop if memory outside of processes grew, and it can hold that much of it."""
        kernel, shared = usage.kernel_memory(), usage.shared_memory()
        self.kernel, self.shared = min(kernel, self.kernel), min(shared, self.shared)
        limits, members = self.limits, used.members
        if kernel - self.kernel > limits.kernel and uncounted_memory.kernel(members) > limits.kernel:
            return f"the server's kernel uses {size_in_words(limits.kernel)} more memory than before it began"
        if shared - self.shared > limits.with_temporary < uncounted_memory.shared(members, limits.memory):
            size = size_in_words(limits.with_temporary)
            return f"the server's programs share {size} more memory than before it began"
        if usage.memory_left() < limits.reserve:
            own = usage.used_by(members[0]).memory
            held = own + uncounted_memory.kernel(members) + uncounted_memory.shared(members, limits.memory)
            if held > limits.reserve * ITS_PART:
                return NO_MEMORY
        return ""

    def _disk(self, used: ResourceUsage) -> str:
        """Return why the command must stop because of the disk, which other programs may fill as well."""
        why = overfull(self.workspace, self.limits)
        wrote_little = why == DISK_FULL and uncounted_memory.written(used.members) < self.limits.reserve * ITS_PART
        return "" if wrote_little else why


def overfull(workspace: Workspace, limits: SandboxLimits) -> str:
    """Return why nothing more may be written to a workspace, or ""."""
    try:
        size = workspace.usage().size
    except ToolError:
        return f"the workspace holds more than {ENTRIES:,} files, or more than {DEPTH} directories inside each other"
    if size > workspace.quota:
        return f"the workspace holds more than {size_in_words(workspace.quota)}"
    return DISK_FULL if shutil.disk_usage(workspace.root).free < limits.reserve else ""


async def run(
    workspace: Workspace, command: str, say: Callable[[str], None], limits: SandboxLimits = LIMITS
) -> CommandResult:
    """Run a command to its end, or until it exceeds a limit. `say` receives the output as it arrives.

    Cancellation kills the command and its children. Raises ToolError if it cannot start.
    """
    if len(command.encode()) > LONGEST_COMMAND or "\0" in command:
        raise ToolError(f"The command is too long, or no text: {size_in_words(LONGEST_COMMAND)} at most.")
    group = None
    try:
        group = await cancellable_threads.run_to_end(_prepare, workspace, limits)
        process = await _started(workspace, command, limits, group)
        collected = OutputBuffer(limits.output)
        try:
            why = await _follow(process, collected, say, CommandMonitor(workspace, limits, group is not None))
        finally:
            code = await _finish(process)
        if command_cgroups.ran_out_of_memory(group):
            why = why or (_too_much_memory(limits) if command_cgroups.reached_its_limit(group) else NO_MEMORY)
    finally:
        await cancellable_threads.run_to_end(_clean, workspace, group)
    output = "".join(collected.pieces)
    return CommandResult(output, None if why else code, why, cut=collected.size > limits.output)


async def _started(workspace: Workspace, command: str, limits: SandboxLimits, group: Path | None) -> Process:
    with seccomp.filter_to_read() as filter_:
        return await asyncio.create_subprocess_exec(
            *command_cgroups.joined(group, bwrap.argv(workspace.root, command, limits, filter_)),
            pass_fds=[filter_],
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            limit=CHUNK,
            env=bwrap.ENVIRONMENT,
            cwd="/",
            start_new_session=True,
        )


def _prepare(workspace: Workspace, limits: SandboxLimits) -> Path | None:
    """Return the control group of the command, if there can be one. Raises ToolError."""
    why = overfull(workspace, limits)
    if why:
        raise ToolError(f"Nothing was run: {why}. Delete some files first.")
    file_ownership.hand_over(workspace.root)
    cancellable_threads.check()  # nothing would remove the group of a command that does not start
    return command_cgroups.make(limits)


def _clean(workspace: Workspace, group: Path | None) -> None:
    command_cgroups.remove(group)
    if is_given_up(workspace.root):  # its chat was deleted while the command was ended
        workspace_removal.remove(workspace.root)
    else:
        file_ownership.take_back(workspace.root)


def _too_much_memory(limits: SandboxLimits) -> str:
    return f"it used more than {size_in_words(limits.memory)} of memory"


async def _follow(process: Process, collected: OutputBuffer, say: Callable[[str], None], watch: CommandMonitor) -> str:
    """Pass on a command's output until it ends (then "") or must end (then the reason)."""
    assert process.stdout is not None
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK):
                chunk = await process.stdout.read(CHUNK)
                if not chunk:
                    await process.wait()
                    return ""
                text = collected.take(chunk)
                if text:
                    say(text)
                await asyncio.sleep(GATHER)
        why = await watch.verdict(process.pid)
        if why:
            return why


async def _finish(process: Process) -> int:
    """Kill the remaining processes and return the exit code. Further output is dropped: a full pipe never ends."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    assert process.stdout is not None
    while await process.stdout.read(CHUNK):
        pass
    return await process.wait()
