"""Kimi K3: channels between <|open|> and <|close|>, calls with typed arguments in the one for tools."""

from __future__ import annotations

import html
from collections.abc import Sequence

from toolsupport.core.coercion import type_of
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.formats.tag_calls import TaggedCalls, TagSet
from toolsupport.core.formats.tag_value import KEPT, written_value
from toolsupport.core.formats.writing import listed, write_results
from toolsupport.core.scanner import Steps
from toolsupport.core.types import ToolCall, ToolSpec

OPEN, CLOSE, END = "<|open|>", "<|close|>", "<|sep|>"
TOOLS, TOOLS_END = f"{OPEN}tools{END}", f"{CLOSE}tools{END}"
CALL, CALL_END = f"{OPEN}call tool=", f"{CLOSE}call{END}"
ARGUMENT, ARGUMENT_END = f"{OPEN}argument key=", f"{CLOSE}argument{END}"
# Marks at the beginning and end of the answer.
AROUND = (f"{OPEN}response{END}", f"{CLOSE}response{END}", f"{CLOSE}message{END}")
TAGS = TagSet(
    functions=(CALL,),
    parameters=(ARGUMENT,),
    function_ends=(CALL_END,),
    parameter_ends=(ARGUMENT_END,),
    wrapper_ends=(TOOLS_END,),
    wrappers=(TOOLS,),
    breaks=KEPT,
    tag_end=END,
    type_key="type",
    text_type="string",
    json=(f'{OPEN}json type="object"{END}', f"{OPEN}json{END}", f"{CLOSE}json{END}"),
    escaped=True,
)


def read(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read the calls of a reply, or one of them alone."""
    bare = opener == CALL
    if bare:
        reading.source.back_to(0)
    yield from TaggedCalls(reading, TAGS, bare=bare).read()


def instructions(tools: Sequence[ToolSpec]) -> str:
    example = write_calls([ToolCall("", "the_name", {"an_argument": "its value", "another": 1})])
    return (
        f"The functions you can call, as JSON Schema:\n{listed(tools)}\n\n"
        "To call functions, write this and nothing after it, one call after the other, counted from 1; a text is"
        f" written as it is, any other value as JSON:\n{example}\n"
        "The results come back in tool_response tags."
    )


def write_calls(calls: Sequence[ToolCall]) -> str:
    inside = "".join(_written(call, number) for number, call in enumerate(calls, 1))
    return f"{TOOLS}{inside}{TOOLS_END}" if calls else ""


def _written(call: ToolCall, number: int) -> str:
    inside = "".join(
        f'{ARGUMENT}"{html.escape(key)}" type="{_kind(value)}"{END}{written_value(value)}{ARGUMENT_END}'
        for key, value in call.arguments.items()
    )
    return f'{CALL}"{html.escape(call.name)}" index="{number}"{END}{inside}{CALL_END}'


def _kind(value: object) -> str:
    return "number" if isinstance(value, float) else type_of(value)


GRAMMAR = Grammar(dict.fromkeys((TOOLS, CALL), read), silent=AROUND)
FORMAT = Format("kimi_k3", "Kimi K3", GRAMMAR.parser, instructions, write_calls, write_results)
