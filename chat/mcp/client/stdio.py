"""Starts an MCP server as a process and exchanges messages through its pipes.

The SDK's own transport keeps a line without limit, and logs unreadable ones whole; here a line that is too
long, or many unreadable ones, ends the connection.
"""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from chat.mcp.client.message_guard import LINE_BYTES, MessageGuard, ServerBroke
from toolsupport.core.errors import ConfigError, ToolsupportError
from toolsupport.core.remote_tools import RemoteServer
from toolsupport.core.sentences import sentence

GRACE = 0.5  # seconds a server has to end on its own, then again after it was asked to
LAST_WORDS = 400
# Lines without a message between them: some servers greet on their standard output, or log each call there.
MOST_UNREADABLE = 50
INHERITED = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "TZ", "TMPDIR")


class ProcessEnded(ToolsupportError):
    """The process has ended, or its output is unusable; the text gives the reason."""


@asynccontextmanager
async def opened(server: RemoteServer, lost: Callable[[], None], guard: MessageGuard) -> AsyncIterator[Any]:
    """Open the streams for the SDK's client. `lost` is called when the output of the process ends."""
    import anyio

    process = await _started(server)
    stderr_lines: deque[str] = deque(maxlen=LAST_WORDS)
    to_client, incoming = anyio.create_memory_object_stream[Any](0)
    outgoing, from_client = anyio.create_memory_object_stream[Any](0)
    ended_itself = False
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_collect_stderr, process, stderr_lines)
            tasks.start_soon(_read, process, to_client, lost, guard)
            tasks.start_soon(_write, process, from_client)
            try:
                yield incoming, outgoing
            finally:
                ended_itself = process.stdout is not None and process.stdout.at_eof()
                await _end(process)
                tasks.cancel_scope.cancel()
    except Exception as error:
        # A program that is ended here, because of an error, is not the reason of that error.
        if guard.reason or not ended_itself or process.returncode is None:
            raise
        raise ProcessEnded(_farewell(process, stderr_lines)) from error
    finally:
        _kill(process, signal.SIGKILL)
        # A pipe that was not read to its end stays open otherwise: nothing reads it any more.
        process._transport.close()  # type: ignore[attr-defined]
        for stream in (to_client, incoming, outgoing, from_client):
            stream.close()


async def _started(server: RemoteServer) -> Process:
    usual = {name: os.environ[name] for name in INHERITED if name in os.environ}
    try:
        return await asyncio.create_subprocess_exec(
            server.command,
            *server.args,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=usual | dict(server.env),
            cwd=server.cwd or None,
            limit=LINE_BYTES,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        text = getattr(error, "strerror", None) or str(error)
        raise ConfigError(sentence("mcp_not_started", command=server.command, text=text)) from error


async def _read(process: Process, to_client: Any, lost: Callable[[], None], guard: MessageGuard) -> None:
    """Read the server's messages until it ends or breaks a limit."""
    import anyio
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    assert process.stdout is not None
    unreadable = 0
    try:
        # The client is being left, or `guard` ends the connection.
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ServerBroke):
            while line := await _line(process.stdout, guard):
                guard.line(line)
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    unreadable += 1
                    if unreadable > MOST_UNREADABLE:
                        guard.broke(sentence("mcp_no_messages", most=MOST_UNREADABLE))
                    continue
                unreadable = 0
                await to_client.send(SessionMessage(message))
    finally:
        to_client.close()
        lost()


async def _line(stdout: asyncio.StreamReader, guard: MessageGuard) -> bytes:
    """Return the next line, b"" at the end. Raises ServerBroke for one that is too long."""
    try:
        return await stdout.readline()
    except ValueError:
        guard.broke(sentence("mcp_line_too_long"))
        raise


async def _write(process: Process, from_client: Any) -> None:
    assert process.stdin is not None
    with suppress(OSError):  # it closed its input; its next output, or its end, gives the reason
        async for sent in from_client:
            process.stdin.write(sent.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await process.stdin.drain()


async def _collect_stderr(process: Process, stderr_lines: deque[str]) -> None:
    """Keep the last part of standard error: it explains a crash."""
    assert process.stderr is not None
    while piece := await process.stderr.read(4096):
        stderr_lines.extend(piece.decode(errors="replace"))


async def _end(process: Process) -> None:
    """Stop it as the protocol requires: close its standard input, wait, terminate, wait, kill."""
    if process.stdin is not None:
        process.stdin.close()
    for ask in (None, signal.SIGTERM, signal.SIGKILL):
        if ask is not None:
            _kill(process, ask)
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await process.wait()
            return


def _kill(process: Process, how: signal.Signals) -> None:
    """Kill the process and its children."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, how)


def _farewell(process: Process, stderr_lines: deque[str]) -> str:
    words = " ".join("".join(stderr_lines).split())
    code = process.returncode or 0
    facts = {"signal": -code} if code < 0 else {"status": code}
    bare, after = ("mcp_killed", "mcp_killed_after") if code < 0 else ("mcp_ended", "mcp_ended_after")
    return sentence(after, **facts, text=words) if words else sentence(bare, **facts)
