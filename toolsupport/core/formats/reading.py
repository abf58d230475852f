"""Reads a reply: text, reasoning, and calls behind the markers of a grammar.

A grammar is a table of openers, each with the generator that reads what follows it. A reader takes the opener's text
from the record: it either tells the reply of calls, or leaves the record to be text.
Reasoning may hold drafts of calls. They count only where the reply ends without any call outside of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from toolsupport.core.events import CallReady, Event
from toolsupport.core.formats.mentions import Fence
from toolsupport.core.formats.reply import Reply
from toolsupport.core.offered import find_tool
from toolsupport.core.scanner import Markers, Source, Steps
from toolsupport.core.words import ToolSpec

THINKING: Mapping[str, str] = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "[THINK]": "[/THINK]",
    "<seed:think>": "</seed:think>",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|open|>think<|sep|>": "<|close|>think<|sep|>",
}
QUOTES = frozenset("`'\"“”‘’«»")


@dataclass(slots=True)
class Reading:
    """What a reader works on.

    `before` is the last character in front of the opener, "" at the beginning; `fenced` tells that the opener stands
    in a code fence.
    """

    tools: Sequence[ToolSpec]
    source: Source = field(default_factory=Source)
    reply: Reply = field(default_factory=Reply)
    before: str = ""
    fenced: bool = False

    def may_call(self, name: str) -> bool:
        """Whether a call without an explicit mark may bear that name: only an offered one where any is."""
        return bool(name) and (not self.tools or find_tool(name, self.tools) is not None)


Reader = Callable[[Reading, str], Steps[None]]


@dataclass(frozen=True)
class Grammar:
    """The openers of a format, each with its reader; `beginning` looks at the text before any of it was read.

    `fence` says what a code fence around a call means.
    """

    openers: Mapping[str, Reader]
    beginning: Reader | None = None
    fence: Fence = Fence.QUOTES

    def parser(self, tools: Sequence[ToolSpec], *, thinking: bool = False) -> ReplyParser:
        return ReplyParser(self, tools, thinking=thinking)


class ReplyParser:
    """Text of one reply in, events out."""

    def __init__(
        self, grammar: Grammar, tools: Sequence[ToolSpec], *, thinking: bool = False, draft: bool = False
    ) -> None:
        self._grammar = grammar
        self._reading = Reading(tuple(tools), reply=Reply(grammar.fence))
        self._drafts: dict[str, CallReady] = {}
        reasoning = {} if draft else dict.fromkeys(THINKING, self._reasoning)
        self._readers: dict[str, Reader] = {**reasoning, **grammar.openers}
        self._openers = Markers(self._readers)
        self._steps = self._whole_reply(thinking)
        next(self._steps)

    def know_results(self, is_result: Callable[[str], bool]) -> None:
        """`is_result` tells whether a tool gave a text back: where the reply quotes it, it is no call."""
        self._reading.reply.is_result = is_result

    def feed(self, text: str) -> list[Event]:
        if text:
            self._reading.source.push(text)
            self._steps.send(None)
        return self._reading.reply.handed_out()

    def flush(self) -> list[Event]:
        if not self._reading.source.ended:
            self._reading.source.ended = True
            next(self._steps, None)
        return self._reading.reply.handed_out()

    def _whole_reply(self, thinking: bool) -> Steps[None]:
        source, reply = self._reading.source, self._reading.reply
        yield
        if thinking:
            yield from self._reasoning(self._reading, "")
        else:
            yield from self._begin()
        while source.left or not source.ended:
            opener = self._next_opener()
            if opener:
                source.take(source.at + len(opener))
                yield from self._readers[opener](self._reading, opener)
                self._reading.before = ""
                self._say(source.cut())
            elif not source.ended:
                yield
        reply.settle()
        if not reply.calls:
            for draft in self._drafts.values():
                reply.ready(replace(draft.call, id=reply.new_id(draft.call.id)), draft.raw)
        reply.finish()

    def _begin(self) -> Steps[None]:
        if self._grammar.beginning:
            yield from self._grammar.beginning(self._reading, "")
            self._say(self._reading.source.cut())

    def _next_opener(self) -> str:
        """Say the text in front of the next opener; "" where none is there yet."""
        source = self._reading.source
        found = self._openers.search(source.buffer, source.at)
        unsure = len(source.buffer) if source.ended else self._openers.unsure_from(source.buffer, source.at)
        if found and found.start() < unsure:
            self._say(source.skip(found.start()))
            return found.group()
        self._say(source.skip(unsure))
        return ""

    def _say(self, text: str) -> None:
        if text:
            self._reading.reply.text(text)
            self._reading.before = text[-1:]

    def _reasoning(self, reading: Reading, opener: str) -> Steps[None]:
        """Everything up to the closing mark, of any kind where the prompt opened it; without one, everything."""
        if reading.before in QUOTES:
            return
        source, reply = reading.source, reading.reply
        source.cut()
        closer = Markers([THINKING[opener]] if opener else THINKING.values())
        draft = ReplyParser(self._grammar, reading.tools, draft=True)
        while source.left or not source.ended:
            found = closer.search(source.buffer, source.at)
            unsure = len(source.buffer) if source.ended else closer.unsure_from(source.buffer, source.at)
            piece = source.skip(found.start() if found else unsure)
            reply.thinking(piece)
            self._keep(draft.feed(piece))
            if found:
                source.skip(found.end())
                break
            if not source.ended:
                yield
        self._keep(draft.flush())
        reading.before = ""
        yield from self._begin()

    def _keep(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, CallReady):
                self._drafts.setdefault(event.raw, event)
