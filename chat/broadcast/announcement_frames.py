"""Converts announcements to frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from chat.broadcast import fragments, frames
from chat.transcript.announcements import (
    AddedNotice,
    Announcement,
    AskedQuestion,
    EndedQuestion,
    EndedTurn,
    FinishedCall,
    FinishedMessage,
    RejectedCall,
    StartedCall,
    StartedMessage,
    StartedTurn,
    Thing,
    WaitingTurn,
)
from chat.transcript.messages.view_models import ShownCall


def frame_of(announced: Announcement[Thing]) -> frames.ServerFrame:
    """Return the frame with an announcement's number and content."""
    return FRAMES[type(announced.thing)](announced.seq, announced.thing)


def _started_message(seq: int, thing: StartedMessage) -> frames.MessageStartedFrame:
    shown = thing.message
    return frames.MessageStartedFrame(
        seq, shown.id, shown.parent, str(shown.role), shown.turn, fragments.message(shown)
    )


def _finished_message(seq: int, thing: FinishedMessage) -> frames.MessageFinishedFrame:
    return frames.MessageFinishedFrame(seq, thing.message.id, fragments.message(thing.message))


def _added_notice(seq: int, thing: AddedNotice) -> frames.NoticeFrame:
    shown, model = thing.message, asdict(thing.model) if thing.model else None
    return frames.NoticeFrame(seq, shown.code, shown.text, fragments.message(shown), model, thing.client_id)


def _started_call(seq: int, thing: StartedCall) -> frames.CallStartedFrame:
    return frames.CallStartedFrame(seq, thing.message, _with_html(thing.call))


def _finished_call(seq: int, thing: FinishedCall) -> frames.CallFinishedFrame:
    return frames.CallFinishedFrame(seq, thing.message, _with_html(thing.call))


def _rejected_call(seq: int, thing: RejectedCall) -> frames.CallRejectedFrame:
    html, suggestion = fragments.call(thing.call), thing.suggestion or None
    return frames.CallRejectedFrame(seq, thing.message, thing.call.name, thing.reason, html, suggestion)


def _asked_question(seq: int, thing: AskedQuestion) -> frames.QuestionAskedFrame:
    asked = thing.question
    return frames.QuestionAskedFrame(
        seq=seq,
        question=asked.id,
        kind=asked.kind,
        text=asked.whole_text,
        options=list(asked.options),
        html=fragments.question(asked),
        expires_at=asked.expires_at.isoformat() if asked.expires_at else None,
    )


def _closed_question(seq: int, thing: EndedQuestion) -> frames.QuestionClosedFrame:
    return frames.QuestionClosedFrame(seq, thing.question, thing.answer, thing.by)


def _started_turn(seq: int, thing: StartedTurn) -> frames.TurnStartedFrame:
    return frames.TurnStartedFrame(seq, thing.turn, thing.model, thing.format, list(thing.tools))


def _waiting_turn(seq: int, thing: WaitingTurn) -> frames.TurnWaitingFrame:
    return frames.TurnWaitingFrame(seq, thing.turn, thing.question)


def _ended_turn(seq: int, thing: EndedTurn) -> frames.TurnEndedFrame:
    return frames.TurnEndedFrame(seq, thing.turn, thing.reason, dict(thing.usage), thing.detail)


def _with_html(shown: ShownCall) -> dict[str, Any]:
    """Return the `call` object of the frames."""
    group = {"group": fragments.group(shown.group)} if shown.group else {}
    return shown.to_json() | {"html": fragments.call(shown)} | group


# A selected branch has none: the `hello` with its new number leads pages to fetch the branch.
FRAMES: dict[type, Callable[[int, Any], frames.ServerFrame]] = {
    StartedMessage: _started_message,
    FinishedMessage: _finished_message,
    AddedNotice: _added_notice,
    StartedCall: _started_call,
    FinishedCall: _finished_call,
    RejectedCall: _rejected_call,
    AskedQuestion: _asked_question,
    EndedQuestion: _closed_question,
    StartedTurn: _started_turn,
    WaitingTurn: _waiting_turn,
    EndedTurn: _ended_turn,
}
