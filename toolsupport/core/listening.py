"""Hears one reply to its end: calls that are written as text become calls, whatever the pieces it came in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolsupport.core.events import CallReady, Event, Failed, Finished, TextDelta, ThinkingDelta
from toolsupport.core.formats import FORMATS, parser
from toolsupport.core.words import ToolSpec


class Listener:
    """One reply in `format`: native, a text format, or "" where no tools were offered."""

    def __init__(self, format: str, tools: Sequence[ToolSpec]) -> None:
        in_text = format in FORMATS
        self._parser = parser(format, tools) if in_text else None
        # A server that takes the reasoning out of the text takes the drafts of calls with it.
        self._thoughts = parser(format, tools) if in_text else None
        self._drafts: list[CallReady] = []
        self._called = False

    def hear(self, batch: Iterable[Event]) -> list[Event]:
        """The events of a batch, with what its text turned out to be. The end of the reply is heard in it."""
        heard: list[Event] = []
        for event in batch:
            if isinstance(event, Finished | Failed):
                heard += self._end()
            heard += self._one(event)
        self._called = self._called or any(isinstance(event, CallReady) for event in heard)
        return heard

    def _one(self, event: Event) -> list[Event]:
        if self._parser is None or self._thoughts is None:
            return [event]
        if isinstance(event, TextDelta):
            return self._parser.feed(event.text)
        if isinstance(event, ThinkingDelta):
            self._draft(self._thoughts.feed(event.text))
        return [event]

    def _end(self) -> list[Event]:
        if self._parser is None or self._thoughts is None:
            return []
        last = self._parser.flush()
        self._draft(self._thoughts.flush())
        called = self._called or any(isinstance(event, CallReady) for event in last)
        # Only a reply without a call outside of its reasoning can have meant the one inside.
        return last if called else [*last, *self._drafts]

    def _draft(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, CallReady) and event.raw not in {draft.raw for draft in self._drafts}:
                self._drafts.append(event)
