"""Defines the websocket frames that the server sends to a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import orjson


@dataclass(frozen=True, slots=True)
class ServerFrame:
    """A frame to a page. `seq` is set for announcements; optional fields are left out if they are None."""

    type: ClassVar[str]

    def render(self) -> bytes:
        # The names from the class itself: `dataclasses.fields` takes longer than everything else here.
        known = self.__dataclass_fields__
        fields = {name: getattr(self, name) for name in known}
        kept = {name: given for name, given in fields.items() if given is not None or known[name].default is not None}
        return orjson.dumps(kept)

    def weight(self) -> int:
        """Return the approximate size of the frame in a queue, in characters of its texts."""
        values = [getattr(self, name) for name in self.__dataclass_fields__ if name != "type"]
        inner = [part for value in values if isinstance(value, dict) for part in value.values()]
        return sum(len(value) for value in (*values, *inner) if isinstance(value, str))


TEXT_DELTA = b'{"type":"text.delta","message":%d,"offset":%d,"text":%b}'


@dataclass(frozen=True, slots=True)
class HelloFrame(ServerFrame):
    type: ClassVar[str] = "hello"
    conversation: str
    model: dict[str, Any] | None
    capabilities: dict[str, Any]
    tail: int
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class NoticeFrame(ServerFrame):
    type: ClassVar[str] = "notice"
    seq: int
    code: str
    text: str
    html: str
    model: dict[str, Any] | None = None
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class MessageStartedFrame(ServerFrame):
    type: ClassVar[str] = "message.started"
    seq: int
    message: int
    parent: int | None
    role: str
    turn: int | None
    html: str


@dataclass(frozen=True, slots=True)
class MessageAcceptedFrame(ServerFrame):
    type: ClassVar[str] = "message.accepted"
    client_id: str
    message: int
    turn: int


@dataclass(frozen=True, slots=True)
class TurnStartedFrame(ServerFrame):
    type: ClassVar[str] = "turn.started"
    seq: int
    turn: int
    model: str
    format: str
    tools: list[str]


@dataclass(frozen=True, slots=True)
class TurnWaitingFrame(ServerFrame):
    type: ClassVar[str] = "turn.waiting"
    seq: int
    turn: int
    question: int


@dataclass(frozen=True, slots=True)
class QuestionAskedFrame(ServerFrame):
    type: ClassVar[str] = "question.asked"
    seq: int
    question: int
    kind: str
    text: str
    options: list[str]
    html: str
    expires_at: str | None = None


@dataclass(frozen=True, slots=True)
class QuestionClosedFrame(ServerFrame):
    type: ClassVar[str] = "question.closed"
    seq: int
    question: int
    answer: str
    by: str


@dataclass(frozen=True, slots=True)
class DetectionProgressFrame(ServerFrame):
    """A step of a test of the page's model; a step without a name is the end of the test."""

    type: ClassVar[str] = "detection.progress"
    detection: int
    step: str
    state: str
    detail: str


@dataclass(frozen=True, slots=True)
class TurnPhaseFrame(ServerFrame):
    """The reason for a silence: `phase` is loading, waiting, writing_call, or answering when it continues.

    `seconds` is the time so far.
    """

    type: ClassVar[str] = "turn.phase"
    turn: int
    phase: str
    seconds: int


@dataclass(frozen=True, slots=True)
class TextDeltaFrame(ServerFrame):
    """`offset` counts UTF-16 code units, as the page's script does."""

    type: ClassVar[str] = "text.delta"
    message: int
    offset: int
    text: str

    def render(self) -> bytes:
        # Most frames are of this kind.
        return TEXT_DELTA % (self.message, self.offset, orjson.dumps(self.text))


@dataclass(frozen=True, slots=True)
class TextBlockFrame(ServerFrame):
    """A finished block of the text, from `start` to `end` in UTF-16 code units, as HTML."""

    type: ClassVar[str] = "text.block"
    message: int
    start: int
    end: int
    html: str


@dataclass(frozen=True, slots=True)
class ThinkingDeltaFrame(ServerFrame):
    type: ClassVar[str] = "thinking.delta"
    message: int
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class CallDeltaFrame(ServerFrame):
    """A piece of a call's arguments while the model writes it; `call` is the id that the model gave it."""

    type: ClassVar[str] = "call.delta"
    message: int
    call: str
    name: str
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class CallOutputFrame(ServerFrame):
    """A piece of a running tool's output; `call` is the id of its card."""

    type: ClassVar[str] = "call.output"
    message: int
    call: str
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class CallStartedFrame(ServerFrame):
    type: ClassVar[str] = "call.started"
    seq: int
    message: int
    call: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CallRejectedFrame(ServerFrame):
    type: ClassVar[str] = "call.rejected"
    seq: int
    message: int
    name: str
    reason: str
    html: str
    suggestion: str | None = None


@dataclass(frozen=True, slots=True)
class CallFinishedFrame(ServerFrame):
    type: ClassVar[str] = "call.finished"
    seq: int
    message: int
    call: dict[str, Any]


@dataclass(frozen=True, slots=True)
class MessageFinishedFrame(ServerFrame):
    type: ClassVar[str] = "message.finished"
    seq: int
    message: int
    html: str


@dataclass(frozen=True, slots=True)
class TurnEndedFrame(ServerFrame):
    type: ClassVar[str] = "turn.ended"
    seq: int
    turn: int
    reason: str
    usage: dict[str, Any]
    detail: str


@dataclass(frozen=True, slots=True)
class ResyncFrame(ServerFrame):
    type: ClassVar[str] = "resync"
    message: int
    text: str
    thinking: str


@dataclass(frozen=True, slots=True)
class TailFrame(ServerFrame):
    """The number of the newest announcement: a page with a lower one has missed something."""

    type: ClassVar[str] = "tail"
    tail: int
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class StorageFrame(ServerFrame):
    """Whether this process can save. `text` has the reason if it cannot."""

    type: ClassVar[str] = "storage"
    saving: bool
    text: str


@dataclass(frozen=True, slots=True)
class DeletedFrame(ServerFrame):
    """The conversation was deleted."""

    type: ClassVar[str] = "conversation.deleted"
    conversation: str


@dataclass(frozen=True, slots=True)
class ErrorFrame(ServerFrame):
    type: ClassVar[str] = "error"
    code: str
    text: str
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class PongFrame(ServerFrame):
    type: ClassVar[str] = "pong"


# `dataclass(slots=True)` makes each class twice; the second, which stands last, is the one to use.
SERVER_FRAMES: dict[str, type[ServerFrame]] = {frame.type: frame for frame in ServerFrame.__subclasses__()}
