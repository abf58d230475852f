"""Llama 3: the JSON of pure_json, perhaps behind <|python_tag|>, and the calls of its built-in tools."""

from __future__ import annotations

import re

from toolsupport.core.arguments import finished
from toolsupport.core.formats import pure_json
from toolsupport.core.formats.argument_stream import ArgumentStream
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.json_calls import JsonCalls
from toolsupport.core.formats.reading import Grammar, Reading
from toolsupport.core.mending import read_json
from toolsupport.core.scanner import Markers, Steps

TAG = "<|python_tag|>"
CLOSERS = Markers(["<|eom_id|>", "<|eot_id|>"])
ENDS = Markers([TAG, *CLOSERS.markers])
NAME = re.compile(r"[\w-]*")
CALLED = Markers([".call("])
# A whole list of named values in parentheses, strings respected.
NAMED_VALUES = re.compile(r"""(?:[^()"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*\)""", re.S)
NAMED_VALUE = re.compile(r"""\s*(\w+)\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,()]*)\s*,?""", re.S)
LONGEST_NAME, LONGEST_LIST = 64, 4096


def read_tagged(reading: Reading, opener: str) -> Steps[None]:
    """Behind the tag stands JSON, or `brave_search.call(query="…")`; anything else is text."""
    character = yield from reading.source.space()
    if character == "{" or character == "[":
        yield from JsonCalls(reading, CLOSERS, ENDS).read()
    elif character:
        yield from _built_in(reading)


def _built_in(reading: Reading) -> Steps[None]:
    source = reading.source
    name = yield from source.word(NAME, LONGEST_NAME)
    if not name or not (yield from source.found(CALLED)):
        return
    start = source.recorded
    while not (found := NAMED_VALUES.match(source.buffer, source.at)):
        if source.ended or source.left > LONGEST_LIST:
            return
        yield
    if found.end() - source.at > LONGEST_LIST:  # in one piece it is no shorter than in many
        return
    source.take(found.end())
    values = {one[1]: _value(one[2]) for one in NAMED_VALUE.finditer(source.since(start)[:-1])}
    stream = ArgumentStream(reading.reply, reading.tools)
    stream.done(finished(name, values, (), reading.tools), source.cut())


def _value(text: str) -> object:
    read = read_json(text.strip())
    return read.value if read else text


GRAMMAR = Grammar({TAG: read_tagged, **pure_json.GRAMMAR.openers}, fence=pure_json.GRAMMAR.fence)
FORMAT = Format(
    "llama3_json",
    "Llama 3 JSON",
    GRAMMAR.parser,
    pure_json.instructions,
    pure_json.write_calls,
    pure_json.write_results,
)
