"""Reads a reply: text, reasoning, and calls behind the markers of a grammar.

A grammar is a table of openers, each with the generator that reads what follows it. A reader takes the opener's text
from the record: it either adds calls to the reply, or leaves the record as text.
Reasoning and the drafts of calls in it are read by core/reasoning.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from toolsupport.core.answer_wrapper import opening
from toolsupport.core.events import Event
from toolsupport.core.formats.announced_calls import Circumstances
from toolsupport.core.formats.mentioned_calls import FenceRule
from toolsupport.core.formats.reply_events import ReplyEvents
from toolsupport.core.reasoning import BARE_HEADS, ReasoningReader
from toolsupport.core.scanner import MarkerSet, Steps, TextSource
from toolsupport.core.tool_lookup import find_tool
from toolsupport.core.types import ToolSpec


@dataclass(slots=True)
class ReaderContext:
    """The input and state of a reader.

    `before` is the last character before the opener, "" at the beginning; `fenced`: the opener is in a code fence. A
    reader sets `begins` if a message begins after the text it read, and `in_message` if that message has an end mark.
    """

    tools: Sequence[ToolSpec]
    source: TextSource = field(default_factory=TextSource)
    reply: ReplyEvents = field(default_factory=ReplyEvents)
    before: str = ""
    fenced: bool = False
    begins: bool = False
    in_message: bool = False

    def may_call(self, name: str) -> bool:
        """Return whether a call without an explicit mark may have that name: only an offered one, if any is."""
        return bool(name) and (not self.tools or find_tool(name, self.tools) is not None)


WHOLE = (">", "]")  # the ends of marks that no name follows
Reader = Callable[[ReaderContext, str], Steps[None]]


@dataclass(frozen=True)
class Grammar:
    """The openers of a format, each with its reader; `beginning` reads the text before any of it was consumed.

    `fence` is the meaning of a code fence around a call, `silent` are marks around text, hidden unless quoted.
    """

    openers: Mapping[str, Reader]
    beginning: Reader | None = None
    fence: FenceRule = FenceRule.QUOTES
    silent: tuple[str, ...] = ()

    @cached_property
    def own_marks(self) -> MarkerSet:
        return MarkerSet((*self.openers, *self.silent))

    @cached_property
    def all_marks(self) -> MarkerSet:
        """Those of the format, and those of reasoning beside them."""
        return MarkerSet(dict.fromkeys((*ReasoningReader.marks_beside(self.openers), *self.openers, *self.silent)))

    @cached_property
    def bare_marks(self) -> MarkerSet:
        """Return all marks, and the words of harmony's for a server that leaves out special tokens."""
        return MarkerSet((*self.all_marks.markers, *BARE_HEADS))

    def parser(self, tools: Sequence[ToolSpec], *, thinking: bool | None = None) -> ReplyParser:
        return ReplyParser(self, tools, thinking=thinking)


