"""Reads JSON without marks: calls of offered tools are reported, all other JSON stays text."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import replace

from toolsupport.core.call_building import (
    ARGUMENT_KEYS,
    NAME_KEYS,
    OTHER_KEYS,
    WRAPPERS,
    ParsedCall,
    is_definition,
    read_call,
    schema_of,
)
from toolsupport.core.formats.argument_stream import ArgumentStream, JsonArguments
from toolsupport.core.formats.json_calls import CUT_OFF, TOO_DEEP
from toolsupport.core.formats.lookahead import match
from toolsupport.core.formats.reply_parser import ReaderContext
from toolsupport.core.json_scanner import DEEPEST, JsonWalk
from toolsupport.core.scanner import MarkerSet, Steps
from toolsupport.core.tool_lookup import find_tool

NO_ENDS = MarkerSet(())
FENCE = MarkerSet(["```"])
# Marks that Qwen2.5-Coder writes around calls instead of those in its prompt, and those of LM Studio.
WRAPPERS_OF_CALLS = {
    **{f"<{name}>": f"</{name}>" for name in ("tools", "tool", "function", "function-call", "tool_use")},
    "[TOOL_REQUEST]": "[END_TOOL_REQUEST]",
}
WRAPPER_ENDS = MarkerSet(WRAPPERS_OF_CALLS.values())
SEPARATORS = frozenset(",;")
CALL_KEYS = frozenset({*NAME_KEYS, *ARGUMENT_KEYS, *OTHER_KEYS, *WRAPPERS})
CURLY_QUOTES = "“”"
QUOTES = ('"', "'", "“")
# A key without quotes begins a call only if it is one of those that calls have: `{so it goes` is prose.
BARE_KEY = re.compile(rf"(?:{'|'.join(sorted(CALL_KEYS))})\s{{0,8}}:")
BARE_KEY_BEGUN = re.compile(rf"[a-z_]{{0,{max(map(len, CALL_KEYS))}}}\s{{0,8}}")


def read_wrapped(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read the calls of offered tools behind one of the marks; anything else stays text."""
    character = yield from reading.source.space()
    if character and character in "{[" and reading.tools and not reading.fenced:
        yield from BareJson(reading, opener).read()


class CallPrecheck(JsonArguments):
    """Observes an object and detects as early as possible that it is not a call of an offered tool."""

    def __init__(self, reading: ReaderContext, stream: ArgumentStream) -> None:
        super().__init__(stream)
        self._reading = reading
        self.refused = False
        self.saw_arguments = False

    def mark(self, character: str, depth: int) -> None:
        super().mark(character, depth)
        if self._off:
            return
        if depth == 1 and character == ":" and not self._inside:
            self._judge_key(self._key or "")
        elif depth == 1 and self.stream.name and not self._reading.may_call(self.stream.name):
            self.refuse()

    def bare(self, piece: str, depth: int) -> None:
        """Accept a key or a name without quotes, or in curly ones."""
        if depth == 1 and not (self._off or self._inside):
            self._part(f"{' ' if self._pieces else ''}{piece.strip(CURLY_QUOTES)}")
            self._text_ended = True
        else:
            super().bare(piece, depth)

    def _judge_key(self, key: str) -> None:
        self.saw_arguments = self.saw_arguments or key in ARGUMENT_KEYS
        spec = find_tool(self.stream.name, self._reading.tools) if self.stream.name else None
        if key not in CALL_KEYS and schema_of(key, spec) is None:
            self.refuse()

    def _mark_inside(self, character: str, depth: int) -> None:
        """Show nothing of what may be the definition of a tool."""
        super()._mark_inside(character, depth)
        if self._key == "type" and schema_of("type", find_tool(self.stream.name, self._reading.tools)) is None:
            self.stream.stop()

    def refuse(self) -> None:
        self.refused = True
        self.strange()


