"""Collects the events of one reply, in order and with unique ids.

All text is kept as it was written. Only where the whole text of a reply with calls is white space there is none.
"""

from __future__ import annotations

import re

from toolsupport.core.events import CallDelta, CallReady, CallRejected, Event, TextDelta, ThinkingDelta
from toolsupport.core.words import JSON, ToolCall

UNWANTED_IN_AN_ID = re.compile(r"[^A-Za-z0-9_.:-]")
LONGEST_ID = 64


class Reply:
    """The events that were not handed out yet; `calls` counts the whole calls among all of them."""

    def __init__(self) -> None:
        self.calls = 0
        self._events: list[Event] = []
        self._blank: list[str] | None = []
        self._ids: set[str] = set()
        self._given = 0

    def handed_out(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def text(self, piece: str) -> None:
        if not piece:
            return
        if self._blank is not None:
            self._blank.append(piece)
            if piece.isspace():
                return
            piece, self._blank = "".join(self._blank), None
        self._events.append(TextDelta(piece))

    def thinking(self, piece: str) -> None:
        if piece:
            self._events.append(ThinkingDelta(piece))

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
        if text:
            self._events.append(CallDelta(id, name, text))

    def ready(self, call: ToolCall, raw: str) -> None:
        self.calls += 1
        self._events.append(CallReady(call, raw))

    def rejected(self, rejection: CallRejected) -> None:
        """The text of a call that cannot be read stays in the answer, and the reason follows it."""
        self.text(rejection.raw)
        self._events.append(rejection)

    def finish(self) -> None:
        if self._blank and not self.calls:
            self._events.append(TextDelta("".join(self._blank)))
        self._blank = None


def object_of(call: ToolCall) -> JSON:
    """A call in the shape that most formats write."""
    return {"name": call.name, "arguments": call.arguments}
