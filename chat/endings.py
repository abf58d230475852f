"""What the pages are told of a turn that is over."""

from __future__ import annotations

from collections.abc import Iterator

from chat import fragments, frames
from chat.transcript.turns import Ended


def frames_of(ended: Ended) -> Iterator[frames.ServerFrame]:
    """The last state of what it left, what it asks no more, then its end."""
    closing = ended.seq - len(ended.closed)
    for number, shown in enumerate(ended.messages, start=closing - len(ended.messages)):
        yield frames.MessageFinished(number, shown.id, fragments.message(shown))
    for number, question in enumerate(ended.closed, start=closing):
        yield frames.QuestionClosed(number, question, ended.reason, "")
    reason = "stopped" if ended.reason == "superseded" else ended.reason
    yield frames.TurnEnded(ended.seq, ended.turn, reason, dict(ended.usage), ended.detail)
