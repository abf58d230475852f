"""Tags named like the tool and its arguments, as in Cline's prompts: `<now><zone>CET</zone></now>`.

Only its name marks such a call, so only a complete one of an offered tool counts, and nothing in it is repaired.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from toolsupport.core.call_building import ParsedCall, finished, schema_of
from toolsupport.core.coercion import types
from toolsupport.core.formats.argument_stream import TEXT, ArgumentStream
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.json_calls import CUT_OFF
from toolsupport.core.formats.lookahead import match
from toolsupport.core.formats.reply_parser import Grammar, Reader, ReaderContext, ReplyParser
from toolsupport.core.formats.tag_calls import NO_PARAMETERS, UNCLEAR
from toolsupport.core.formats.tag_value import PAIRED, TagValue, inline_value, without_breaks
from toolsupport.core.formats.writing import listed, write_results
from toolsupport.core.scanner import MarkerSet, Steps
from toolsupport.core.text_values import from_text
from toolsupport.core.tool_lookup import find_tool
from toolsupport.core.types import ToolCall, ToolSpec

KEY = re.compile(r"<([\w.:-]{1,128})>")
KEY_BEGUN = re.compile(r"<?[\w.:-]{0,128}")


def openers(names: Sequence[str]) -> dict[str, Reader]:
    whole = {f"<{name}>": read for name in names}
    empty = {f"<{name}{end}": read_empty for name in names for end in ("/>", " />")}
    return {**whole, **empty}


def read(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read the call after its opening tag; anything else is text."""
    if not reading.fenced:
        yield from ToolTagCall(reading, opener.strip("<>")).read()


def read_empty(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read `<now/>` as a call without arguments."""
    name = opener.strip("</ >")
    if not reading.fenced:
        ArgumentStream(reading.reply, reading.tools, name).done(
            finished(name, {}, (), reading.tools), reading.source.cut()
        )
    yield from ()


class ToolTagCall:
    """One call."""

    def __init__(self, reading: ReaderContext, name: str) -> None:
        self._reading = reading
        self._name = name
        self._spec = find_tool(name, reading.tools)
        self._stream = ArgumentStream(reading.reply, reading.tools, name)
        self._end = MarkerSet([f"</{name}>"])
        self._arguments: dict[str, Any] = {}

    def read(self) -> Steps[None]:
        source = self._reading.source
        broken: ParsedCall | None = None
        while broken is None:
            character = yield from source.space()
            if (yield from source.closed(self._end)):
                break
            found = yield from match(source, KEY, KEY_BEGUN)
            if found is None and not any(schema_of(key, self._spec) for key in self._arguments):
                return
            if found is None:
                broken = NO_PARAMETERS if character else CUT_OFF
            else:
                source.take(found.end())
                broken = yield from self._argument(found[1])
        ends = MarkerSet(f"</{key}>" for key in self._arguments)
        written = broken or finished(self._name, self._arguments, (), self._reading.tools)
        self._stream.done(written, source.cut(), ends)

    def _argument(self, key: str) -> Steps[ParsedCall | None]:
        """Read one argument; return why the call is invalid, or None."""
        schema = schema_of(key, self._spec)
        allowed = TEXT if schema is None or self._spec is None else types(schema, self._spec.parameters)
        again = key in self._arguments
        value = TagValue(self._stream, key, PAIRED, shows=not again and self._stream.takes_text(key))
        text = yield from self._text(key, value)
        if text is None or again:
            return CUT_OFF if text is None else UNCLEAR
        text = without_breaks(text, PAIRED, closed=True)
        self._arguments[key] = text if allowed == TEXT else from_text(text, allowed)
        value.ends(self._arguments[key])
        return None

    def _text(self, key: str, value: TagValue) -> Steps[str | None]:
        """Read the text up to the tag that closes it, after which the call ends or continues; None at the end."""
        source, ends = self._reading.source, MarkerSet([f"</{key}>"])
        start = source.recorded
        while True:
            found = ends.search(source.buffer, source.at)
            unsure = ends.unsure_from(source.buffer, source.at)
            value.text(source.take(found.start() if found else unsure))
            here = source.recorded
            if found:
                source.take(found.end())
                end = source.recorded
                if (yield from self._goes_on()):
                    source.back_to(end)
                    return source.since(start)[: here - start]
            elif source.ended:
                return None
            else:
                yield
            value.text(source.since(here))

    def _goes_on(self) -> Steps[bool]:
        """Return whether another argument follows, or the end of the call."""
        source = self._reading.source
        yield from source.space()
        if (yield from source.marker(self._end)):
            return True
        return (yield from match(source, KEY, KEY_BEGUN)) is not None


def instructions(tools: Sequence[ToolSpec]) -> str:
    example = write_calls([ToolCall("", "the_name", {"an_argument": "its value"})])
    return (
        f"The functions you can call, as JSON Schema:\n{listed(tools)}\n\n"
        "To call one, write this and nothing after it, a tag named like the function and one for each argument, a text"
        f" as it is, any other value as JSON:\n{example}\nThe results come back in tool_response tags."
    )


def write_calls(calls: Sequence[ToolCall]) -> str:
    return "\n".join(map(_written, calls))


def _written(call: ToolCall) -> str:
    lines = [f"<{key}>{inline_value(value)}</{key}>" for key, value in call.arguments.items()]
    return "\n".join([f"<{call.name}>", *lines, f"</{call.name}>"])


def parser(tools: Sequence[ToolSpec], *, thinking: bool | None = None) -> ReplyParser:
    return Grammar(openers([tool.name for tool in tools])).parser(tools, thinking=thinking)


FORMAT = Format("tool_tags", "Tags named like tools", parser, instructions, write_calls, write_results)
