"""Hermes: a JSON object between <tool_call> and </tool_call>, for each call."""

from __future__ import annotations

from collections.abc import Sequence

from toolsupport.core.call_building import compact
from toolsupport.core.formats.bare_json import WRAPPERS_OF_CALLS, read_wrapped
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.reply_events import object_of
from toolsupport.core.formats.reply_parser import Grammar
from toolsupport.core.formats.tool_call_reader import HERMES, read
from toolsupport.core.formats.writing import listed, write_results
from toolsupport.core.types import ToolCall, ToolSpec


def instructions(tools: Sequence[ToolSpec]) -> str:
    return (
        f"The functions you can call, as JSON Schema:\n<tools>\n{listed(tools)}\n</tools>\n\n"
        "To call one, write a JSON object with its name and arguments between <tool_call> tags, and nothing after "
        "it; for several calls, write one pair of tags for each:\n"
        '<tool_call>\n{"name": "the_name", "arguments": {"an_argument": "its value"}}\n</tool_call>\n'
        "The results come back in tool_response tags."
    )


def write_calls(calls: Sequence[ToolCall]) -> str:
    return "\n".join(f"<tool_call>\n{compact(object_of(call))}\n</tool_call>" for call in calls)


GRAMMAR = Grammar({**dict.fromkeys(WRAPPERS_OF_CALLS, read_wrapped), **dict.fromkeys(HERMES, read)})
FORMAT = Format("hermes", "Hermes", GRAMMAR.parser, instructions, write_calls, write_results)
