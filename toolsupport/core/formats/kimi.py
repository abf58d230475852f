"""Kimi K2: a section of calls, each named by an id with a number that counts through the conversation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolsupport.core.call_building import compact
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.named_json import NamedCalls, NamedMarks
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.formats.writing import listed, write_results
from toolsupport.core.scanner import Steps
from toolsupport.core.types import ToolCall, ToolSpec

BEGIN, END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
CALL, ARGUMENTS, CALL_END = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"
NUMBERED = re.compile(r"(?:functions\.)?(.+?)(?::(\d{1,9}))?")


def named(written: str) -> tuple[str, str]:
    """Split `functions.get_weather:0`, which is both the id and the name."""
    found = NUMBERED.fullmatch(written)
    name = found[1] if found else written
    return name, written if found and found[2] else ""


MARKS = NamedMarks(
    opens=(CALL,),
    behind_name=(ARGUMENTS, f" {ARGUMENTS}", f"\n{ARGUMENTS}"),
    closes=(CALL_END,),
    block_opens=(BEGIN, "<|tool_call_section_begin|>"),
    block_closes=(END, "<|tool_call_section_end|>"),
    as_name=named,
)


def read(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read the text after the beginning of a section, or of a single call."""
    yield from NamedCalls(reading, MARKS).read(opener)


def instructions(tools: Sequence[ToolSpec]) -> str:
    return (
        f"The functions you can call, as JSON Schema:\n{listed(tools)}\n\n"
        "To call one, write this and nothing after it, one part for each call, counted from 0:\n"
        f'{BEGIN}{CALL}functions.the_name:0{ARGUMENTS}{{"an_argument": "its value"}}{CALL_END}{END}\n'
        "The results come back in tool_response tags."
    )


def write_calls(calls: Sequence[ToolCall]) -> str:
    inside = "".join(
        f"{CALL}functions.{call.name}:{place}{ARGUMENTS}{compact(call.arguments)}{CALL_END}"
        for place, call in enumerate(calls)
    )
    return f"{BEGIN}{inside}{END}" if calls else ""


OPENERS = (*MARKS.block_opens, *MARKS.opens)
GRAMMAR = Grammar(dict.fromkeys(OPENERS, read))
FORMAT = Format("kimi_k2", "Kimi K2", GRAMMAR.parser, instructions, write_calls, write_results)
