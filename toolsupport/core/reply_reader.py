"""Reads one reply to its end: calls written as text become calls, however the reply was cut into pieces.

In: the codec's events of one reply, in batches, and last Finished or Failed. Out: the events that the rest of the
product goes by: text without reasoning and marks, reasoning, pieces of calls, whole calls, then the usage and the end.
Caller: `exchange`, which makes one reader for each request to a model.
- The same events come out, however the text was cut.
- Whole calls come at the end: a lone `</think>` may show that all before it was reasoning, and its calls drafts.
- A call in prose is a CallFound, and only in a reply without any other call: it is never run unasked. So is one at
  the end of the reasoning, with nothing behind it, if the server reads the calls itself.
- What comes out can be stored (no NUL, no half of a character), but for arguments, which `calls.check` judges.
It never checks arguments against a schema, never runs anything, and raises nothing because of what a model wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from toolsupport.core import sanitize
from toolsupport.core.events import (
    PIECES,
    STOPPED,
    CallDelta,
    CallFound,
    CallReady,
    CallRejected,
    Event,
    Failed,
    Finished,
    ReasoningSeen,
    TextDelta,
    TextReclassified,
    ThinkingDelta,
    Usage,
    ended_early,
)
from toolsupport.core.formats import FORMATS, auto, parser
from toolsupport.core.formats.announced_calls import Circumstances
from toolsupport.core.formats.calls_in_prose import MOST_FOUND, ProseWatcher, ThoughtWatcher, format_of
from toolsupport.core.formats.cut_replies import CUT, may_cut
from toolsupport.core.types import ToolSpec

STEP = 1000  # characters that are searched for calls at once: some marks take 10 µs each


class ReplyReader:
    """Reads one reply in `format`: native, a text format, or "" if no tools were offered.

    Reasoning is removed from the text in all of them; `begins_inside` is how the model's replies begin, if known. Calls
    are emitted at the end of the reply, since the text after a call may show that it was a draft in reasoning. A call
    found in prose counts only in a reply without any other call: it is emitted as CallFound. `stops` are the strings at
    which the server ends the reply: it reports such an end as one that the model chose.
    """

    def __init__(
        self,
        format: str,
        tools: Sequence[ToolSpec],
        begins_inside: bool | None = None,
        stops: Iterable[str] = (),
    ) -> None:
        self._parser = parser(format if format in FORMATS else "", tools, thinking=begins_inside)
        self._reasoning = self._parser.reasoning
        self._format = format
        self._tools = tools
        self._begins_inside = begins_inside
        self._stops = may_cut(stops)
        self._thoughts = ThoughtWatcher(tools) if tools and format not in FORMATS else None
        self._usage: list[Event] = []
        self._worded = False
        self._begun: set[str] = set()
        self._drafts: set[str] = set()
        self._forget()

    def _forget(self) -> None:
        """Reset calls and mentions."""
        self._native: list[Event] = []
        self._written: list[CallReady | CallRejected] = []
        self._parsed: set[str] = set()
        self._mentioned: list[CallFound] = []
        self._prose = ProseWatcher(self._tools) if self._tools else None
        self._unwatched: list[str] = []
        self._unwatched_size = 0

    def set_circumstances(self, circumstances: Circumstances) -> None:
        self._parser.set_circumstances(circumstances)

    def short_text(self, text: str) -> list[Event]:
        """Return the events of a text of less than STEP characters, as `feed` does."""
        self._worded = self._worded or not text.isspace()
        events = self._parser.feed(text)
        if len(events) == 1 and type(events[0]) is TextDelta:
            for _ in self._watched() if self._watch(events[0].text) else ():
                pass
            if self._thoughts is not None:
                self._thoughts.take(events[0])
            kept = sanitize.text(events[0].text)
            return events if kept is events[0].text else [TextDelta(kept)]
        return [storable(event) for event in self._pass_on(events) if event is not None]

    def feed(self, batch: Iterable[Event]) -> list[Event]:
        """Return the events of a batch with the text classified. The end of the reply must be in the last batch."""
        return [event for event in self.read(batch) if event is not None]

    def read(self, batch: Iterable[Event]) -> Iterator[Event | None]:
        """Yield the same events one by one, with None between two steps: calls of a megabyte take time."""
        for event in batch:
            for one in self._ended(event) if isinstance(event, Finished | Failed) else self._one(event):
                yield one and storable(one)
            yield None

    def _one(self, event: Event) -> Iterable[Event | None]:
        if isinstance(event, TextDelta):
            self._worded = self._worded or bool(event.text.strip())
            return self._pass_on(self._parser.feed(event.text))
        if isinstance(event, ThinkingDelta):
            self._reasoning.separated(event.text)
            self._think(event)
        elif isinstance(event, CallDelta):
            return self._piece(event)
        elif isinstance(event, Usage):
            # It may come before calls that are held back to the end; it is given after them.
            self._usage.append(event)
            return []
        elif isinstance(event, CallReady | CallRejected) and self._id(event) in self._drafts:
            self._reasoning.keep([event])
            return []
        elif isinstance(event, CallReady | CallRejected):
            self._native += [] if self._reasoning.native_call(event) else [event]
            return self._pass_on(self._parser.call_follows())
        return [event]

    def _piece(self, event: CallDelta) -> list[Event]:
        """Return the event for a piece of a native call, which belongs where its first piece stands.

        Some protocols end every call at the end of the reply only, after the mark that closes the reasoning.
        """
        begun = self._drafts if self._reasoning.open else self._begun
        if event.id not in self._drafts:
            begun.add(event.id)
        return [] if event.id in self._drafts else [replace(event, outside=self._outside)]

    @staticmethod
    def _id(event: CallReady | CallRejected) -> str:
        return event.call.id if isinstance(event, CallReady) else event.id

    @property
    def _outside(self) -> bool:
        """Return whether a call that begins here is in the answer, as far as known.

        A reply that begins inside reasoning has words before its first call; only the mark after it shows whether they
        were reasoning.
        """
        if self._begins_inside is False or self._reasoning.over:
            return True
        return self._begins_inside is None and not self._worded

    def _pass_on(self, events: Iterable[Event]) -> Iterator[Event | None]:
        """Yield the events of the text without its calls, which wait for the end of the reply."""
        for event in events:
            self._think(event)
            if isinstance(event, TextReclassified):
                self._reasoning.keep(self._native)
                self._drafts |= self._begun
                self._forget()
            if isinstance(event, TextDelta | TextReclassified) and self._watch(event.text):
                yield from self._watched()
            if isinstance(event, CallFound):
                self._mentioned.append(replace(event, format=self._written_in(event)))
                self._parsed.add(event.call.id)
            elif isinstance(event, CallReady):
                self._written.append(event)
                self._parsed.add(event.call.id)
            elif isinstance(event, CallRejected):
                self._withdraw(event.id)
                self._written.append(event)
                self._parsed.add(event.id)
            else:
                yield event

    def _think(self, event: Event) -> None:
        if self._thoughts is not None:
            self._thoughts.take(event)

    def _watch(self, text: str) -> bool:
        """Keep a text in which calls may stand as prose; return whether there is enough to be searched for them.

        They are needed at the end only, and many short texts take much longer than one long one.
        """
        if self._prose is None:
            return False
        self._unwatched.append(text)
        self._unwatched_size += len(text)
        return self._unwatched_size > STEP

    def _watched(self) -> Iterator[None]:
        """Search the kept text in steps."""
        text, prose = "".join(self._unwatched), self._prose
        self._unwatched, self._unwatched_size = [], 0
        for at in range(0, len(text), STEP):
            if prose is not None:
                prose.watch(text[at : at + STEP])
            yield None

    def _withdraw(self, id: str) -> None:
        """Withdraw a call whose end turned out to be unclear."""
        if id and id in self._parsed:
            self._written = [one for one in self._written if self._id(one) != id]
            self._mentioned = [one for one in self._mentioned if one.call.id != id]

    def _written_in(self, event: CallFound) -> str:
        return format_of(event.raw) if self._format == auto.FORMAT.name else self._format

    def _ended(self, event: Finished | Failed) -> Iterator[Event | None]:
        cut = isinstance(event, Finished) and ended_early(event.reason)
        stopped = self._stops and isinstance(event, Finished) and event.reason in STOPPED
        for events in self._parser.flushing(cut=cut, stopped=stopped):
            yield from self._pass_on(events)
            yield None
        yield from self._watched()
        if stopped and self._native:
            self._native.append(_whole(self._native.pop()))
        calls: list[Event] = [*self._native, *self._written]
        found = [] if calls or isinstance(event, Failed) else self._found(cut=cut or stopped)
        if self._thoughts and not (calls or found or cut or stopped or isinstance(event, Failed)):
            yield from self._thoughts.searching(STEP)
            found = [*self._thoughts.found]
        yield from (*calls, *self._usage, *found, *self._seen(event), event)

    def _found(self, *, cut: bool) -> list[Event]:
        """Return the calls found in the text of a reply without other calls, each of them once."""
        known = [(one.call.name, one.call.arguments) for one in self._mentioned]
        others: list[CallFound] = self._prose.flush(cut=cut) if self._prose else []
        new = [one for one in others if (one.call.name, one.call.arguments) not in known]
        found: list[Event] = [*self._mentioned, *new]
        return found[:MOST_FOUND]

    def _seen(self, event: Finished | Failed) -> list[Event]:
        """Return how replies of the model begin, if that differs from what was assumed."""
        inside, known = self._reasoning.began_inside, self._begins_inside
        if inside is None and known is None and self._plain(event):
            inside = False
        # That nothing was reasoning is of use for calls alone: they need not be held then.
        news = inside is not None and inside is not (known if self._tools else bool(known))
        return [ReasoningSeen(inside is True)] if news and isinstance(event, Finished) else []

    def _plain(self, event: Finished | Failed) -> bool:
        """Return whether the answer is complete text; one that ends in a call may end inside reasoning."""
        calls = self._native or self._written or self._mentioned
        return isinstance(event, Finished) and event.reason == "stop" and self._worded and not calls


def _whole(last: Event) -> Event:
    """Return the last native call of a reply that a stop string may have cut, rejected if it has no arguments yet."""
    if isinstance(last, CallReady) and not last.raw:
        return CallRejected(last.call.name, CUT, last.raw, last.call.id, fault="cut")
    return last


def storable(event: Event) -> Event:
    """Return the event in a storable form: invalid characters of one model must not block all writes."""
    if isinstance(event, PIECES):
        kept = sanitize.text(event.text)
        return event if kept is event.text else replace(event, text=kept)
    if isinstance(event, TextReclassified):
        return replace(event, text=sanitize.text(event.text), thinking=sanitize.text(event.thinking))
    if isinstance(event, CallReady | CallFound):
        # Its arguments stay as they were written: calls.check rejects unstorable ones with the reason.
        call = replace(event.call, name=sanitize.text(event.call.name), arguments=sanitize.joined(event.call.arguments))
        return replace(event, call=call, raw=sanitize.text(event.raw))
    if isinstance(event, CallRejected):
        return replace(
            event,
            name=sanitize.replaced(event.name),
            reason=sanitize.replaced(event.reason),
            raw=sanitize.replaced(event.raw),
        )
    return event
