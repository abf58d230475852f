"""Formats whose JSON has a shape of its own: Apertus keys a call by its name, GLM-4 writes the name on a line above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsupport.core.call_building import ParsedCall, compact, finished
from toolsupport.core.formats import hermes, mistral, pure_json
from toolsupport.core.formats.argument_stream import KeyedArguments
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.json_calls import JsonCalls
from toolsupport.core.formats.lookahead import match
from toolsupport.core.formats.named_json import NAME_LINE, NAME_LINE_BEGUN, NamedCalls, NamedMarks
from toolsupport.core.formats.reply_events import object_of
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.formats.writing import listed, write_results
from toolsupport.core.json_repair import read_json
from toolsupport.core.scanner import MarkerSet, Steps
from toolsupport.core.types import ToolCall, ToolSpec

PREFIX, SUFFIX = "<|tools_prefix|>", "<|tools_suffix|>"
SUFFIXES, ENDS = MarkerSet([SUFFIX]), MarkerSet([PREFIX, SUFFIX])
LINES = NamedMarks(opens=(), behind_name=("\n", " \n", "\r\n"), closes=())


class _KeyedCalls(JsonCalls):
    """Reads objects with the arguments under the name."""

    listener = KeyedArguments

    def _read_one(self, text: str) -> ParsedCall:
        read = read_json(text)
        if read and isinstance(read.value, dict) and len(read.value) == 1:
            name, arguments = next(iter(read.value.items()))
            if isinstance(arguments, dict):
                return finished(name, arguments, read.repairs, self._reading.tools)
        return super()._read_one(text)


def read_prefixed(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read a list of objects after the mark."""
    yield from _KeyedCalls(reading, SUFFIXES, ENDS).read()


def read_line(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read a name on a line of its own and JSON below it: a call if the name is offered."""
    reading.reply.text(reading.source.cut())
    found = yield from match(reading.source, NAME_LINE, NAME_LINE_BEGUN)
    if found and reading.may_call(found["name"]):
        yield from NamedCalls(reading, LINES).read(opener)


def write_prefixed(calls: Sequence[ToolCall]) -> str:
    return f"{PREFIX}{compact([{call.name: call.arguments} for call in calls])}{SUFFIX}" if calls else ""


def write_lines(calls: Sequence[ToolCall]) -> str:
    return "\n".join(f"{call.name}\n{compact(call.arguments)}" for call in calls)


def write_list(calls: Sequence[ToolCall]) -> str:
    return compact([object_of(call) for call in calls]) if calls else ""


def _instructions(example: str) -> Format:
    def instructions(tools: Sequence[ToolSpec]) -> str:
        return (
            f"The functions you can call, as JSON Schema:\n{listed(tools)}\n\n"
            f"To call functions, write this and nothing after it, the arguments as JSON:\n{example}\n"
            "The results come back in tool_response tags."
        )

    return Format("", "", hermes.GRAMMAR.parser, instructions, hermes.write_calls, write_results)


PREFIXED = Grammar({PREFIX: read_prefixed})
NAME_LINES = Grammar({"\n": read_line}, beginning=read_line)
BARE_LIST = Grammar(
    {**pure_json.GRAMMAR.openers, **hermes.GRAMMAR.openers, mistral.OPENER: mistral.read}, fence=pure_json.GRAMMAR.fence
)
FORMATS = (
    replace(
        _instructions(f'{PREFIX}[{{"the_name": {{"an_argument": "its value"}}}}]{SUFFIX}'),
        name="apertus", label="Apertus", parser=PREFIXED.parser, write_calls=write_prefixed,
    ),
    replace(
        _instructions('the_name\n{"an_argument": "its value"}'),
        name="glm4_name_newline_json", label="GLM-4", parser=NAME_LINES.parser, write_calls=write_lines,
    ),
    replace(
        _instructions('[{"name": "the_name", "arguments": {"an_argument": "its value"}}]'),
        name="xlam", label="xLAM", parser=BARE_LIST.parser, write_calls=write_list,
    ),
)  # fmt: skip
