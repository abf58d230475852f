"""Functionary: <function=name>{…}</function> in version 3.1, a line of >>> and the name above the JSON in 3.2."""

from __future__ import annotations

from collections.abc import Sequence

from toolsupport.core.call_building import compact
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.lookahead import match
from toolsupport.core.formats.named_json import LONGEST_NAME, NAME, NAME_LINE, NAME_LINE_BEGUN, NamedCalls, NamedMarks
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.formats.tag_calls import TaggedCalls
from toolsupport.core.formats.tool_call_reader import TAGS
from toolsupport.core.formats.writing import listed, write_results
from toolsupport.core.scanner import MarkerSet, Steps
from toolsupport.core.types import ToolCall, ToolSpec

LINE = ">>>"
TO_ALL = MarkerSet(["all\n", "all \n"])
MARKS = NamedMarks(opens=(LINE,), behind_name=("\n", " \n"), closes=())


def read_tag(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read a function in its tags; under any name, since the tag announces it."""
    reading.source.back_to(0)
    yield from TaggedCalls(reading, TAGS, bare=False).read()


def read_line(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read a line: text for all recipients, or a call of the named recipient."""
    if (yield from reading.source.found(TO_ALL)):
        if not (yield from reading.reply.quotes.holds(reading.source)):
            reading.source.cut()
            reading.reply.message_ends()
        return
    if (yield from _names_a_call(reading)):
        yield from NamedCalls(reading, MARKS).read(opener)


def _names_a_call(reading: ReaderContext) -> Steps[bool]:
    """Return whether the name is offered, or an object follows it: a Python prompt looks the same before."""
    source = reading.source
    place = source.recorded
    yield from source.space()
    name = yield from source.word(NAME, LONGEST_NAME)
    character = yield from source.space()
    source.back_to(place)
    return reading.may_call(name) or (bool(name) and character in ("{", "`"))


def read_first(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read the beginning: the prompt may end in >>>, and then the reply begins with a recipient."""
    found = yield from match(reading.source, NAME_LINE, NAME_LINE_BEGUN)
    if found and reading.may_call(found["name"]):
        yield from NamedCalls(reading, MARKS).read(opener)
    elif (yield from reading.source.found(TO_ALL)):
        reading.source.cut()
        reading.reply.message_ends()


def _instructions(tools: Sequence[ToolSpec], example: str) -> str:
    return (
        f"The functions you can call, as JSON Schema:\n{listed(tools)}\n\n"
        f"To call one, write this and nothing after it, once for each call, the arguments as JSON:\n{example}\n"
        "The results come back in tool_response tags."
    )


def tag_instructions(tools: Sequence[ToolSpec]) -> str:
    return _instructions(tools, '<function=the_name>{"an_argument": "its value"}</function>')


def line_instructions(tools: Sequence[ToolSpec]) -> str:
    return _instructions(tools, '>>>the_name\n{"an_argument": "its value"}')


def write_tags(calls: Sequence[ToolCall]) -> str:
    return "\n".join(f"<function={call.name}>{compact(call.arguments)}</function>" for call in calls)


def write_lines(calls: Sequence[ToolCall]) -> str:
    return "\n".join(f"{LINE}{call.name}\n{compact(call.arguments)}" for call in calls)


TAG_GRAMMAR = Grammar(dict.fromkeys(TAGS.functions, read_tag))
LINE_GRAMMAR = Grammar({LINE: read_line}, beginning=read_first)
FORMATS = (
    Format("functionary_v31", "Functionary 3.1", TAG_GRAMMAR.parser, tag_instructions, write_tags, write_results),
    Format("functionary_v32", "Functionary 3.2", LINE_GRAMMAR.parser, line_instructions, write_lines, write_results),
)
