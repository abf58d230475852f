"""Llama 3: the JSON of pure_json, perhaps after <|python_tag|>, and the calls of its built-in tools."""

from __future__ import annotations

import re

from toolsupport.core.formats import pure_json, pythonic
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.json_calls import JsonCalls
from toolsupport.core.formats.lookahead import match
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.scanner import MarkerSet, Steps

TAG = "<|python_tag|>"
CLOSERS = MarkerSet(["<|eom_id|>", "<|eot_id|>"])
ENDS = MarkerSet([TAG, *CLOSERS.markers])
BUILT_IN = re.compile(r"(?P<name>[\w-]{1,64})\.call\(")
BUILT_IN_BEGUN = re.compile(r"[\w-]{0,64}(?:\.(?:c|ca|cal|call)?)?")
PYTHON = re.compile(r"(?:\[\s{0,8})?(?P<name>[A-Za-z_][\w-]{0,127})\(")
PYTHON_BEGUN = re.compile(r"(?:\[\s{0,8})?[\w-]{0,128}")


def read_tagged(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read JSON after the tag, Python, or `brave_search.call(query="…")`; anything else is text."""
    character = yield from reading.source.space()
    if character == "{" or (character == "[" and not (yield from _in_python(reading))):
        yield from JsonCalls(reading, CLOSERS, ENDS).read()
    elif character and character != "[" and not (yield from _in_python(reading)):
        yield from _built_in(reading)


def _in_python(reading: ReaderContext) -> Steps[bool]:
    """Read calls of offered tools as Llama 3.3 writes them: `get_weather(city="Bonn")`, or a list of them."""
    found = yield from match(reading.source, PYTHON, PYTHON_BEGUN)
    if found is None or not reading.tools or not reading.may_call(found["name"]):
        return False
    yield from pythonic.read_closed(reading, "<|eom_id|>")
    return True


def _built_in(reading: ReaderContext) -> Steps[None]:
    found = yield from match(reading.source, BUILT_IN, BUILT_IN_BEGUN)
    if found is not None:
        reading.source.take(found.end())
        yield from pythonic.read_one(reading, found["name"])


GRAMMAR = Grammar({TAG: read_tagged, **pure_json.GRAMMAR.openers}, fence=pure_json.GRAMMAR.fence)
FORMAT = Format(
    "llama3_json",
    "Llama 3 JSON",
    GRAMMAR.parser,
    pure_json.instructions,
    pure_json.write_calls,
    pure_json.write_results,
)
