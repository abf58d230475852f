"""Reads calls that are written as a name and pairs of tags, one for each key and one for its value."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from toolsupport.core.call_building import ParsedCall, finished, schema_of
from toolsupport.core.coercion import properties, types
from toolsupport.core.formats.argument_stream import TEXT, ArgumentStream
from toolsupport.core.formats.json_calls import CUT_OFF, JsonCalls
from toolsupport.core.formats.reply_parser import ReaderContext
from toolsupport.core.formats.tag_calls import TWICE, UNCLEAR
from toolsupport.core.formats.tag_value import written_value
from toolsupport.core.formats.writing import listed
from toolsupport.core.json_repair import END_ADDED
from toolsupport.core.scanner import MarkerSet, Steps
from toolsupport.core.text_values import from_text
from toolsupport.core.tool_lookup import find_tool
from toolsupport.core.types import ToolCall, ToolSpec

NAME = re.compile(r"[\w.:/-]*")
BEGINNING_ADDED = "added the beginning that was missing"
KEY_TEXT = re.compile(r"[^<>\n]*")
LONGEST_NAME = 128
LONGEST_KEY = 40  # behind a name without its tag: until it ends, text is not shown
# Tencent's Hy 3 and 4: checkpoints that were published have an ending in their tags, and no separator in version 4.
HY_SUFFIXES = ("", ":opensource")


@dataclass(frozen=True)
class PairTagSet:
    """The tags of one format; `separator` follows the name. All have the ending `suffix` before their >.

    Some models put the calls between a pair of wrappers. `offered`: a name without any pair is a call only if it is
    offered. `written` has the tags of a format that writes none of these; "" is one that it leaves out.
    """

    prefix: str = ""
    suffixes: tuple[str, ...] = ("",)
    separator: str = ""
    wrapper: str = ""
    offered: bool = False
    written: Mapping[str, str] = field(default_factory=dict, hash=False)

    def _tag(self, name: str) -> tuple[str, ...]:
        if self.written:
            return (self.written[name],) if self.written.get(name) else ()
        slash = "/" if name.startswith("/") else ""
        return tuple(f"<{slash}{self.prefix}{name.removeprefix('/')}{suffix}>" for suffix in self.suffixes)

    @cached_property
    def opens(self) -> tuple[str, ...]:
        return self._tag("tool_call")

    @cached_property
    def wrappers(self) -> tuple[str, ...]:
        return self._tag(self.wrapper) if self.wrapper else ()

    @cached_property
    def openers(self) -> MarkerSet:
        return MarkerSet(self.opens)

    @cached_property
    def closers(self) -> MarkerSet:
        return MarkerSet(self._tag("/tool_call"))

    @cached_property
    def wrapper_closers(self) -> MarkerSet:
        return MarkerSet(self._tag(f"/{self.wrapper}") if self.wrapper else ())

    @cached_property
    def all_closers(self) -> MarkerSet:
        """Return the closers of a call in JSON, with the wrapper's closer."""
        outer = self.wrapper_closers.markers
        closers = self.closers.markers
        return MarkerSet(
            [*closers, *(one + between + two for one in closers for two in outer for between in ("", "\n"))]
        )

    @cached_property
    def ends(self) -> MarkerSet:
        return MarkerSet([*self.opens, *self.closers.markers])

    @cached_property
    def separators(self) -> MarkerSet:
        return MarkerSet(self._tag(self.separator) if self.separator else ())

    @cached_property
    def key(self) -> MarkerSet:
        return MarkerSet(self._tag("arg_key"))

    @cached_property
    def key_end(self) -> MarkerSet:
        return MarkerSet(self._tag("/arg_key"))

    @cached_property
    def kind(self) -> MarkerSet:
        """Return the tag of the type that K2 Horizon may write between a key and its value."""
        return MarkerSet(self._tag("arg_type"))

    @cached_property
    def kind_end(self) -> MarkerSet:
        return MarkerSet(self._tag("/arg_type"))

    @cached_property
    def value(self) -> MarkerSet:
        return MarkerSet(self._tag("arg_value"))

    @cached_property
    def value_end(self) -> MarkerSet:
        return MarkerSet(self._tag("/arg_value"))

    @cached_property
    def behind_a_name(self) -> MarkerSet:
        return MarkerSet([*self.separators.markers, *self.key.markers, *self.closers.markers, *self.value_end.markers])

    @cached_property
    def behind_a_value(self) -> MarkerSet:
        return MarkerSet([*self.key.markers, *self.ends.markers, *self.wrapper_closers.markers])

    @cached_property
    def in_a_value(self) -> MarkerSet:
        return MarkerSet([*self.value_end.markers, *self.key.markers, *self.closers.markers])

    def read(self, reading: ReaderContext, opener: str) -> Steps[None]:
        """Read a name, or JSON if the model used the syntax of Hermes."""
        source = reading.source
        character = yield from source.space()
        if opener in self.wrappers:
            if not (yield from source.found(self.openers)):
                return
            character = yield from source.space()
        if character and character in "{[":
            yield from JsonCalls(reading, self.all_closers, self.ends).read()
        elif character:
            yield from self.read_named(reading)

    def read_named(self, reading: ReaderContext) -> Steps[None]:
        """Read the calls after the opener; if none begins, the text stays in the record."""
        source = reading.source
        while True:
            name = yield from source.word(NAME, LONGEST_NAME)
            yield from source.space()
            behind, key = (yield from source.marker(self.behind_a_name)), ""
            if name and not behind:
                name, key = yield from self._name_with_key(reading, name)
            elif behind not in self.key.markers and not self._may_be_alone(reading, name, behind):
                return
            if not name:
                return
            yield from source.found(self.separators)
            yield from source.space()
            call = _PairCall(reading, self, name)
            yield from call.read(key)
            end = source.recorded
            yield from source.space()
            closed = yield from source.closed(self.wrapper_closers)
            again = bool(self.wrapper and not closed and (yield from source.marker(self.openers)))
            if not closed:
                source.back_to(end)
            call.report(source.cut())
            if not again:
                return
            yield from source.space()
            yield from source.found(self.openers)
            if (yield from source.space()) in ("{", "["):
                yield from JsonCalls(reading, self.all_closers, self.ends).read()
                return

    def _name_with_key(self, reading: ReaderContext, name: str) -> Generator[None, None, tuple[str, str]]:
        """Return the name of an offered tool and its first key, whose opening tag GLM left out; else nothing."""
        rest = yield from reading.source.word(NAME, LONGEST_KEY)
        if not (yield from reading.source.marker(self.key_end)):
            return "", ""
        found = [
            (tool.name, key)
            for tool in reading.tools
            for key in properties(tool.parameters)
            if (name == tool.name and rest == key) or (not rest and name == tool.name + key)
        ]
        return found[0] if len(found) == 1 else ("", "")

    def _may_be_alone(self, reading: ReaderContext, name: str, behind: str) -> bool:
        """Return whether a name without pairs is a call; only an offered one if the end of a value follows it."""
        return not (self.offered or behind in self.value_end.markers) or reading.may_call(name)

    def instructions(self, tools: Sequence[ToolSpec]) -> str:
        example = self.write_calls([ToolCall("", "the_name", {"an_argument": "its value"})])
        return (
            f"The functions you can call, as JSON Schema:\n<tools>\n{listed(tools)}\n</tools>\n\n"
            "To call one, write this and nothing after it, one pair of tags for each argument, the value as it is:\n"
            f"{example}\nThe results come back in tool_response tags."
        )

    def write_calls(self, calls: Sequence[ToolCall]) -> str:
        written = "\n".join(map(self._written, calls))
        if not self.wrapper or not calls:
            return written
        return f"{self.wrappers[0]}\n{written}\n{self._tag(f'/{self.wrapper}')[0]}"

    def _written(self, call: ToolCall) -> str:
        key, key_end, value, value_end = (
            "".join(self._tag(tag)[:1]) for tag in ("arg_key", "/arg_key", "arg_value", "/arg_value")
        )
        between = f"{key_end}\n" if key_end else ""
        pairs = "".join(
            f"{key}{name}{between}{value}{written_value(argument)}{value_end}\n"
            for name, argument in call.arguments.items()
        )
        separator = self._tag(self.separator)[0] if self.separator else ""
        return f"{self.opens[0]}{call.name}{separator}\n{pairs}{self._tag('/tool_call')[0]}"

    @property
    def openers_of_calls(self) -> tuple[str, ...]:
        return (*self.wrappers, *self.opens)


