"""Collects the events of one reply, in order and with unique ids.

All text is kept as it was written. Only where the whole text of a reply with calls is white space there is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from toolsupport.core.events import CallDelta, CallFound, CallReady, CallRejected, Event, TextDelta, ThinkingDelta
from toolsupport.core.formats.end_marks import EndMarks
from toolsupport.core.formats.mentions import Fence, Item, Mention, Mentions
from toolsupport.core.words import JSON, ToolCall

UNWANTED_IN_AN_ID = re.compile(r"[^A-Za-z0-9_.:-]")
LONGEST_ID = 64


class Reply:
    """The events that were not handed out yet; `calls` counts the whole calls among all of them."""

    def __init__(self, fence: Fence = Fence.QUOTES) -> None:
        self.calls = 0
        self._events: list[Event] = []
        self._blank: list[str] | None = []
        self._ids: set[str] = set()
        self._given = 0
        self._end_marks = EndMarks()
        self.is_result: Callable[[str], bool] = lambda _raw: False
        self._mentions = Mentions(fence, lambda raw: self.is_result(raw))

    def handed_out(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def text(self, piece: str) -> None:
        self._put(self._mentions.text(self._end_marks.text(piece)))

    def thinking(self, piece: str) -> None:
        if piece:
            self.message_ends()
            self._events.append(ThinkingDelta(piece))

    def message_ends(self) -> None:
        """A mark that is not shown stands here, and what follows is no part of the sentence in front of it."""
        self._put(self._mentions.text(self._end_marks.call()))
        self._put(self._mentions.message_ends())

    def new_id(self, wanted: str = "") -> str:
        """The wanted id where it can serve and is free, else `call_1`, `call_2` …"""
        self._given += 1
        unique = wanted if wanted and len(wanted) <= LONGEST_ID and not UNWANTED_IN_AN_ID.search(wanted) else ""
        number = self._given
        while not unique or unique in self._ids:
            unique, number = f"call_{number}", number + 1
        self._ids.add(unique)
        return unique

    def delta(self, id: str, name: str, text: str) -> None:
        self._put(self._mentions.text(self._end_marks.call()))
        if text and not self._mentions.quoted:
            self._events.append(CallDelta(id, name, text))

    def ready(self, call: ToolCall, raw: str) -> None:
        self._call(CallReady(call, raw))

    def rejected(self, rejection: CallRejected) -> None:
        """The text of a call that cannot be read stays in the answer, and the reason follows it."""
        self._call(rejection)

    def settle(self) -> None:
        """The text is over: what was held back is decided."""
        self._put(self._mentions.text(self._end_marks.flush()))
        self._put(self._mentions.end())

    def finish(self) -> None:
        self.settle()
        if self._blank and not self.calls:
            self._events.append(TextDelta("".join(self._blank)))
        self._blank = None

    def _call(self, call: CallReady | CallRejected) -> None:
        self._put(self._mentions.text(self._end_marks.call()))
        self._put(self._mentions.call(call))

    def _put(self, items: Sequence[Item]) -> None:
        for item in items:
            if isinstance(item, str):
                self._text(item)
            elif isinstance(item, Mention):
                self._mentioned(item.call)
            elif isinstance(item, CallReady):
                self.calls += 1
                self._events.append(item)
            else:
                self._text(item.raw)
                self._events.append(item)

    def _mentioned(self, call: CallReady | CallRejected) -> None:
        """A mention stays in the text as it was written; one that cannot be read is nothing but text."""
        self._text(call.raw)
        if isinstance(call, CallReady):
            self._events.append(CallFound(call.call, call.raw, ""))

    def _text(self, piece: str) -> None:
        if not piece:
            return
        if self._blank is not None:
            self._blank.append(piece)
            if piece.isspace():
                return
            piece, self._blank = "".join(self._blank), None
        self._events.append(TextDelta(piece))


def object_of(call: ToolCall) -> JSON:
    """A call in the shape that most formats write."""
    return {"name": call.name, "arguments": call.arguments}
