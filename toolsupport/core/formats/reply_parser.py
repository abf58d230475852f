"""Reads a reply: text, reasoning, and calls behind the markers of a grammar.

A grammar is a table of openers, each with the generator that reads what follows it. A reader takes the opener's text
from the record: it either adds calls to the reply, or leaves the record as text.
Reasoning and the drafts of calls in it are read by core/reasoning.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from toolsupport.core.events import Event
from toolsupport.core.formats.mentions import FenceRule
from toolsupport.core.formats.reply import ReplyEvents
from toolsupport.core.reasoning import ReasoningReader
from toolsupport.core.scanner import MarkerSet, Steps, TextSource
from toolsupport.core.tool_lookup import find_tool
from toolsupport.core.types import ToolSpec


@dataclass(slots=True)
class ReaderContext:
    """What a reader works on.

    `before` is the last character in front of the opener, "" at the beginning; `fenced` tells that the opener stands
    in a code fence. A reader sets `begins` where a message begins behind what it read, and `in_message` where
    that message has an end mark.
    """

    tools: Sequence[ToolSpec]
    source: TextSource = field(default_factory=TextSource)
    reply: ReplyEvents = field(default_factory=ReplyEvents)
    before: str = ""
    fenced: bool = False
    begins: bool = False
    in_message: bool = False

    def may_call(self, name: str) -> bool:
        """Whether a call without an explicit mark may bear that name: only an offered one where any is."""
        return bool(name) and (not self.tools or find_tool(name, self.tools) is not None)


Reader = Callable[[ReaderContext, str], Steps[None]]


@dataclass(frozen=True)
class Grammar:
    """The openers of a format, each with its reader; `beginning` looks at the text before any of it was read.

    `fence` says what a code fence around a call means.
    """

    openers: Mapping[str, Reader]
    beginning: Reader | None = None
    fence: FenceRule = FenceRule.QUOTES

    def parser(self, tools: Sequence[ToolSpec], *, thinking: bool | None = None) -> ReplyParser:
        return ReplyParser(self, tools, thinking=thinking)


class ReplyParser:
    """Text of one reply in, events out."""

    def __init__(
        self, grammar: Grammar, tools: Sequence[ToolSpec], *, thinking: bool | None = None, draft: bool = False
    ) -> None:
        self._grammar = grammar
        self._reading = ReaderContext(tuple(tools), reply=ReplyEvents(grammar.fence))
        source, reply = self._reading.source, self._reading.reply
        self.reasoning = ReasoningReader(source, reply, self._draft_parser)
        marks = () if draft else ReasoningReader.marks_beside(grammar.openers)
        self._readers: dict[str, Reader] = {**dict.fromkeys(marks, self._at_mark), **grammar.openers}
        self._openers = MarkerSet(self._readers)
        self._steps = self._whole_reply(thinking is True)
        next(self._steps)

    @property
    def openers(self) -> Sequence[str]:
        """The marks of the format itself."""
        return tuple(self._grammar.openers)

    def know_results(self, is_result: Callable[[str], bool]) -> None:
        """`is_result` tells whether a tool gave a text back: where the reply quotes it, it is no call."""
        self._reading.reply.is_result = is_result

    def _draft_parser(self) -> ReplyParser:
        """A parser for the calls that are drafted in reasoning."""
        parser = ReplyParser(self._grammar, self._reading.tools, draft=True)
        parser.know_results(self._reading.reply.is_result)
        return parser

    def feed(self, text: str) -> list[Event]:
        if text:
            self._reading.source.push(text)
            self._steps.send(None)
        return self._reading.reply.handed_out()

    def flush(self, *, cut: bool = False) -> list[Event]:
        """What the end of the reply shows. `cut`: a limit of tokens ended it, so nothing that is open was meant so."""
        if not self._reading.source.ended:
            self._reading.source.ended = True
            self._reading.reply.cut = self.reasoning.cut = cut
            next(self._steps, None)
        return self._reading.reply.handed_out()

    def call_follows(self) -> list[Event]:
        """A call that did not come in the text stands here."""
        self._reading.reply.message_ends()
        return self._reading.reply.handed_out()

    def _whole_reply(self, thinking: bool) -> Steps[None]:
        source, reply = self._reading.source, self._reading.reply
        yield
        if thinking:
            yield from self.reasoning.assumed()
        yield from self._begin()
        while source.left or not source.ended or self.reasoning.at_end():
            opener = self._next_opener()
            if opener:
                source.take(source.at + len(opener))
                yield from self._readers[opener](self._reading, opener)
                self._reading.before = ""
                self._say(source.cut())
                if self.reasoning.after_call() or self._reading.begins:
                    yield from self._begin()
            elif not source.ended:
                yield
        reply.settle()
        for draft in self.reasoning.drafted():
            reply.drafted(replace(draft, call=replace(draft.call, id=reply.new_id(draft.call.id))))
        reply.finish()

    def _begin(self) -> Steps[None]:
        self._reading.begins = False
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

    def _at_mark(self, reading: ReaderContext, mark: str) -> Steps[None]:
        """A mark of reasoning; where the answer begins (again), a call may stand as at the beginning of the reply."""
        if (yield from self.reasoning.at_mark(mark)):
            reading.before = ""
            yield from self._begin()