class BareJson:
    """One object, or several separated by commas or semicolons, possibly in a list, possibly in a fence.

    `made` counts the calls. `enclosed`: objects around them that end behind them. `closed`: optional arguments may be
    null, which means that they were left out.
    """

    def __init__(self, reading: ReaderContext, opener: str, *, enclosed: int = 0, closed: bool = False) -> None:
        self.made = 0
        self._enclosed = enclosed
        self._closed = closed
        self._wrapped = opener in WRAPPERS_OF_CALLS
        self._reading = reading
        self._fenced = opener.startswith("`")
        self._listed = opener == "["
        self._starts_inside = opener == "{"

    def read(self) -> Steps[None]:
        """Read the calls; other text is left in the record, or emitted as text."""
        source = self._reading.source
        if self._starts_inside:
            source.back_to(0)
        character = yield from source.space()
        if (self._fenced or self._wrapped) and character == "[":
            source.take(source.at + 1)
            self._listed = True
            character = yield from source.space()
        while character == "{" and (yield from self._begins_an_object()):
            end = yield from self._object()
            if end < 0:
                return
            character = yield from self._separator(end)

    def _begins_an_object(self) -> Steps[bool]:
        source = self._reading.source
        place = source.recorded
        source.take(source.at + 1)
        character = yield from source.space()
        begins = character in QUOTES or bool((yield from match(source, BARE_KEY, BARE_KEY_BEGUN)))
        source.back_to(place if begins else source.recorded)
        return begins

    def _object(self) -> Generator[None, None, int]:
        """Return the length of the record at the end of a call, -1 if it was not one."""
        source, reply = self._reading.source, self._reading.reply
        start = source.recorded
        self._stream = ArgumentStream(reply, self._reading.tools)
        if self._closed:
            self._stream.stop()
        gate = CallPrecheck(self._reading, self._stream)
        walk = JsonWalk(source, NO_ENDS, gate)
        for _ in walk.value():
            if gate.refused and walk.settled:
                reply.text(source.cut())
            yield
        if gate.refused:
            return -1
        text = source.since(start)
        broken = TOO_DEEP if walk.deepest > DEEPEST else CUT_OFF if walk.cut_off else None
        self._written = broken or self._read_one(text)
        name = self._written.name or self._stream.name
        announced = self._reading.tools or gate.saw_arguments or self._written.arguments
        if not self._reading.may_call(name) or not announced or is_definition(self._written, self._reading.tools):
            return -1
        return source.recorded

    def _read_one(self, text: str) -> ParsedCall:
        written = read_call(text, self._reading.tools)
        if not (self._closed and written.arguments):
            return written
        spec = find_tool(written.name, self._reading.tools)
        needed = spec.parameters.get("required") or () if spec else ()
        given = {key: value for key, value in written.arguments.items() if value is not None or key in needed}
        return replace(written, arguments=given)

    def _separator(self, end: int) -> Steps[str]:
        """Emit the call with its closing brackets; the next character separates it from another one."""
        source = self._reading.source
        character = yield from source.space()
        if self._listed and character == "]":
            source.take(source.at + 1)
            self._listed, end = False, source.recorded
            character = yield from source.space()
        while self._enclosed and character == "}" and not self._listed:
            source.take(source.at + 1)
            self._enclosed, end = self._enclosed - 1, source.recorded
            character = yield from source.space()
        if self._fenced and (yield from source.found(FENCE)):
            self._fenced = self._reading.fenced = False
            end = source.recorded
            character = ""
        if self._wrapped and (yield from source.closed(WRAPPER_ENDS)):
            end, character = source.recorded, ""
        separated = bool(character) and (character in SEPARATORS or (self._wrapped and character == "{"))
        if separated and character == "{":
            end = source.recorded
        if separated and character != "{":
            source.take(source.at + 1)
            character = yield from source.space()
        if not separated or character != "{":
            source.back_to(end)
            character = ""
        self.made += 1
        self._stream.done(self._written, source.cut())
        return character
