"""Reads calls that are written as JSON objects between two marks: one, several, or a list of them."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.core.call_building import BRACKET_TOO_MANY, ParsedCall, read_call
from toolsupport.core.formats.argument_stream import ArgumentStream, JsonArguments
from toolsupport.core.formats.reply_parser import ReaderContext
from toolsupport.core.json_scanner import DEEPEST, JsonWalk
from toolsupport.core.scanner import MarkerSet, Steps

TOO_DEEP = ParsedCall(why_not=f"The arguments nest more than {DEEPEST} levels deep. Write the call again, flatter.")
CUT_OFF = ParsedCall(why_not="The call ends in the middle of a value. Write it again, in smaller parts if it is long.")
FENCE = MarkerSet(["```json", "```"])
BEFORE_A_CALL = frozenset("[,;]}")


class JsonCalls:
    """The calls of one block. Each is emitted when the text after it is clear, so that `raw` has all its marks."""

    listener: type[JsonArguments] = JsonArguments

    def __init__(
        self, reading: ReaderContext, closers: MarkerSet, ends: MarkerSet, repairs: tuple[str, ...] = ()
    ) -> None:
        self._reading = reading
        self._closers = closers
        self._ends = ends
        self._openers = frozenset(ends.markers) - frozenset(closers.markers)
        self._repairs = repairs
        self._listed = False
        self._stream: ArgumentStream | None = None
        self._written = ParsedCall()
        self._end = 0

    def read(self) -> Steps[bool]:
        """Return False if no call begins here: nothing is emitted, and the text stays in the record."""
        source = self._reading.source
        while True:
            character = yield from source.space()
            if self._stream and (yield from source.closed(self._closers)):
                return self._report(source.cut())
            if character == "{" and (yield from self._begins_an_object()):
                if self._stream:
                    self._report(source.cut())
                yield from self._object()
            elif character and character in BEFORE_A_CALL and self._may_stand_here(character):
                self._bracket(source.take(source.at + 1))
                self._end = source.recorded
            elif character == "`" and (yield from source.marker(FENCE)):
                source.take(source.at + len((yield from source.marker(FENCE))))
                self._end = source.recorded
            else:
                return (yield from self._over())

    def _bracket(self, character: str) -> None:
        """Consume a bracket or a separator between calls; a stray closing one is dropped and recorded."""
        if character == "[":
            self._listed = True
        elif character == "]" and self._listed:
            self._listed = False
        elif character in "]}" and BRACKET_TOO_MANY not in self._written.repairs:
            self._written = replace(self._written, repairs=(*self._written.repairs, BRACKET_TOO_MANY))

    def _may_stand_here(self, character: str) -> bool:
        return (character == "[") is (self._stream is None)

    def _over(self) -> Steps[bool]:
        if not self._stream:
            return False
        source = self._reading.source
        if (yield from source.found(self._ends)) and not (yield from source.space()):
            return self._report(source.cut())  # the reply ends with an opening mark where the closing one belongs
        source.back_to(self._end)
        rest = source.buffer[source.at :].strip()
        if source.ended and rest and any(closer.startswith(rest) for closer in self._closers.markers):
            source.take(len(source.buffer))  # the reply ended inside the closing mark
        return self._report(source.cut())

    def _begins_an_object(self) -> Steps[bool]:
        """Return whether a brace and a valid next character follow: a quote, a closing bracket, or a bare key."""
        source = self._reading.source
        place = source.recorded
        source.take(source.at + 1)
        character = yield from source.space()
        source.back_to(place)
        return not character or character in "\"'{}“" or character.isidentifier()

    def _object(self) -> Steps[None]:
        source = self._reading.source
        start = source.recorded
        stream = ArgumentStream(self._reading.reply, self._reading.tools)
        walk = JsonWalk(source, self._ends, self.listener(stream), self._openers)
        yield from walk.value()
        self._stream, self._end = stream, source.recorded
        if walk.deepest > DEEPEST or walk.cut_off:
            self._written = TOO_DEEP if walk.deepest > DEEPEST else CUT_OFF
        else:
            written = self._read_one(source.since(start))
            self._written = replace(written, repairs=(*self._repairs, *written.repairs))

    def _read_one(self, text: str) -> ParsedCall:
        return read_call(text, self._reading.tools)

    def _report(self, raw: str) -> bool:
        if self._stream:
            self._stream.done(self._written, raw)
        self._stream = None
        return True
