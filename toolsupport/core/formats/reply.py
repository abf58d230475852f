"""Collects the events of one reply, in order and with unique ids.

All text is kept as it was written. Only where the whole text of a reply with calls is white space there is none.
"""

from __future__ import annotations

import re
from dataclasses import replace

from toolsupport.core.arguments import compact
from toolsupport.core.events import CallDelta, CallReady, CallRejected, Event, Reread, TextDelta, ThinkingDelta
from toolsupport.core.formats.completeness import CUT, is_complete
from toolsupport.core.reasoning import PROOFS, Surroundings
from toolsupport.core.words import JSON, ToolCall

UNWANTED_IN_AN_ID = re.compile(r"[^A-Za-z0-9_.:-]")
LONGEST_ID = 64


class Reply:
    """The events that were not handed out yet; `calls` counts the whole calls among all of them.

    `answer` is all that was read as text or calls, `said` counts it but for white space. `cut` tells that a limit ended
    the reply, `stray` that a call took in a mark which ends reasoning.
    """

    def __init__(self) -> None:
        self.calls = self.said = 0
        self.answer: list[str] = []
        self.surroundings = Surroundings()
        self.cut = self.stray = False
        self._events: list[Event] = []
        self._blank: list[str] | None = []
        self._made: list[CallReady] = []
        self._block: list[str] = []
        self._doubtful: CallReady | None = None
        self._ids: set[str] = set()
        self._given = 0

    def handed_out(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def text(self, piece: str) -> None:
        if not piece:
            return
        self.answer.append(piece)
        self.surroundings.add(piece)
        if not piece.isspace():
            self._settle(complete=False)
            self.said += 1
            self._block.clear()
        if self._blank is not None:
            self._blank.append(piece)
            if piece.isspace():
                return
            piece, self._blank = "".join(self._blank), None
        self._events.append(TextDelta(piece))

    def thinking(self, piece: str) -> None:
        if piece:
            self._events.append(ThinkingDelta(piece))

    def retract(self, told: str) -> list[CallReady]:
        """What was told of the answer is reasoning, written as `told`; the calls that stood there."""
        made, self._made = self._made, []
        if told.strip():
            self._events.append(Reread("", told))
        self.answer, self._block, self._blank, self.calls = [], [], [], 0
        return made

    def unthink(self, text: str, length: int) -> None:
        """So many characters at the end of the reasoning are this text of the answer."""
        self.text(text)
        self._events.pop()
        self._events.append(Reread("".join(self.answer), "", length))

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
        """A whole call. The last one of a cut reply waits: what only that end made whole is rejected."""
        self._settle(complete=True)
        self._block.append(raw)
        if self.cut:
            self._doubtful = CallReady(call, raw)
        else:
            self._made_one(call, raw)

    def _settle(self, *, complete: bool) -> None:
        """Tell the last call of a cut reply, now that what follows it is known."""
        doubtful, self._doubtful = self._doubtful, None
        if doubtful is None:
            return
        if complete or is_complete("".join(self._block)):
            self._made_one(doubtful.call, doubtful.raw)
        else:
            self._events.append(CallRejected(doubtful.call.name, CUT, doubtful.raw, doubtful.call.id, fault="cut"))

    def _made_one(self, call: ToolCall, raw: str) -> None:
        self.calls += 1
        self.said += 1
        self.answer.append(raw)
        self.stray = self.stray or _strays(raw, call)
        made = CallReady(call, raw)
        self._made.append(made)
        self._events.append(made)

    def rejected(self, rejection: CallRejected) -> None:
        """The text of a call that cannot be read stays in the answer, and the reason follows it."""
        self._settle(complete=True)
        if self.cut and not is_complete("".join([*self._block, rejection.raw])):
            self._events.append(replace(rejection, reason=CUT, fault="cut"))
            return
        self.text(rejection.raw)
        self.stray = self.stray or PROOFS.search(rejection.raw, 0) is not None
        self._events.append(rejection)

    def finish(self) -> None:
        self._settle(complete=False)
        if self._blank and not self.calls:
            self._events.append(TextDelta("".join(self._blank)))
        self._blank = None


def _strays(raw: str, call: ToolCall) -> bool:
    """Whether a mark that ends reasoning stands in the call, but in none of its arguments."""
    found = PROOFS.search(raw, 0)
    return found is not None and found.group() not in compact(call.arguments)


def object_of(call: ToolCall) -> JSON:
    """A call in the shape that most formats write."""
    return {"name": call.name, "arguments": call.arguments}
