"""JSON without any mark: an object with the name of an offered tool is a call, everything else is the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolsupport.core.call_building import compact
from toolsupport.core.formats.bare_json import WRAPPERS_OF_CALLS, BareJson, read_wrapped
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.lookahead import match
from toolsupport.core.formats.mentioned_calls import FenceRule
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.formats.writing import harmless, listed
from toolsupport.core.scanner import Steps
from toolsupport.core.types import ChatMessage, ToolCall, ToolSpec

# The key of calls in the messages of OpenAI, and in what llama-server asks of models without a format of their own.
LISTED = re.compile(r"""(?:\s{0,32}\{)?\s{0,32}["']tool_calls["']\s{0,8}:\s{0,32}\[""")
LISTED_BEGUN = re.compile(r"""\s{0,32}(?:\{\s{0,32})?(?:["'][a-z_]{0,10}["']?\s{0,8}:?\s{0,32})?""")
FENCES = ("```json", "```")
OPENERS = ("{", "[", *FENCES)


def read(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read an object, a list of them, or a fence around either."""
    if opener in FENCES:
        reading.fenced = not reading.fenced
    if opener in FENCES and not reading.fenced:
        return
    source = reading.source
    found = (yield from match(source, LISTED, LISTED_BEGUN)) if opener != "[" else None
    if found is None:
        yield from BareJson(reading, opener).read()
    else:
        source.take(found.end() - 1)
        if opener == "{":
            opener = source.take(source.at + 1)
        yield from BareJson(reading, opener, enclosed=1).read()


def instructions(tools: Sequence[ToolSpec]) -> str:
    return (
        f"The functions you can call, as JSON Schema:\n{listed(tools)}\n\n"
        "To call one, answer with nothing but a JSON object, without a code fence:\n"
        '{"name": "the_name", "parameters": {"an_argument": "its value"}}\n'
        "For several calls write several objects, separated by semicolons. When no function is needed, answer in words."
    )


def write_calls(calls: Sequence[ToolCall]) -> str:
    return "; ".join(compact({"name": call.name, "parameters": call.arguments}) for call in calls)


def write_results(results: Sequence[ChatMessage]) -> str:
    return "\n\n".join(
        f"Result of {harmless(one.name)}:\n{harmless(one.content)}\n(end of the result)" for one in results
    )


GRAMMAR = Grammar(
    {**dict.fromkeys(WRAPPERS_OF_CALLS, read_wrapped), **dict.fromkeys(OPENERS, read)}, fence=FenceRule.FORM
)
FORMAT = Format("pure_json", "JSON", GRAMMAR.parser, instructions, write_calls, write_results)
