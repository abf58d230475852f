"""Decides whether a call may run, and runs it within its limits."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import posixpath
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from chat.statuses import CallStatus
from chat.tools import BUILTINS
from chat.tools.files.text_decoding import bounded
from chat.tools.tool import Pause, PausedCallResult, Tool, ToolContext
from toolsupport.core import sanitize
from toolsupport.core.errors import Lost, NotFound, ToolError
from toolsupport.core.types import ToolCall, ToolResult

log = logging.getLogger(__name__)

# Levels that run without asking, levels that ask, and those of the latter that may be allowed for a whole chat. A
# tool of an unknown level does not run at all.
RUNS = frozenset({"A0", "A1"})
ASKS = frozenset({"A2", "A3", "A4"})
GRANTABLE = frozenset({"A2"})
# Levels that a program may call: the person who allowed it has read the program, but not code that it would run.
IN_PROGRAMS = RUNS | GRANTABLE
LONGEST_PATH = 1000
# Room for the note of a tool that has already cut its own result.
NOTE = 200


class CallDecision(StrEnum):
    """The decision about a call."""

    RUN = "run"
    ASK = "ask"
    DENY = "deny"


def verdict(tool: Tool | None, granted: frozenset[str], tainted: bool) -> CallDecision:
    """Return whether a call of this tool may run. A grant counts only without outside content in the turn.

    With outside content a tool that sends data to others, or that changes the system prompt of later answers, needs
    approval too, even if it is read-only.
    """
    if tool is None or tool.level not in RUNS | ASKS:
        return CallDecision.DENY
    if tool.level in RUNS:
        return CallDecision.ASK if tainted and (tool.sends or tool.steers) else CallDecision.RUN
    return CallDecision.RUN if tool.spec.name in granted and grantable(tool, tainted) else CallDecision.ASK


def grantable(tool: Tool, tainted: bool) -> bool:
    """Return whether a person may allow this tool for the rest of the conversation."""
    return tool.level in GRANTABLE and not tainted


def grant(tool: str, path: str = "") -> str:
    """Return a permission as one text: of a tool, or of a tool for one file. No name of a tool has such a character."""
    return f"{tool}\x1f{path}" if path else tool


def file_of(tool: Tool | None, arguments: Mapping[str, object]) -> str:
    """Return the file that a call changes, as permissions name it; "" for a tool that changes no single file.

    Two spellings of one path give the same name only if that is certain; any other spelling asks again.
    """
    path = arguments.get(tool.target) if tool and tool.level in GRANTABLE and tool.target == "path" else None
    if not isinstance(path, str) or path != path.strip() or not path.isprintable() or len(path) > LONGEST_PATH:
        return ""
    named = posixpath.normpath(path)
    return "" if named in (".", "/") or named.startswith("..") else named


def granted_for(tool: Tool | None, granted: frozenset[str], arguments: Mapping[str, object]) -> frozenset[str]:
    """Return the tool's name if a permission covers a call of it, else nothing."""
    if tool is None:
        return frozenset()
    name, path = tool.spec.name, file_of(tool, arguments)
    return frozenset({name}) if name in granted or (path and grant(name, path) in granted) else frozenset()


def fingerprint(call: ToolCall, place: str) -> str:
    """Return the identity of an approval: tool, arguments and place (workspace, turn, person); any change voids it."""
    arguments = json.dumps(call.arguments, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256("\x1f".join((call.name, arguments, place)).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """`status` is done, failed, timeout or denied; `duration_ms` is wall time.

    `pause` is set if the tool waits for a call of its own.
    """

    status: str
    result: ToolResult
    duration_ms: int
    pause: Pause | None = None


async def run(
    call: ToolCall, context: ToolContext, tools: Mapping[str, Tool] = BUILTINS, approved: bool = False
) -> CallOutcome:
    """Run one call, or return why not. Raises nothing but a cancellation, and Lost if another process owns the turn.

    `approved`: a person allowed exactly this call, or this tool in this conversation.
    """
    tool = tools.get(call.name)
    if tool is None:
        return refused(f"{call.name} was not run: there is no such tool.")
    if tool.level not in RUNS and not (approved and tool.level in ASKS):
        return refused(f"{call.name} was not run: it needs a permission that cannot be given here.")
    return await _timed(call, tool, context, lambda: tool.run(context, call.arguments))


async def go_on(call: ToolCall, context: ToolContext, tool: Tool, after: tuple[bytes, PausedCallResult]) -> CallOutcome:
    """Continue an allowed and paused call with (its state, the result it waited for)."""
    resume = tool.resume
    if resume is None:
        return refused(f"{call.name} cannot be continued.")
    return await _timed(call, tool, context, lambda: resume(context, *after))


def refused(why: str) -> CallOutcome:
    """Return the outcome of a call that was not run."""
    return CallOutcome("denied", _error(why), 0)


Work = Callable[[], Awaitable[ToolResult | Pause]]


async def _timed(call: ToolCall, tool: Tool, context: ToolContext, work: Work) -> CallOutcome:
    started = time.monotonic()
    status, given = await _outcome(call, tool, work, context.text_bytes + NOTE)
    duration = round((time.monotonic() - started) * 1000)
    if isinstance(given, Pause):
        return CallOutcome("paused", ToolResult(""), duration, given)
    return CallOutcome(status, given, duration)


async def _outcome(call: ToolCall, tool: Tool, work: Work, limit: int) -> tuple[str, ToolResult | Pause]:
    clock = asyncio.timeout(tool.timeout)
    try:
        async with clock:
            given = await work()
        if not isinstance(given, Pause):
            given = _storable(given, limit)
    except (ToolError, NotFound) as error:
        return CallStatus.FAILED, _error(str(error))
    except Lost:
        raise
    except Exception as error:
        if clock.expired():
            return "timeout", _error(f"{call.name} was stopped: it took longer than {tool.timeout:g} seconds.")
        return CallStatus.FAILED, _error(failed(call, error))
    return (CallStatus.FAILED if isinstance(given, ToolResult) and given.is_error else CallStatus.DONE), given


def _storable(given: ToolResult, limit: int) -> ToolResult:
    """Return the result within its limit, in characters that every database accepts."""
    return replace(given, content=bounded(sanitize.text(given.content), limit), table=sanitize.text(given.table))


def failed(call: ToolCall, error: Exception) -> str:
    """Log an unexpected error of a tool; return the sentence for the model."""
    _log(call, error)
    return f"{call.name} failed. The server's log has the reason."


def _error(words: str) -> ToolResult:
    return ToolResult(words, is_error=True)


def _log(call: ToolCall, error: Exception) -> None:
    """Log the type and place of an error; neither arguments nor the error's text, which may contain them."""
    arguments = json.dumps(call.arguments, sort_keys=True, default=str).encode()
    digest = hashlib.sha256(arguments).hexdigest()[:16]
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}" if trace else "?"
    what = type(error).__name__
    log.error("tool %s failed: %s at %s, arguments %s (%d bytes)", call.name, what, place, digest, len(arguments))
