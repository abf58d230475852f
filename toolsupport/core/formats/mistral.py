"""Mistral: [TOOL_CALLS] and a JSON array, or [TOOL_CALLS]name[ARGS]{…} since version 11 of its tokenizer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial

from toolsupport.core.call_building import ParsedCall, compact, finished
from toolsupport.core.formats.argument_stream import ArgumentStream, JsonArguments
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.json_calls import CUT_OFF, TOO_DEEP, JsonCalls
from toolsupport.core.formats.lookahead import match
from toolsupport.core.formats.reply_events import object_of
from toolsupport.core.formats.reply_parser import Grammar, Reader, ReaderContext, ReplyParser
from toolsupport.core.formats.writing import blocks, listed
from toolsupport.core.json_repair import read_json
from toolsupport.core.json_scanner import DEEPEST, JsonWalk
from toolsupport.core.scanner import MarkerSet, Steps
from toolsupport.core.types import ChatMessage, ToolCall, ToolSpec

OPENER, CLOSER, ARGUMENTS, CALL_ID = "[TOOL_CALLS]", "[/TOOL_CALLS]", "[ARGS]", "[CALL_ID]"
CLOSERS = MarkerSet([CLOSER])
ENDS = MarkerSet([OPENER, CLOSER])
BEHIND_A_NAME = MarkerSet([ARGUMENTS, CALL_ID])
NAME = re.compile(r"[\w.:/-]*")
LONGEST_NAME = 128
# A few words before the list, if the mark begins a line: in mid-sentence a mark is only mentioned.
WORDS = re.compile(r"[\w ,.:!'’-]{1,64}\s{0,8}(?=\[\s{0,8}\{)")
WORDS_BEGUN = re.compile(r"[\w ,.:!'’-]{0,64}\s{0,8}(?:\[\s{0,8})?")
WORDS_LEFT_OUT = "left out words in front of the calls"
NO_ARGUMENTS = "read a name without arguments as a call without any"


def read(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read the text after [TOOL_CALLS]: a list, or one name with its arguments."""
    source, begins_a_line = reading.source, reading.before in ("", "\n")
    character = yield from source.space()
    words = (yield from match(source, WORDS, WORDS_BEGUN)) if begins_a_line else None
    if words is not None:
        source.take(words.end())
        yield from JsonCalls(reading, CLOSERS, ENDS, repairs=(WORDS_LEFT_OUT,)).read()
    elif character and character in "[{":
        yield from JsonCalls(reading, CLOSERS, ENDS).read()
    elif character:
        yield from _named(reading)


def read_bare(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read `name[ARGS]` without the mark before: an offered name that is not part of a longer word."""
    if NAME.fullmatch(reading.before) and reading.before:
        return
    yield from _arguments(reading, ArgumentStream(reading.reply, reading.tools, opener.removesuffix(ARGUMENTS)))


def _named(reading: ReaderContext) -> Steps[None]:
    source = reading.source
    name = yield from source.word(NAME, LONGEST_NAME)
    end = source.recorded
    character = yield from source.space()
    mark = yield from source.marker(BEHIND_A_NAME)
    stream = ArgumentStream(reading.reply, reading.tools, name)
    if not name:
        return
    if not mark and character != "{":
        alone = not character or "\n" in source.since(end) or (yield from source.marker(ENDS))
        if alone and reading.tools and reading.may_call(name):
            yield from _without_arguments(reading, stream, end)
        return
    if (yield from source.found(BEHIND_A_NAME)) == CALL_ID:
        yield from source.space()
        stream.wanted_id = yield from source.word(NAME, LONGEST_NAME)
        yield from source.space()
        yield from source.found(BEHIND_A_NAME)
    yield from _arguments(reading, stream)


def _without_arguments(reading: ReaderContext, stream: ArgumentStream, end: int) -> Steps[None]:
    """Read a name alone, at the end of the reply, of its line or of its block."""
    source = reading.source
    if not (yield from source.closed(CLOSERS)):
        source.back_to(end)
    stream.done(finished(stream.name, {}, (NO_ARGUMENTS,), reading.tools), source.cut())


def _arguments(reading: ReaderContext, stream: ArgumentStream) -> Steps[None]:
    source = reading.source
    character = yield from source.space()
    start = source.recorded
    if character != "{":
        _report_without(reading, stream, character)
        return
    walk = JsonWalk(source, ENDS, JsonArguments(stream))
    yield from walk.value()
    end, text = source.recorded, source.since(start)
    yield from source.space()
    if not (yield from source.closed(CLOSERS)):
        source.back_to(end)
    stream.done(_written(stream.name, text, walk, reading.tools), source.cut())


def _written(name: str, text: str, walk: JsonWalk, tools: Sequence[ToolSpec]) -> ParsedCall:
    if walk.deepest > DEEPEST or walk.cut_off:
        return TOO_DEEP if walk.deepest > DEEPEST else CUT_OFF
    read = read_json(text)
    return finished(name, read.value if read else "?", read.repairs if read else (), tools)


def _report_without(reading: ReaderContext, stream: ArgumentStream, character: str) -> None:
    """Emit a call without arguments if nothing follows; anything but an object is not a call."""
    raw = reading.source.cut()
    written = finished(stream.name, {} if not character else "?", () if character else (NO_ARGUMENTS,), reading.tools)
    stream.done(written, raw)


def parser(tools: Sequence[ToolSpec], *, thinking: bool | None = None) -> ReplyParser:
    return Grammar(openers(tool.name for tool in tools)).parser(tools, thinking=thinking)


def openers(names: Iterable[str]) -> dict[str, Reader]:
    return {OPENER: read, **{f"{name}{ARGUMENTS}": read_bare for name in names}}


def instructions(tools: Sequence[ToolSpec], *, how: str) -> str:
    return (
        f"[AVAILABLE_TOOLS]\n{listed(tools)}\n[/AVAILABLE_TOOLS]\n\n"
        f"To call a tool, write nothing but this, the arguments as JSON:\n{how}\n"
        "The results come back between TOOL_RESULTS marks."
    )


def write_named(calls: Sequence[ToolCall]) -> str:
    return "".join(f"{OPENER}{call.name}{ARGUMENTS}{compact(call.arguments)}" for call in calls)


def write_list(calls: Sequence[ToolCall]) -> str:
    return f"{OPENER} {compact([{**object_of(call), 'id': call.id} for call in calls])}" if calls else ""


def write_results(results: Sequence[ChatMessage]) -> str:
    return blocks(results, "[TOOL_RESULTS]", "[/TOOL_RESULTS]")


AS_NAMED = partial(instructions, how=f'{OPENER}the_name{ARGUMENTS}{{"an_argument": "its value"}}')
AS_LIST = partial(instructions, how=f'{OPENER} [{{"name": "the_name", "arguments": {{"an_argument": "its value"}}}}]')
FORMAT = Format("mistral", "Mistral", parser, AS_NAMED, write_named, write_results)
JSON_FORMAT = Format("mistral_json", "Mistral, list", parser, AS_LIST, write_list, write_results)
ARGS_FORMAT = Format("mistral_args", "Mistral, [ARGS]", parser, AS_NAMED, write_named, write_results)