class ReplyParser:
    """Converts the text of one reply to events."""

    def __init__(
        self, grammar: Grammar, tools: Sequence[ToolSpec], *, thinking: bool | None = None, draft: bool = False
    ) -> None:
        self._grammar = grammar
        self._reading = ReaderContext(tuple(tools), reply=ReplyEvents(grammar.fence))
        source, reply = self._reading.source, self._reading.reply
        self.reasoning = ReasoningReader(source, reply, partial(_draft_parser, grammar, self._reading))
        self._draft = draft
        self._marks = grammar.own_marks if draft else grammar.all_marks
        self._steps = self._whole_reply(thinking is True)
        next(self._steps)

    @property
    def openers(self) -> Sequence[str]:
        """Return the marks of the format itself."""
        return tuple(self._grammar.openers)

    def set_circumstances(self, circumstances: Circumstances) -> None:
        self._reading.reply.circumstances = circumstances

    def feed(self, text: str) -> list[Event]:
        if text:
            self._reading.source.push(text)
            self._steps.send(None)
        return self._reading.reply.handed_out()

    def flush(self, *, cut: bool = False, stopped: bool = False) -> list[Event]:
        """Return the events at the end of the reply. `cut`: a token limit ended it, so open marks are unintended.

        `stopped`: a stop string of the request may have ended it.
        """
        return [event for events in self.flushing(cut=cut, stopped=stopped) for event in events]

    def flushing(self, *, cut: bool = False, stopped: bool = False) -> Iterator[list[Event]]:
        """Yield the same events in steps: a mark that is never closed holds all text after it until the end."""
        if not self._reading.source.ended:
            self._reading.source.ended = True
            self._reading.reply.cut, self._reading.reply.stopped = cut or stopped, stopped and not cut
            self.reasoning.cut, self.reasoning.stopped = cut, stopped
            for _ in self._steps:
                yield self._reading.reply.handed_out()
        yield self._reading.reply.handed_out()

    def call_follows(self) -> list[Event]:
        """Record a native call at this position."""
        self._reading.reply.message_ends()
        return self._reading.reply.handed_out()

    def _whole_reply(self, thinking: bool) -> Steps[None]:
        source, reply = self._reading.source, self._reading.reply
        yield
        if thinking:
            yield from self.reasoning.assumed()
        elif not self._draft and (yield from self.reasoning.bare()):
            self._marks = self._grammar.bare_marks
        yield from self._begin()
        while source.left or not source.ended or self.reasoning.at_end():
            yield from self._answer_opens() if self.reasoning.just_ended else ()
            opener = self._next_opener()
            if opener:
                yield from self._read(opener)
                self._reading.before = ""
                self._say(source.cut())
                if self.reasoning.after_call() or self._reading.begins:
                    yield from self._begin()
            if source.ended == bool(opener):
                yield  # for more text, or between two openers at the end
        reply.settle()
        for draft in self.reasoning.drafted():
            reply.drafted(replace(draft, call=replace(draft.call, id=reply.new_id(draft.call.id))))
        reply.finish()

    def _read(self, opener: str) -> Steps[None]:
        source, read = self._reading.source, self._grammar.openers.get(opener)
        source.take(source.at + len(opener))
        if read and opener.endswith(WHOLE):
            yield from source.repeated(opener)
        yield from (read or self._at_mark)(self._reading, opener)

    def _begin(self) -> Steps[None]:
        self._reading.begins = False
        yield from self._answer_opens() if self.reasoning.just_ended else ()
        if self._grammar.beginning:
            yield from self._grammar.beginning(self._reading, "")
            self._say(self._reading.source.cut())

    def _answer_opens(self) -> Steps[None]:
        """Leave out the tag of an answer directly behind reasoning."""
        self.reasoning.just_ended = False
        reading = self._reading
        end = yield from opening(reading.source, reading.tools, reading.reply.circumstances.tags)
        if end:
            reading.reply.wrapper.opens(end)

    def _next_opener(self) -> str:
        """Emit the text before the next opener; return "" if there is none yet."""
        source = self._reading.source
        found = self._marks.search(source.buffer, source.at)
        unsure = len(source.buffer) if source.ended else self._marks.unsure_from(source.buffer, source.at)
        if found and found.start() < unsure:
            self._say(source.skip(found.start()))
            return found.group()
        self._say(source.skip(unsure))
        return ""

    def _say(self, text: str) -> None:
        if text:
            self._reading.reply.text(text)
            self._reading.before = text[-1:]

    def _at_mark(self, reading: ReaderContext, mark: str) -> Steps[None]:
        """Handle a mark of reasoning; where the answer begins (again), a call may begin as at the start."""
        if (yield from self.reasoning.at_mark(mark)):
            reading.before = ""
            yield from self._begin()


def _draft_parser(grammar: Grammar, reading: ReaderContext) -> ReplyParser:
    """Return a parser for the calls that are drafted in reasoning."""
    parser = ReplyParser(grammar, reading.tools, draft=True)
    parser.set_circumstances(reading.reply.circumstances)
    return parser
