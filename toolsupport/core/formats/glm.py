"""GLM 4.5: a name in <tool_call> tags, then a pair of tags for the key and for the value of each argument."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from typing import Any

from toolsupport.core.arguments import Written, finished, schema_of
from toolsupport.core.coercion import from_text, types
from toolsupport.core.formats import hermes
from toolsupport.core.formats.argument_stream import TEXT, ArgumentStream
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.json_calls import CUT_OFF, JsonCalls
from toolsupport.core.formats.reading import Grammar, Reading
from toolsupport.core.formats.tag_value import written_value
from toolsupport.core.formats.writing import listed
from toolsupport.core.offered import find_tool
from toolsupport.core.scanner import Markers, Steps
from toolsupport.core.words import Message, ToolCall, ToolSpec

OPENER, CLOSER = "<tool_call>", "</tool_call>"
KEY, VALUE, VALUE_END = Markers(["<arg_key>"]), Markers(["<arg_value>"]), Markers(["</arg_value>"])
KEY_END = Markers(["</arg_key>"])
CLOSERS = Markers([CLOSER])
ENDS = Markers([OPENER, CLOSER])
BEHIND_A_NAME = Markers(["<arg_key>", CLOSER])
BEHIND_A_VALUE = Markers(["<arg_key>", CLOSER, OPENER])
IN_A_VALUE = Markers(["</arg_value>", "<arg_key>", CLOSER])
NAME = re.compile(r"[\w.:/-]*")
KEY_TEXT = re.compile(r"[^<>\n]*")
LONGEST_NAME = 128
MENDED = "added the end that was missing"


def read(reading: Reading, opener: str) -> Steps[None]:
    """A name, or JSON where the model fell into Hermes' way."""
    character = yield from reading.source.space()
    if character and character in "{[":
        yield from JsonCalls(reading, CLOSERS, ENDS).read()
    elif character:
        yield from read_named(reading)


def read_named(reading: Reading) -> Steps[None]:
    """The call behind the opener; where none begins, the record keeps what was taken."""
    name = yield from reading.source.word(NAME, LONGEST_NAME)
    yield from reading.source.space()
    if name and (yield from reading.source.marker(BEHIND_A_NAME)):
        yield from _Call(reading, name).read()


class _Call:
    def __init__(self, reading: Reading, name: str) -> None:
        self._reading = reading
        self._spec = find_tool(name, reading.tools)
        self._stream = ArgumentStream(reading.reply, reading.tools, name)
        self._arguments: dict[str, Any] = {}
        self._repairs: list[str] = []

    def read(self) -> Steps[None]:
        source = self._reading.source
        whole = True
        while whole and (yield from source.found(KEY)):
            whole = yield from self._pair()
            end = source.recorded
            yield from source.space()
        closed = yield from source.found(CLOSERS)
        if not closed and self._arguments:
            source.back_to(end)
            self._repairs.append(MENDED)
        name = self._stream.name
        written = finished(name, self._arguments, tuple(self._repairs), self._reading.tools)
        self._stream.done(written if whole else Written(name, why_not=CUT_OFF.why_not), source.cut())

    def _pair(self) -> Steps[bool]:
        """One key with its value; False where they are not whole."""
        source = self._reading.source
        key = (yield from source.word(KEY_TEXT, LONGEST_NAME)).strip()
        yield from source.found(KEY_END)
        yield from source.space()
        if not key or not (yield from source.found(VALUE)):
            return False
        schema = schema_of(key, self._spec)
        allowed = TEXT if schema is None or self._spec is None else types(schema, self._spec.parameters)
        shows = self._stream.takes_text(key)
        text = yield from self._value(key, shows=shows)
        if text is None:
            return False
        value = text if allowed == TEXT else from_text(text, allowed)
        if not shows:
            self._stream.value(key, value)
        self._arguments.setdefault(key, value)
        return True

    def _value(self, key: str, *, shows: bool) -> Steps[str | None]:
        """The text of a value; what closes it is believed where something that may follow it does."""
        source, stream = self._reading.source, self._stream
        start = source.recorded
        show = stream.text if shows else _not_shown
        if shows:
            stream.key(key)
            stream.text_begins()
        while True:
            found = IN_A_VALUE.search(source.buffer, source.at)
            show(source.take(found.start() if found else IN_A_VALUE.unsure_from(source.buffer, source.at)))
            end = source.recorded
            if found and (yield from self._ends_here()):
                if shows:
                    stream.text_ends()
                return source.since(start)[: end - start]
            show(source.since(end))
            if not found and source.ended:
                return None
            if not found:
                yield

    def _ends_here(self) -> Generator[None, None, bool]:
        source = self._reading.source
        place = source.recorded
        tag = yield from source.found(IN_A_VALUE)
        end = source.recorded
        character = yield from source.space()
        if tag in VALUE_END.markers:
            ends = not character or bool((yield from source.marker(BEHIND_A_VALUE)))
            source.back_to(end if ends else source.recorded)
            return ends
        ends = tag == CLOSER and (not character or bool((yield from source.marker(Markers([OPENER])))))
        if ends:
            self._repairs.append(MENDED)
            source.back_to(place)
        return ends


def _not_shown(_piece: str) -> None:
    """Only texts are shown while they are written."""


def instructions(tools: Sequence[ToolSpec]) -> str:
    return (
        f"The functions you can call, as JSON Schema:\n<tools>\n{listed(tools)}\n</tools>\n\n"
        "To call one, write this and nothing after it, one pair of tags for each argument, the value as it is:\n"
        "<tool_call>the_name\n<arg_key>an_argument</arg_key>\n<arg_value>its value</arg_value>\n</tool_call>\n"
        "The results come back in tool_response tags."
    )


def write_calls(calls: Sequence[ToolCall]) -> str:
    return "\n".join(map(_written, calls))


def _written(call: ToolCall) -> str:
    pairs = "".join(
        f"<arg_key>{key}</arg_key>\n<arg_value>{written_value(value)}</arg_value>\n"
        for key, value in call.arguments.items()
    )
    return f"{OPENER}{call.name}\n{pairs}{CLOSER}"


def write_results(results: Sequence[Message]) -> str:
    return hermes.write_results(results)


GRAMMAR = Grammar({OPENER: read})
FORMAT = Format("glm45", "GLM 4.5", GRAMMAR.parser, instructions, write_calls, write_results)
