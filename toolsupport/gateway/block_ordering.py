"""Orders the events of a reply into blocks, one after the other: reasoning, text, calls.

Responses and Messages both require this: a block begins, grows and ends before the next one begins.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from enum import Enum

from toolsupport import signature_memory
from toolsupport.core.events import (
    CallDelta,
    CallReady,
    Event,
    Failed,
    Finished,
    TextDelta,
    TextReclassified,
    ThinkingDelta,
)
from toolsupport.core.reply_builder import ReplyBuilder
from toolsupport.gateway import custom_tools
from toolsupport.gateway.chat_response import NOT_AS_STREAMED, new_id, same_arguments
from toolsupport.gateway.custom_tools import InputReader


class Kind(Enum):
    """The content of a block."""

    REASONING = "reasoning"
    TEXT = "text"
    CALL = "call"
    CUSTOM = "custom"

    @property
    def calls(self) -> bool:
        return self in (Kind.CALL, Kind.CUSTOM)


class Step(Enum):
    """The change of a block."""

    BEGINS = "begins"
    GROWS = "grows"
    ENDS = "ends"


@dataclass(slots=True)
class Block:
    """One block: its number in the reply, its id, and the text or arguments so far; `name` of the called tool.

    `whole`: it ended on its own; a limit of tokens may cut the last call. `reader` is that of a custom call.
    """

    number: int
    kind: Kind
    id: str
    name: str = ""
    text: str = ""
    whole: bool = False
    reader: InputReader = field(default_factory=InputReader)


Change = tuple[Step, Block, str]


@dataclass(slots=True)
class BlockStream:
    """The blocks of one reply. `failed` is the reason why the stream failed, `finished` its last event.

    `custom`: the names of the tools whose calls are custom ones.
    """

    custom: Collection[str] = ()
    blocks: list[Block] = field(default_factory=list)
    finished: Finished | None = None
    failed: Failed | None = None
    _open: Block | None = None
    _call: str = ""
    _content: str = ""
    _waiting: list[Event] = field(default_factory=list)

    @property
    def called(self) -> bool:
        return any(block.kind.calls for block in self.blocks)

    def take(self, events: Iterable[Event]) -> list[Change]:
        """Return the changes that these events make; none after a failure."""
        changes: list[Change] = []
        queue = deque(events)
        while queue and self.failed is None:
            event = queue.popleft()
            if isinstance(event, Finished) and self._waiting:
                changes += self._close()  # a limit cut the open call
                queue.appendleft(event)
            else:
                changes += self._one(event)
            if self._waiting and not self._call:
                queue.extendleft(reversed(self._waiting))
                self._waiting = []
        return changes

    def take_whole(self, events: Iterable[Event]) -> None:
        """Take all events of a reply that is sent as one object: its text is what it was classified as last."""
        listed = list(events)
        behind = next((at for at in range(len(listed), 0, -1) if isinstance(listed[at - 1], TextReclassified)), 0)
        before = ReplyBuilder()
        for event in listed[:behind]:
            before.take(event)
        self.take([ThinkingDelta(before.thinking), TextDelta(before.text), *listed[behind:]])

    def _one(self, event: Event) -> list[Change]:
        if isinstance(event, Failed):
            self.failed = event
            return []
        if isinstance(event, Finished):
            return self._end(event)
        if self._call and not (isinstance(event, CallDelta | CallReady) and self._id_of(event) == self._call):
            # Servers may write two calls at once: pieces of other calls wait for the end of the open one.
            self._waiting.append(event)
            return []
        if isinstance(event, CallDelta):
            return self._piece(event)
        if isinstance(event, CallReady):
            return self._ready(event)
        return self._words(event)

    @staticmethod
    def _id_of(event: CallDelta | CallReady) -> str:
        return event.call.id if isinstance(event, CallReady) else event.id

    def _words(self, event: Event) -> list[Change]:
        if isinstance(event, ThinkingDelta):
            return self._grow(Kind.REASONING, event.text)
        if isinstance(event, TextDelta):
            self._content += event.text
            return self._grow(Kind.TEXT, event.text)
        if isinstance(event, TextReclassified):
            # Sent data cannot be undone; text that was sent only as reasoning is sent as the answer, too.
            known = self._content if event.text.startswith(self._content) else ""
            self._content = event.text
            return self._grow(Kind.TEXT, event.text.removeprefix(known))
        return []

    def _grow(self, kind: Kind, text: str) -> list[Change]:
        if not text:
            return []
        changes: list[Change] = []
        if self._open is None or self._open.kind is not kind:
            changes = [*self._close(), self._begin(kind)]
        return [*changes, self._add(text)]

    def _begin(self, kind: Kind, name: str = "") -> Change:
        self._open = Block(len(self.blocks), kind, new_id(""), name)
        self.blocks.append(self._open)
        return Step.BEGINS, self._open, ""

    def _add(self, text: str) -> Change:
        assert self._open
        self._open.text += text
        return Step.GROWS, self._open, text

    def _close(self) -> list[Change]:
        block, self._open, self._call = self._open, None, ""
        return [(Step.ENDS, block, block.text)] if block else []

    def _begin_call(self, name: str) -> list[Change]:
        kind = Kind.CUSTOM if name in self.custom else Kind.CALL
        return [] if self._call else [*self._close(), self._begin(kind, name)]

    def _piece(self, event: CallDelta) -> list[Change]:
        begins = self._begin_call(event.name)
        assert self._open
        self._call = event.id
        text = self._open.reader.read(event.text) if self._open.kind is Kind.CUSTOM else event.text
        return [*begins, self._add(text)] if text else begins

    def _ready(self, event: CallReady) -> list[Change]:
        whole = custom_tools.written(event.call, self.custom)
        begins = self._begin_call(event.call.name)
        assert self._open
        sent = self._open.text
        if not whole.startswith(sent) and not same_arguments(sent, event.call.arguments):
            self.failed = Failed("garbled", NOT_AS_STREAMED)
            return []
        self._open.whole = True
        signature_memory.keep(self._open.id, event.call)
        rest = whole[len(sent) :] if whole.startswith(sent) else ""
        return [*begins, *([self._add(rest)] if rest else []), *self._close()]

    def _end(self, event: Finished) -> list[Change]:
        self.finished = event
        return self._close()
