"""Tests whether the model writes calls as text, in a format that can be parsed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from toolsupport.core.events import CallReady, Finished, TextDelta
from toolsupport.core.format_choice import CODE, FORCED, READ_ONLY, label
from toolsupport.core.formats import FORMATS
from toolsupport.core.formats.calls_in_prose import FORMATS_BY_MARK, PYTHON_LIST, format_of
from toolsupport.core.outcomes import of_step
from toolsupport.core.reply_builder import ReplyBuilder
from toolsupport.core.reply_reader import ReplyReader
from toolsupport.core.sentences import sentence
from toolsupport.core.side_findings import constrains
from toolsupport.core.trial_counts import format_flaky, format_settled, format_works
from toolsupport.core.types import ToolSpec
from toolsupport.detection.calls_in_code import calls_in
from toolsupport.detection.grading import judge
from toolsupport.detection.probe_prompts import PROGRAM, TICKET, TOOLS, demand
from toolsupport.detection.probe_runner import ProbeRequest, ProbeRunner
from toolsupport.detection.trial_order import streamed_or_not

# Useful for any model; each of them also reads related formats that differ only in their marks.
GENERAL = ("hermes", "llama3_json", "pythonic", "mistral", "qwen3_coder_xml")
UNMARKED = ("pure_json", "pythonic")
# They share `<tool_call>` and read each other's calls: a test names the one that the model writes.
SAME_MARKS = ("hermes", "qwen3_coder_xml", "glm45")
PATIENCE = 2
FIRST_PATIENCE = 4
LONGEST = 4000  # characters of a text that all formats are tried on


def formats_for(family: tuple[str, ...]) -> tuple[str, ...]:
    """Return the text formats to try: the family's own, then the general ones; only formats with a parser."""
    return tuple(dict.fromkeys(name for name in (*family, *GENERAL) if name in FORMATS))


async def run(runner: ProbeRunner) -> None:
    """Try the formats one after the other until one works; those in which the model already wrote a call come first."""
    tried: list[str] = []
    while (name := await _next(runner, tried)) and not await _works(runner, name, runner.think):
        tried.append(name)
    if name and name != FORCED and _may(runner, FORCED) and format_flaky(runner.outcomes, name, runner.think):
        await _works(runner, FORCED, runner.think)
    if name or runner.think is not None or False not in runner.settings:
        return
    for name in tried:
        if await _works(runner, name, think=False):
            return


def lacks_steady_format(runner: ProbeRunner) -> bool:
    """Return whether no format worked each time, so that constrained calls may be the best ones."""
    if not runner.subject.formats or not runner.subject.may_force:
        return False
    made = of_step(runner.outcomes, "formats")
    tried = {(outcome.subject, outcome.think) for outcome in made}
    found = [(name, think) for name, think in tried if format_works(runner.outcomes, name, think)]
    return all(format_flaky(runner.outcomes, name, think) for name, think in found)


async def _next(runner: ProbeRunner, tried: Sequence[str]) -> str:
    """Sort the formats: by marks in the model's text, then others that parse that text, then those listed."""
    await look_at(*runner.written)
    listed = (
        *runner.subject.formats,
        *(name for name in (CODE, FORCED) if runner.subject.formats and _may(runner, name)),
    )
    seen = {name for text in runner.written for name in written_in(text)}
    marked = (name for text in runner.written if (name := format_of(text)) in seen and name not in UNMARKED)
    read = (name for name in (*listed, *FORMATS) if name in seen)
    wanted = [*(name for name in (*marked, *read) if _may(runner, name)), *listed]
    return next((name for name in wanted if name not in tried), "")


def _may(runner: ProbeRunner, name: str) -> bool:
    if name == FORCED:
        known = runner.subject.request_spec.capabilities["constrains"].value
        return runner.subject.may_force and (constrains(runner.outcomes) or known) == "enforced"
    return runner.subject.runs_code if name == CODE else bool(runner.subject.formats)


async def look_at(*texts: str) -> None:
    """Find the formats of texts in a thread, before they are asked for: all formats take up to a second for one."""
    for text in texts:
        if TICKET.name in text:
            await asyncio.to_thread(written_in, text)


def written_in(text: str) -> tuple[str, ...]:
    """Return the formats that parse a complete call of the requested tool out of a text."""
    return _written_in(text[:LONGEST]) if TICKET.name in text else ()


@lru_cache(maxsize=256)
def _written_in(text: str) -> tuple[str, ...]:
    names = (name for name in FORMATS if name not in READ_ONLY and name != FORCED)
    return tuple(name for name in names if _reads(name, text))


def form_of(text: str) -> str:
    """Return the format whose mark surrounds a complete call of the requested tool, "" if no mark shows one.

    Servers also accept a bare object and a Python list as calls, if the text begins with them.
    """
    plain = "".join(text[:LONGEST].split())
    found = [(plain.find(mark), -len(mark), name) for mark, name in FORMATS_BY_MARK.items() if _is_mark(mark)]
    begun = min(((place, length, name) for place, length, name in found if place >= 0), default=None)
    if begun:
        name = begun[2] if begun[2] != "qwen3_coder_xml" or "<parameter" in plain else "functionary_v31"
    elif plain.startswith("{"):
        name = "llama3_json"
    else:
        name = "pythonic" if PYTHON_LIST.match(plain) else ""
    return name if name in written_in(text) else ""


def _is_mark(mark: str) -> bool:
    """Return whether only calls begin with this text."""
    return len(mark) > 1 and mark != "```"


def _reads(name: str, text: str) -> bool:
    tools = _offered(name)
    reader, reply = ReplyReader(name, tools), ReplyBuilder()
    for event in reader.feed([TextDelta(text), Finished("stop")]):
        reply.take(event)
    calls = [event.call for event in reply.calls if isinstance(event, CallReady)]
    if name == CODE:
        return any(calls_in(call.arguments.get("code"), TICKET) for call in calls)
    return any(call.name == TICKET.name for call in calls)


def _offered(name: str) -> tuple[ToolSpec, ...]:
    return (*TOOLS, PROGRAM) if name == CODE else TOOLS


async def _works(runner: ProbeRunner, name: str, think: bool | str | None) -> bool:
    ways = streamed_or_not(runner.chance)
    while not format_settled(runner.outcomes, name, think, _patience(runner, name)):
        asked = demand(runner.chance)
        question = ProbeRequest(asked.messages, _offered(name), name, streamed=next(ways), think=think)
        reply = await runner.ask(question)
        outcome = judge("formats", question, reply, asked)
        if outcome.passed and (raw := _in_another_body(name, reply.written)):
            why = sentence("another_format", written=label(format_of(raw)), wanted=label(name))
            outcome = replace(outcome, code="no_call", why=why)
            runner.written.append(raw)
        elif outcome.code == "no_call":
            runner.written.append(reply.text)
        await look_at(*runner.written)
        await runner.note(question, reply, outcome)
    return format_works(runner.outcomes, name, think)


def _in_another_body(name: str, written: Sequence[str]) -> str:
    """Return the first call between the marks of `name` in another format's syntax, "" if there is none."""
    bodies = [raw for raw in written if name in SAME_MARKS and format_of(raw) in SAME_MARKS]
    return next((raw for raw in bodies if format_of(raw) != name), "")


def _patience(runner: ProbeRunner, name: str) -> int:
    """Return the failures before the next format: more for the first listed, unless the model writes another one."""
    if _in_another_body(name, runner.written):
        return 1
    others = any({*written_in(text)} - {name} for text in runner.written)
    return FIRST_PATIENCE if name in runner.subject.formats[:1] and not others else PATIENCE