class _PairCall:
    def __init__(self, reading: ReaderContext, pairs: PairTagSet, name: str) -> None:
        self._reading = reading
        self._pairs = pairs
        self._spec = find_tool(name, reading.tools)
        self._stream = ArgumentStream(reading.reply, reading.tools, name)
        self._arguments: dict[str, Any] = {}
        self._repairs: list[str] = []
        self._whole = True
        self._unclear = False

    def read(self, key: str) -> Steps[None]:
        """Read the pairs; `key` is the first one, if that was read already."""
        source = self._reading.source
        self._repairs += [BEGINNING_ADDED] if key else []
        while self._whole and (key or (yield from source.found(self._pairs.key))):
            self._whole = yield from self._pair(key)
            key, end = "", source.recorded
            yield from source.space()
        if not self._arguments and self._whole and (yield from source.found(self._pairs.value_end)):
            self._repairs.append("left out an end without a beginning")
            yield from source.space()
        closed = yield from source.closed(self._pairs.closers)
        if not closed and self._arguments:
            source.back_to(end)
            self._repairs.append(END_ADDED)

    def report(self, raw: str) -> None:
        name = self._stream.name
        written = finished(name, self._arguments, tuple(self._repairs), self._reading.tools)
        if self._unclear or not self._whole:
            written = ParsedCall(name, why_not=(CUT_OFF if not self._whole else UNCLEAR).why_not)
        self._stream.done(written, raw, self._pairs.value_end)

    def _pair(self, key: str) -> Steps[bool]:
        """Read one key with its value; return False if they are incomplete."""
        source = self._reading.source
        key = key or (yield from source.word(KEY_TEXT, LONGEST_NAME)).strip()
        closed = yield from source.found(self._pairs.key_end)
        yield from source.space()
        if (yield from source.found(self._pairs.kind)):
            yield from source.word(KEY_TEXT, LONGEST_NAME)
            yield from source.found(self._pairs.kind_end)
            yield from source.space()
        if not key or not ((yield from source.found(self._pairs.value)) or (closed and (yield from self._begins()))):
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
        if key in self._arguments:
            self._repairs.append(TWICE)
            last, ends_within = next(reversed(self._arguments)), self._pairs.value_end.search(text, 0)
            self._unclear = self._unclear or key != last or ends_within is not None
        self._arguments.setdefault(key, value)
        return True

    def _begins(self) -> Steps[bool]:
        """Return whether a value begins here without its tag, which GLM leaves out sometimes."""
        if (yield from self._reading.source.marker(self._pairs.in_a_value)) or not self._reading.source.left:
            return False
        self._repairs.append(BEGINNING_ADDED)
        return True

    def _value(self, key: str, *, shows: bool) -> Steps[str | None]:
        """Read the text of a value; a closer counts only if a valid continuation follows it."""
        source, stream = self._reading.source, self._stream
        start = source.recorded
        show = stream.text if shows else _not_shown
        if shows:
            stream.key(key)
            stream.text_begins()
        while True:
            found = self._pairs.in_a_value.search(source.buffer, source.at)
            show(source.take(found.start() if found else self._pairs.in_a_value.unsure_from(source.buffer, source.at)))
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
        tag = yield from source.found(self._pairs.in_a_value)
        end = source.recorded
        character = yield from source.space()
        if tag in self._pairs.value_end.markers:
            ends = not character or bool((yield from source.marker(self._pairs.behind_a_value)))
            source.back_to(end if ends else source.recorded)
            return ends
        opened = yield from source.marker(self._pairs.openers)
        ends = tag in self._pairs.closers.markers and (not character or bool(opened))
        if ends:
            self._repairs.append(END_ADDED)
            source.back_to(place)
        return ends


def _not_shown(_piece: str) -> None:
    """Stop streaming other values: only strings are streamed while they are written."""
