"""MiniCPM 5: functions and parameters with the attribute `name`, texts with tags as CDATA."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolsupport.core.formats.cdata import CDATA, CDATA_END
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.formats.tag_calls import TaggedCalls
from toolsupport.core.formats.tag_value import written_value
from toolsupport.core.formats.tool_call_reader import MINICPM_TAGS, WRAPPERS, read
from toolsupport.core.formats.writing import listed, write_results
from toolsupport.core.scanner import Steps
from toolsupport.core.types import ToolCall, ToolSpec

# Text that needs CDATA: characters of tags, and line breaks at its beginning, which would be left out.
SPECIAL = re.compile(r"[<>&]|\A\s")


def read_function(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read a function outside other tags; a call only under an offered name."""
    reading.source.back_to(0)
    yield from TaggedCalls(reading, MINICPM_TAGS, bare=True).read()


def instructions(tools: Sequence[ToolSpec]) -> str:
    example = write_calls([ToolCall("", "the_name", {"an_argument": "its value"})])
    return (
        f"The functions you can call, as JSON Schema:\n<tools>\n{listed(tools)}\n</tools>\n\n"
        "To call one, write this and nothing after it, one element for each argument, a value that holds < or & "
        f"between {CDATA} and {CDATA_END}:\n{example}\nThe results come back in tool_response tags."
    )


def write_calls(calls: Sequence[ToolCall]) -> str:
    return "\n".join(map(_written, calls))


def _written(call: ToolCall) -> str:
    values = "".join(
        f'<param name="{key}">{_text(written_value(value))}</param>' for key, value in call.arguments.items()
    )
    return f'<function name="{call.name}">{values}</function>'


def _text(text: str) -> str:
    """Write a text plainly, or as CDATA, in which an end mark is split between two sections."""
    if not SPECIAL.search(text):
        return text
    return f"{CDATA}{text.replace(CDATA_END, f']]{CDATA_END}{CDATA}>')}{CDATA_END}"


GRAMMAR = Grammar({**dict.fromkeys(WRAPPERS, read), **dict.fromkeys(MINICPM_TAGS.functions, read_function)})
FORMAT = Format("minicpm5", "MiniCPM 5", GRAMMAR.parser, instructions, write_calls, write_results)
