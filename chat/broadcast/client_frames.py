"""Defines the websocket frames that a page sends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

# How an answer is made again.
Mode = Literal["same", "without_tools", "text"]

TEXT_LIMIT, FRAME_LIMIT = 64 * 1024, 256 * 1024


@dataclass(frozen=True, slots=True)
class MessageSend:
    """A new message. `parent` is the message before it: None for the end of the shown branch, 0 for the beginning.

    `attachments` are paths of images that were added to the conversation.
    """

    client_id: str
    text: str
    parent: int | None = None
    attachments: list[str] | None = None


@dataclass(frozen=True, slots=True)
class ModelSelect:
    client_id: str
    model: str


@dataclass(frozen=True, slots=True)
class ToolsSwitch:
    on: bool
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class TurnStop:
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class TurnContinue:
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class TurnRegenerate:
    """Requests another answer; `model` is another model for this answer only."""

    message: int
    mode: Mode = "same"
    model: str | None = None
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class BranchSelect:
    message: int
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class TurnResync:
    message: int
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class CallStop:
    call: str
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class CallRepeat:
    call: str
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    client_id: str
    question: int
    answer: str
    arguments: dict[str, Any] | None = None
    reply: str | None = None


@dataclass(frozen=True, slots=True)
class DetectionStart:
    model: str
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class DetectionSkip:
    """Skips a step of a test; without `step` the running one."""

    detection: int
    step: str | None = None
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class DetectionCancel:
    detection: int
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class Ping:
    client_id: str | None = None


ClientFrame = (
    MessageSend
    | ModelSelect
    | ToolsSwitch
    | TurnStop
    | TurnContinue
    | TurnRegenerate
    | BranchSelect
    | TurnResync
    | CallStop
    | CallRepeat
    | QuestionAnswer
    | DetectionStart
    | DetectionSkip
    | DetectionCancel
    | Ping
)

CLIENT_FRAMES: dict[str, type[ClientFrame]] = {
    "message.send": MessageSend,
    "model.select": ModelSelect,
    "tools.switch": ToolsSwitch,
    "turn.stop": TurnStop,
    "turn.continue": TurnContinue,
    "turn.regenerate": TurnRegenerate,
    "branch.select": BranchSelect,
    "turn.resync": TurnResync,
    "call.stop": CallStop,
    "call.repeat": CallRepeat,
    "question.answer": QuestionAnswer,
    "detection.start": DetectionStart,
    "detection.skip": DetectionSkip,
    "detection.cancel": DetectionCancel,
    "ping": Ping,
}
