"""Defines the tool `python_execution`: a program in a sandbox, in which the other tools are functions."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from chat.sentences import sentence
from chat.statuses import CallStatus
from chat.tools.sandbox import concurrency
from chat.tools.sandbox.json_values import UnsupportedValue, plain, readable_copy
from chat.tools.sandbox.program_steps import (
    MEMORY,
    SECONDS,
    FunctionCall,
    FunctionResult,
    PrintedOutput,
    ProgramError,
    ProgramResult,
    PythonLimits,
    StepResult,
)
from chat.tools.sandbox.self_test_cache import cached_test
from chat.tools.tool import Pause, PausedCallResult, Preview, Tool, ToolContext, text
from toolsupport.core import call_validation
from toolsupport.core.errors import ToolError
from toolsupport.core.events import CallReady, CallRejected
from toolsupport.core.types import JSON, ToolCall, ToolResult, ToolSpec

log = logging.getLogger(__name__)

SPEC = ToolSpec(
    "python_execution",
    "Run a Python program in a sandbox and get what it prints, then the value of its last line. The other tools are "
    "functions in it, for example read_file(path); each gives text, or raises RuntimeError (it failed), "
    "PermissionError (not allowed) or TypeError (wrong arguments). They are the only way to files: there is no open(). "
    "Call them one after the other, not through map() or gather(). "
    "Supported: functions, comprehensions, f-strings, try, with, match, async, simple classes and dataclasses; import "
    "of json, csv, re, math, random, datetime, time, collections, itertools, functools, dataclasses, decimal, typing, "
    "bisect, copy, hashlib, base64, tomllib, unicodedata. "
    "Not supported: inheritance, yield, del, other modules, a network. "
    f"At most {SECONDS:g} seconds and {MEMORY // 2**20} MiB; nothing is kept for the next program.",
    {
        "type": "object",
        "properties": {"code": {"type": "string", "description": "The whole program, as Python source text"}},
        "required": ["code"],
        "additionalProperties": False,
    },
)

SANDBOX = "chat.tools.sandbox.python_interpreter"
ROOT = str(Path(__file__).resolve().parents[2])
SELF_TEST = (
    "import importlib, sys; sys.path.insert(0, sys.argv[1]);"
    "sys.stdout.write(importlib.import_module(sys.argv[2]).self_test())"
)
PATIENCE = 30  # seconds for the self-test, on a busy machine

# How a call ended without a result → the exception that it raises in the program.
RAISES: Mapping[str, str] = {"denied": "PermissionError", "timeout": "TimeoutError", "rejected": "TypeError"}
SILENT = "[The program printed nothing, and its last line has no value.]"
CUT = "\n[Cut here: the program printed more than is kept.]\n"


async def run(context: ToolContext, arguments: JSON) -> ToolResult | Pause:
    """Run the program to its end, or to its first call of a tool."""
    code = text(arguments, "code")
    if not code.strip():
        raise ToolError("There is no code to run.")
    printed = PrintedOutput(context.text_bytes, _from_thread(context.say))
    await _loaded()
    from chat.tools.sandbox import python_interpreter

    async with concurrency.PROGRAMS.entered(context):
        step = await python_interpreter.start(code, functions(context), printed)
    return _outcome(context, step, printed, SECONDS)


async def resume(context: ToolContext, state: bytes, answered: PausedCallResult) -> ToolResult | Pause:
    """Continue with the result of the call, in any process."""
    head, _, paused = state.partition(b"\n")
    before: dict[str, Any] = json.loads(head)
    printed = PrintedOutput(context.text_bytes, _from_thread(context.say), before["printed"], before["more"])
    error = "" if answered.status == CallStatus.DONE else RAISES.get(answered.status, "RuntimeError")
    limits = PythonLimits(before["seconds"])
    await _loaded()
    from chat.tools.sandbox import python_interpreter

    async with concurrency.PROGRAMS.entered(context):
        step = await python_interpreter.go_on(
            paused, FunctionResult(answered.text, error), functions(context), (printed, limits)
        )
    return _outcome(context, step, printed, limits.seconds)


async def _loaded() -> None:
    """Load the sandbox, in a thread: it takes up to half a second, and memory that few processes need."""
    await asyncio.to_thread(import_module, SANDBOX)


def _outcome(context: ToolContext, step: StepResult, printed: PrintedOutput, seconds: float) -> ToolResult | Pause:
    """Return the result of a step; the program had run for `seconds` before it."""
    shown = printed.text + (CUT if printed.more else "")
    if isinstance(step, ProgramError):
        return ToolResult(_lines(shown, step.error), is_error=True)
    if isinstance(step, ProgramResult):
        return _ended(shown, step.value)
    left = max(0.1, seconds - step.seconds)
    head = json.dumps({"printed": printed.text, "more": printed.more, "seconds": left})
    return Pause(checked_call(step, functions(context)), head.encode() + b"\n" + step.state)


def _ended(printed: str, value: object) -> ToolResult:
    try:
        return ToolResult(_lines(printed, _in_words(value)) or SILENT)
    except UnsupportedValue as error:
        return ToolResult(_lines(printed, f"[The value of the last line is not shown: {error}.]"))


def _in_words(value: object) -> str:
    if value is None:
        return ""
    shown = readable_copy(value)
    return shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)


def _lines(printed: str, rest: str) -> str:
    """Return the printed output, then the rest on a line of its own."""
    between = "\n" if printed and rest and not printed.endswith("\n") else ""
    return f"{printed}{between}{rest}"


def functions(context: ToolContext) -> dict[str, ToolSpec]:
    """Return the tools by their function names.

    If several names collide, the tool with exactly that name is used; else none.
    """
    written = {spec.name: re.sub(r"\W", "_", spec.name) for spec in context.functions}
    count = Counter(written.values())
    able = (spec for spec in context.functions if count[written[spec.name]] == 1 or spec.name.isidentifier())
    return {written[spec.name]: spec for spec in able}


def checked_call(called: FunctionCall, known: Mapping[str, ToolSpec]) -> CallReady | CallRejected:
    """Return the tool call for a function call, checked like a model's call."""
    spec, identity = known[called.name], f"inner-{uuid.uuid4().hex[:16]}"
    try:
        arguments = plain(_by_name(called, spec))
    except UnsupportedValue as error:
        reason = f"The arguments of {spec.name} do not fit: {error}."
        return CallRejected(spec.name, reason, called.name, identity, fault="schema")
    return call_validation.check(ToolCall(identity, spec.name, arguments), [spec])


