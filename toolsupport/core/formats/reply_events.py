"""Collects the events of one reply, in order and with unique ids.

All text is kept as it was written. Only where the whole text of a reply with calls is white space there is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from toolsupport.core.answer_wrapper import AnswerWrapper
from toolsupport.core.call_building import compact
from toolsupport.core.events import (
    CallDelta,
    CallFound,
    CallReady,
    CallRejected,
    Event,
    TextDelta,
    TextReclassified,
    ThinkingDelta,
)
from toolsupport.core.formats.announced_calls import Circumstances
from toolsupport.core.formats.cut_replies import CUT, closed_by_model, is_closed, is_complete
from toolsupport.core.formats.end_marks import EndMarkFilter
from toolsupport.core.formats.mentioned_calls import FenceRule, Item, Mention, MentionFilter
from toolsupport.core.formats.premature_ends import AMBIGUOUS, NO_ENDS, LoneEnds
from toolsupport.core.quote_tracker import QuoteTracker
from toolsupport.core.reasoning import PROOFS
from toolsupport.core.scanner import MarkerSet
from toolsupport.core.types import JSON, ToolCall

UNWANTED_IN_AN_ID = re.compile(r"[^A-Za-z0-9_.:-]")
LONGEST_ID = 64


class ReplyEvents:
    """The events not emitted yet; `calls` counts the complete calls among all of them.

    `answer` is all text and calls read so far, `visible` counts it without white space and end marks, `quotes` returns
    whether a mark at its end is quoted. `cut`: a limit or a stop string (`stopped`) ended the reply. `stray`: a call
    contains a mark which ends reasoning.
    """

    def __init__(self, fence: FenceRule = FenceRule.QUOTES) -> None:
        self.calls = self.visible = 0
        self.answer: list[str] = []
        self.quotes = QuoteTracker()
        self.cut = self.stopped = self.stray = False
        self._made: list[CallReady] = []
        self._block: list[str] = []
        self._behind: list[str] = []
        self._last: CallReady | None = None
        self._fence = fence
        self._events: list[Event] = []
        self._blank: list[str] | None = []
        self._ids: set[str] = set()
        self._quoted: set[str] = set()
        self._given = 0
        self._end_marks = EndMarkFilter()
        self.wrapper = AnswerWrapper()
        self._mentions = MentionFilter(fence)
        self._lone_ends = LoneEnds()

    @property
    def circumstances(self) -> Circumstances:
        return self._mentions.circumstances

    @circumstances.setter
    def circumstances(self, found: Circumstances) -> None:
        self._mentions.circumstances = found

    def handed_out(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def text(self, piece: str) -> None:
        if self._last is not None and not piece.strip():
            self._behind.append(piece)  # the call that waits stands before it
            return
        if piece.strip():
            if self._last is not None:
                self._decide_last()
            self._block.clear()
        self.answer.append(piece)
        self._lone_ends.text(piece)
        self.quotes.add(piece)
        self._say(self._end_marks.text(piece))

    def thinking(self, piece: str) -> None:
        if piece:
            self.message_ends()
            self._events.append(ThinkingDelta(piece))

    def _say(self, piece: str) -> None:
        """Add text without the marks that end a turn."""
        self._say_certain(self.wrapper.text(piece) if self.wrapper.end else piece)

    def _say_certain(self, piece: str) -> None:
        if not piece.isspace() and piece:
            self.visible += 1
        self._put(self._mentions.text(piece))

    def message_ends(self) -> None:
        """Record a hidden mark: the following text does not continue the sentence before it."""
        self._say(self._end_marks.call())
        self._say_certain(self.wrapper.before_call())
        self._put(self._mentions.message_ends())

    def retract(self, thought: str) -> list[CallReady]:
        """Reclassify the answer so far as reasoning, written as `thought`; return the calls in it."""
        shown = len(self._events)
        self.settle()
        del self._events[shown:]
        made, self._made = self._made, []
        if thought.strip():
            self._events.append(TextReclassified("", thought))
        self.answer, self._block, self._blank, self.calls = [], [], [], 0
        self._lone_ends = LoneEnds()
        self._end_marks, self._mentions = EndMarkFilter(), MentionFilter(self._fence, self.circumstances)
        self.wrapper = AnswerWrapper()
        return made

    def unthink(self, text: str, length: int) -> None:
        """Move this many characters at the end of the reasoning to the answer, as this text."""
        self.answer.append(text)
        self._blank = None
        self._events.append(TextReclassified("".join(self.answer), "", length))

    def drafted(self, call: CallReady) -> None:
        self._put([call])

    def new_id(self, wanted: str = "") -> str:
        """Return the requested id if it is valid and free, else `call_1`, `call_2` …"""
        self._given += 1
        unique = wanted if wanted and len(wanted) <= LONGEST_ID and not UNWANTED_IN_AN_ID.search(wanted) else ""
        number = self._given
        while not unique or unique in self._ids:
            unique, number = f"call_{number}", number + 1
        self._ids.add(unique)
        return unique

    def delta(self, id: str, name: str, text: str) -> None:
        self._before_call()
        if text and not self._mentions.quoted:
            self._events.append(CallDelta(id, name, text))

    def ready(self, call: ToolCall, raw: str, value_ends: MarkerSet = NO_ENDS) -> None:
        """Add a complete call; `value_ends` are marks that show, after it, that it ended too early.

        The last one of a cut reply waits: if only the cut completed it, it is rejected.
        """
        self._decide_last(followed=True)
        self._block.append(raw)
        self._last = CallReady(call, raw)
        self._lone_ends.call(self._last, value_ends)
        if not self.cut:
            self._decide_last(followed=True)

    def rejected(self, rejection: CallRejected) -> None:
        """Keep the text of an unreadable call in the answer, followed by the reason."""
        self._decide_last(followed=True)
        if self.cut and not self._is_complete(rejection.raw):
            rejection = replace(rejection, reason=CUT, fault="cut")
        self._read(rejection, PROOFS.search(rejection.raw, 0) is not None)

    def _decide_last(self, *, followed: bool = False) -> None:
        """Emit the waiting call, once the text after it is known."""
        last, self._last = self._last, None
        if last is None:
            return
        if followed or (closed_by_model(last.call) and self._is_complete()):
            self._read(last, _strays(last))
        else:
            self._read(CallRejected(last.call.name, CUT, last.raw, last.call.id, fault="cut"), stray=False)
        behind, self._behind = self._behind, []
        self.text("".join(behind))

    def _is_complete(self, last: str = "") -> bool:
        written = "".join([*self._block, last])
        return is_complete(written) or (self.stopped and is_closed(written))

    def _read(self, call: CallReady | CallRejected, stray: bool) -> None:
        self.visible += 1
        self.answer.append(call.raw)
        self.quotes.add_call(call.raw)
        self.stray = self.stray or stray
        self._before_call()
        self._put(self._mentions.call(call))

    def _before_call(self) -> None:
        certain = self.wrapper.text(self._end_marks.call())
        self._put(self._mentions.text(certain + self.wrapper.before_call()))

    def settle(self) -> None:
        """End the text and decide everything that was held back."""
        self._decide_last()
        self._say(self._end_marks.flush())
        self._say_certain(self.wrapper.ends(cut=self.cut, quoted=bool(self.quotes.fence)))
        self._put(self._mentions.end())

    def finish(self) -> None:
        self.settle()
        for made in self._lone_ends.found():
            if made.call.id not in self._quoted:
                self._events.append(CallRejected(made.call.name, AMBIGUOUS, made.raw, made.call.id))
        if self._blank and not self.calls:
            self._events.append(TextDelta("".join(self._blank)))
        self._blank = None

    def _put(self, items: Sequence[Item]) -> None:
        for item in items:
            if isinstance(item, str):
                self._text(item)
            elif isinstance(item, Mention):
                self._mentioned(item)
            elif isinstance(item, CallReady):
                self.calls += 1
                self._made.append(item)
                self._events.append(item)
            else:
                self._text(item.raw if item.fault != "cut" else "")
                self._events.append(item)

    def _mentioned(self, mention: Mention) -> None:
        """Keep a mention in the text as it was written; an unreadable one is only text."""
        call = mention.call
        self._text(call.raw)
        if mention.quoted and isinstance(call, CallReady):
            self._quoted.add(call.call.id)
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


def _strays(made: CallReady) -> bool:
    """Return whether a mark that ends reasoning is in the call, but in none of its arguments."""
    found = PROOFS.search(made.raw, 0)
    return found is not None and found.group() not in compact(made.call.arguments)


def object_of(call: ToolCall) -> JSON:
    """Return a call in the JSON form that most formats write."""
    return {"name": call.name, "arguments": call.arguments}
