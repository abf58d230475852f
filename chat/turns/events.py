"""The events of a turn: those of its replies, and those around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chat.statuses import TurnStatus
from toolsupport.core.events import CallDelta, CallReady, CallRejected, TextDelta, ThinkingDelta
from toolsupport.core.events import Event as ReplyEvent
from toolsupport.core.types import ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """A request goes to the model: a new assistant message begins."""

    number: int


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """The assistant message is complete: its text, thinking and calls are final.

    `last`: the turn's end follows at once, so that both can be stored together.
    """

    number: int
    last: bool = False


@dataclass(frozen=True, slots=True)
class RefusalInText:
    """The model denied access to files: it is asked once more, with other tools."""


@dataclass(frozen=True, slots=True)
class CallMade:
    """A program that a model's call runs calls a tool itself; an invalid call is rejected at once."""

    program: ToolCall
    asked: CallReady | CallRejected


@dataclass(frozen=True, slots=True)
class ToolStarted:
    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """`status` is done, failed, timeout, denied or stopped; `duration_ms` is the wall time of the tool."""

    call: ToolCall
    result: ToolResult
    status: str
    duration_ms: int


@dataclass(frozen=True, slots=True)
class ApprovalNeeded:
    """A call waits for a person: the turn is parked, and resumes from rows once the question is answered.

    `found`: the model wrote it in prose. `state` is that of the program which made it, or b"".
    """

    call: ToolCall
    found: bool = False
    state: bytes = b""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """`reason` is one of TURN_ENDS; `detail` is a code of sentences.ENDINGS, or the words of a server."""

    reason: str
    detail: str = ""


TURN_ENDS = {
    TurnStatus.DONE: "the model gave its answer",
    TurnStatus.STOPPED: "a person stopped it",
    TurnStatus.INTERRUPTED: "the process that ran it ended",
    TurnStatus.FAILED: "the server or the model failed",
    "limit": "the loop reached one of its limits",
    TurnStatus.MODEL_CHANGED: "another model was chosen during the answer",
}

AroundReplies = RoundStarted | RoundEnded | RefusalInText | TurnEnded
TurnEvent = ReplyEvent | AroundReplies | CallMade | ToolStarted | ToolFinished | ApprovalNeeded


def joined(batch: Sequence[TurnEvent]) -> Sequence[TurnEvent]:
    """Return the same events with adjacent deltas joined: one frame per read, not per token."""
    if len(batch) == 1:
        return batch
    found: list[TurnEvent] = []
    for event in batch:
        last = found[-1] if found else None
        if isinstance(event, TextDelta | ThinkingDelta) and type(last) is type(event):
            found[-1] = type(event)(last.text + event.text)
        elif isinstance(event, CallDelta) and isinstance(last, CallDelta) and last.id == event.id:
            found[-1] = replace(last, text=last.text + event.text)
        else:
            found.append(event)
    return found
