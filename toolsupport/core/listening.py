"""Hears one reply to its end: calls that are written as text become calls, whatever the pieces it came in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from toolsupport.core import nul
from toolsupport.core.events import (
    CallDelta,
    CallFound,
    CallReady,
    CallRejected,
    Event,
    Failed,
    Finished,
    TextDelta,
    ThinkingDelta,
)
from toolsupport.core.formats import FORMATS, auto, parser
from toolsupport.core.formats.end_marks import EndMarks
from toolsupport.core.formats.prose import MOST_FOUND, ProseWatcher, format_of
from toolsupport.core.words import ToolSpec


class Listener:
    """One reply in `format`: native, a text format, or "" where no tools were offered.

    Only a reply without any call can have meant one that stands in its prose: it is told as CallFound.
    """

    def __init__(self, format: str, tools: Sequence[ToolSpec]) -> None:
        in_text = format in FORMATS
        self._parser = parser(format, tools) if in_text else None
        # A server that takes the reasoning out of the text takes the drafts of calls with it.
        self._thoughts = parser(format, tools) if in_text else None
        self._drafts: list[CallReady] = []
        self._format = format
        self._mentioned: list[CallFound] = []
        self._end_marks = EndMarks()
        self._ready = self._called = False
        self._prose = ProseWatcher(tools) if tools else None

    def know_results(self, is_result: Callable[[str], bool]) -> None:
        """`is_result` tells whether a tool gave a text back before."""
        if self._parser is not None:
            self._parser.know_results(is_result)

    def hear(self, batch: Iterable[Event]) -> list[Event]:
        """The events of a batch, with what its text turned out to be. The end of the reply is heard in it."""
        heard: list[Event] = []
        for event in batch:
            if isinstance(event, Finished | Failed):
                heard += self._noted(self._end())
                heard += self._found() if isinstance(event, Finished) else []
            heard += self._noted(self._one(event))
        return [storable(event) for event in heard]

    def _noted(self, events: list[Event]) -> list[Event]:
        """The same events, once the prose among them and whether there is a call are remembered."""
        for event in events:
            if isinstance(event, TextDelta) and self._prose is not None:
                self._prose.watch(event.text)
            self._ready = self._ready or isinstance(event, CallReady)
            self._called = self._called or isinstance(event, CallReady | CallRejected)
            if isinstance(event, CallFound):
                self._mentioned.append(replace(event, format=self._written_in(event)))
        return [event for event in events if not isinstance(event, CallFound)]

    def _written_in(self, event: CallFound) -> str:
        return format_of(event.raw) if self._format == auto.FORMAT.name else self._format

    def _found(self) -> list[Event]:
        """The calls that stand in the text of a reply which made none, each of them once."""
        if self._called:
            return []
        known = [(one.call.name, one.call.arguments) for one in self._mentioned]
        others: list[CallFound] = self._prose.flush() if self._prose else []
        new = [one for one in others if (one.call.name, one.call.arguments) not in known]
        found: list[Event] = [*self._mentioned, *new]
        return found[:MOST_FOUND]

    def _one(self, event: Event) -> list[Event]:
        if self._parser is None or self._thoughts is None:
            return self._without_end_marks(event)
        if isinstance(event, TextDelta):
            return self._parser.feed(event.text)
        if isinstance(event, ThinkingDelta):
            self._draft(self._thoughts.feed(event.text))
        return [event]

    def _without_end_marks(self, event: Event) -> list[Event]:
        if isinstance(event, TextDelta):
            shown = self._end_marks.text(event.text)
            return [event if shown == event.text else replace(event, text=shown)] if shown else []
        held = self._end_marks.call() if isinstance(event, CallDelta | CallReady) else ""
        return [TextDelta(held), event] if held else [event]

    def _end(self) -> list[Event]:
        if self._parser is None or self._thoughts is None:
            held = self._end_marks.flush()
            return [TextDelta(held)] if held else []
        last = self._parser.flush()
        self._draft(self._thoughts.flush())
        called = self._ready or any(isinstance(event, CallReady) for event in last)
        # Only a reply without a call outside of its reasoning can have meant the one inside.
        return last if called else [*last, *self._drafts]

    def _draft(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, CallReady) and event.raw not in {draft.raw for draft in self._drafts}:
                self._drafts.append(event)


def storable(event: Event) -> Event:
    """The event as it can be kept and told: what one model writes must not stop the writing of all."""
    if isinstance(event, TextDelta | ThinkingDelta | CallDelta):
        kept = nul.text(event.text)
        return event if kept is event.text else replace(event, text=kept)
    if isinstance(event, CallReady | CallFound):
        # Its arguments stay as they were written: calls.check refuses what cannot be kept, and says why.
        call = replace(event.call, name=nul.text(event.call.name), arguments=nul.joined(event.call.arguments))
        return replace(event, call=call, raw=nul.text(event.raw))
    if isinstance(event, CallRejected):
        return replace(
            event, name=nul.replaced(event.name), reason=nul.replaced(event.reason), raw=nul.replaced(event.raw)
        )
    return event
