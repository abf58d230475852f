"""Reads calls that are written as a name, a mark and a JSON object; the formats differ in their marks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from toolsupport.core.call_building import finished
from toolsupport.core.coercion import properties
from toolsupport.core.formats.argument_stream import ArgumentStream, JsonArguments
from toolsupport.core.formats.json_calls import CUT_OFF, TOO_DEEP
from toolsupport.core.formats.lookahead import match
from toolsupport.core.formats.reply_parser import ReaderContext
from toolsupport.core.json_repair import read_json
from toolsupport.core.json_scanner import DEEPEST, JsonWalk
from toolsupport.core.scanner import MarkerSet, Steps
from toolsupport.core.types import ToolSpec

NAME = re.compile(r"[\w.:/-]*")
LONGEST_NAME = 128
# A name on a line of its own above an object.
NAME_LINE = re.compile(r"(?P<name>[A-Za-z_][\w.:/-]{0,127})[ \t]{0,8}\r?\n\s{0,8}\{")
NAME_LINE_BEGUN = re.compile(r"[A-Za-z_][\w.:/-]{0,127}[ \t]{0,8}(?:\r?\n?\s{0,8})|")
# Llama on Groq: the tag with the name is not closed before the object: `<function=name{…}`, `<function=name={…}`.
UNCLOSED = re.compile(r"(?P<name>[A-Za-z_][\w.:/-]{0,127})=?\s{0,8}(?=\{)")
UNCLOSED_BEGUN = re.compile(r"[A-Za-z_][\w.:/-]{0,127}=?\s{0,8}|")
TAG_CLOSED = "closed the tag of the name"
FENCE = MarkerSet(["```json", "```"])


@dataclass(frozen=True)
class NamedMarks:
    """The marks of one format.

    `kind` may precede a name, `as_name` converts that text to a name and an id. An id with `behind_id` precedes it.
    """

    opens: tuple[str, ...]
    behind_name: tuple[str, ...]
    closes: tuple[str, ...]
    block_opens: tuple[str, ...] = ()
    block_closes: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    as_name: Callable[[str], tuple[str, str]] = lambda name: (name, "")
    behind_id: tuple[str, ...] = ()

    @cached_property
    def call_opens(self) -> MarkerSet:
        return MarkerSet(self.opens)

    @cached_property
    def kinds(self) -> MarkerSet:
        return MarkerSet(self.kind)

    @cached_property
    def id_ends(self) -> MarkerSet:
        return MarkerSet(self.behind_id)

    @cached_property
    def separators(self) -> MarkerSet:
        return MarkerSet(self.behind_name)

    @cached_property
    def call_closes(self) -> MarkerSet:
        return MarkerSet(self.closes)

    @cached_property
    def all_closed(self) -> MarkerSet:
        return MarkerSet(self.block_closes)

    @cached_property
    def ends(self) -> MarkerSet:
        """Return the marks that end broken arguments."""
        return MarkerSet([*self.opens, *self.closes, *self.block_closes])


def name_in_unclosed_tag(reading: ReaderContext) -> Steps[str]:
    """Consume the name of an offered tool in a tag that an object follows instead of its end; else return ""."""
    found = yield from match(reading.source, UNCLOSED, UNCLOSED_BEGUN)
    if found is None or not reading.tools or not reading.may_call(found["name"]):
        return ""
    reading.source.take(found.end())
    return found["name"]


class NamedCalls:
    """The calls of one block; each is emitted when the text after it is clear."""

    def __init__(self, reading: ReaderContext, marks: NamedMarks) -> None:
        self._reading = reading
        self._marks = marks

    def read(self, opener: str) -> Steps[None]:
        """Read the calls; if none begins here, the text stays in the record."""
        source, marks = self._reading.source, self._marks
        if opener in marks.block_opens:
            yield from source.space()
            if not (yield from self._opened()):
                return
        more = True
        while more and (yield from self._named()):
            yield from self._arguments()
            end = source.recorded
            yield from source.space()
            if (yield from source.closed(marks.call_closes)):
                end = source.recorded
                yield from source.space()
            if (yield from source.closed(marks.all_closed)):
                end = source.recorded
            source.back_to(end)
            self._report(source.cut())
            yield from source.space()
            more = yield from self._opened()
            if not more:
                source.back_to(0)

    def _opened(self) -> Steps[bool]:
        opened = yield from self._reading.source.found(self._marks.call_opens)
        if opened:
            yield from self._reading.source.repeated(opened)
        return bool(opened)

    def _named(self) -> Steps[bool]:
        """Return whether a name and the required mark after it were read."""
        source, marks = self._reading.source, self._marks
        yield from source.space()
        yield from source.found(marks.kinds)
        given_id = (yield from source.word(NAME, LONGEST_NAME)) if marks.behind_id else ""
        if marks.behind_id and not (yield from source.found(marks.id_ends)):
            return False
        written = yield from source.word(NAME, LONGEST_NAME)
        if not written or not (yield from source.found(marks.separators)):
            return False
        name, wanted_id = marks.as_name(written)
        self._stream = ArgumentStream(self._reading.reply, self._reading.tools, name)
        self._stream.wanted_id = wanted_id or given_id
        if name.isdigit():
            self._stream.stop()
        return bool(name)

    def _arguments(self) -> Steps[None]:
        """Read an object, possibly in a fence; nothing at all means no arguments."""
        source, name, tools = self._reading.source, self._stream.name, self._reading.tools
        character = yield from source.space()
        if character == "`":
            yield from source.found(FENCE)
            character = yield from source.space()
        start = source.recorded
        if character != "{":
            empty = not character or bool((yield from source.marker(self._marks.ends)))
            self._written = finished(name, {} if empty else "?", (), tools)
            return
        walk = JsonWalk(source, self._marks.ends, JsonArguments(self._stream))
        yield from walk.value()
        read = read_json(source.since(start)) if walk.deepest <= DEEPEST else None
        name = _meant(name, read.value if read else None, tools)
        self._written = finished(name, read.value if read else "?", read.repairs if read else (), tools)
        if walk.deepest > DEEPEST or walk.cut_off:
            self._written = TOO_DEEP if walk.deepest > DEEPEST else CUT_OFF
        yield from self._closing_fence()

    def _closing_fence(self) -> Steps[None]:
        source = self._reading.source
        end = source.recorded
        if (yield from source.space()) != "`" or not (yield from source.found(FENCE)):
            source.back_to(end)

    def _report(self, raw: str) -> None:
        self._stream.done(self._written, raw)


def _meant(name: str, arguments: object, tools: Sequence[ToolSpec]) -> str:
    """Return the name; for a number, that of the only tool with all these parameters."""
    if not name.isdigit() or not isinstance(arguments, dict) or not arguments:
        return name
    fitting = [tool.name for tool in tools if set(arguments) <= set(properties(tool.parameters))]
    return fitting[0] if len(fitting) == 1 else name