def _by_name(called: FunctionCall, spec: ToolSpec) -> dict[str, object]:
    """Map positional arguments to the schema's names, in its order."""
    names = list(spec.parameters.get("properties") or {})
    if len(called.args) > len(names):
        raise UnsupportedValue(f"it takes {len(names)} by place, {len(called.args)} were given")
    placed = dict(zip(names, called.args, strict=False))
    twice = placed.keys() & called.named.keys()
    if twice:
        raise UnsupportedValue(f"{min(twice)!r} was given twice")
    return {**placed, **called.named}


def preview(context: ToolContext, arguments: JSON) -> Preview:
    """Show the whole program."""
    return Preview(sentence("run_program"), code=text(arguments, "code"))


def _from_thread(say: Callable[[str], None]) -> Callable[[str], None]:
    """Return `say` for use in another thread."""
    loop = asyncio.get_running_loop()

    def keep(words: str) -> None:
        loop.call_soon_threadsafe(say, words)

    return keep


def needs() -> str:
    """Return why programs cannot run here; tested by a process that ends with the memory that this takes."""
    command = [sys.executable, "-I", "-c", SELF_TEST, ROOT, SANDBOX]
    try:
        tested = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"The sandbox for Python does not start ({type(error).__name__})."
    if tested.returncode == 0:
        return tested.stdout
    log.error("the self-test of the sandbox for Python failed: %s", tested.stderr.strip())
    return f"The sandbox for Python does not start (exit code {tested.returncode})."


TOOL = Tool(
    SPEC,
    run,
    level="A3",
    phrase="Python",
    target="code",
    timeout=concurrency.PATIENCE + SECONDS + 5.0,
    preview=preview,
    needs=cached_test(lambda: needs()),
    resume=resume,
)
