"""Constrained output: one JSON object, whose first key decides between a call, several calls and an answer.

Its server enforces the form. The answer is shown while it is written. Where the object is none of these it stays
text, as everywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from toolsupport.core.call_building import compact
from toolsupport.core.constrained import CALLS, REPLY
from toolsupport.core.constrained.call_schema import ANSWER, ARGUMENTS, TOOL
from toolsupport.core.formats import pure_json
from toolsupport.core.formats.bare_json import BareJson
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.lookahead import match
from toolsupport.core.formats.mentioned_calls import FenceRule
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.formats.writing import listed
from toolsupport.core.scanner import Steps
from toolsupport.core.types import JSON, ToolCall, ToolSpec

NAME = "forced_json"
KEY = re.compile(rf'\{{\s{{0,32}}"({ANSWER}|{CALLS}|{REPLY})"\s{{0,32}}:')
KEY_BEGUN = re.compile(r'\{\s{0,32}(?:"[a-z]{0,6}(?:"\s{0,32})?)?')
PLAIN = re.compile(r'[^"\\]*')
ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
# Half of a surrogate pair: the other half may follow in another escape.
HIGH = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}")
HIGH_AND_LOW = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")


def read(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read the object; a list of calls, or a fence around either, as in plain JSON."""
    if opener == "{":
        reading.source.back_to(0)
        yield from _decision(reading)
    else:
        yield from pure_json.read(reading, opener)


def _decision(reading: ReaderContext, *, wrapped: bool = False) -> Steps[None]:
    """Read from the opening bracket on; `wrapped`: the object stands under a key of another one."""
    source = reading.source
    found = yield from match(source, KEY, KEY_BEGUN)
    if found is None:
        yield from BareJson(reading, "", enclosed=int(wrapped), closed=wrapped).read()
        return
    key = found[1]
    source.take(found.end())
    character = yield from source.space()
    if key == ANSWER and character == '"' and not (reading.reply.visible or reading.reply.calls):
        yield from _answer(reading)
        yield from _closing_brackets(reading, 1 + wrapped)
    elif key == CALLS and character == "[":
        source.take(source.at + 1)
        yield from BareJson(reading, "[", enclosed=1 + wrapped, closed=wrapped).read()
    elif key == REPLY and character == "{" and not wrapped:
        yield from _decision(reading, wrapped=True)


def _closing_brackets(reading: ReaderContext, count: int) -> Steps[None]:
    """Drop the brackets that end the objects around an answer."""
    source = reading.source
    before = source.recorded
    while count and (yield from source.space()) == "}":
        source.take(source.at + 1)
        source.cut()
        before, count = 0, count - 1
    source.back_to(before)


def _answer(reading: ReaderContext) -> Steps[None]:
    """Read the text of the answer, and pass on every piece as it arrives."""
    source, reply = reading.source, reading.reply
    source.take(source.at + 1)
    source.cut()
    while source.left or not source.ended:
        found = PLAIN.match(source.buffer, source.at)
        reply.text(source.skip(found.end() if found else source.at))
        if not source.left:
            if not source.ended:
                yield
        elif source.peek() == '"':
            source.skip(source.at + 1)
            return
        else:
            reply.text((yield from _escaped(reading)))


def _escaped(reading: ReaderContext) -> Steps[str]:
    """Return the character of an escape; an invalid one stays as it was written."""
    source = reading.source
    yield from source.ready(2)
    if source.buffer[source.at + 1 : source.at + 2] == "u":
        yield from source.ready(6)
    if HIGH.match(source.buffer, source.at):
        yield from source.ready(12)
    found = HIGH_AND_LOW.match(source.buffer, source.at) or ESCAPE.match(source.buffer, source.at)
    if found is None or (HIGH.match(found.group()) and len(found.group()) == 6):
        return source.skip(source.at + 1)
    source.skip(found.end())
    return str(json.loads(f'"{found.group()}"'))


def instructions(tools: Sequence[ToolSpec]) -> str:
    return (
        f"The functions you can call, as JSON Schema:\n{listed(tools)}\n\n"
        "Write each reply as one JSON object and nothing else. Its first key is your decision. To call a function:\n"
        f'{{"{TOOL}": "the_name", "{ARGUMENTS}": {{"an_argument": "its value"}}}}\n'
        "To answer in words, once no function is needed:\n"
        f'{{"{ANSWER}": "the text of your answer"}}'
    )


def write_calls(calls: Sequence[ToolCall]) -> str:
    written: list[JSON] = [{TOOL: call.name, ARGUMENTS: call.arguments} for call in calls]
    return compact(written[0] if len(written) == 1 else {CALLS: written})


GRAMMAR = Grammar(dict.fromkeys(pure_json.OPENERS, read), fence=FenceRule.FORM)
FORMAT = Format(NAME, "Constrained JSON", GRAMMAR.parser, instructions, write_calls, pure_json.write_results)
