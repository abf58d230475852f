"""The frames that tell of a turn's end."""

from __future__ import annotations

from collections.abc import Iterator

from chat import fragments, frames
from chat.transcript.turns import Ended


def told(ended: Ended) -> Iterator[frames.ServerFrame]:
    """The last state of what the turn left, the questions that nobody will answer any more, then its end."""
    seq = ended.seq - len(ended.unanswered) - len(ended.messages)
    for number, shown in enumerate(ended.messages, start=seq):
        yield frames.MessageFinished(number, shown.id, fragments.message(shown))
    for number, question in enumerate(ended.unanswered, start=ended.seq - len(ended.unanswered)):
        yield frames.QuestionClosed(number, question, ended.why, "")
    yield frames.TurnEnded(ended.seq, ended.turn, ended.reason, dict(ended.usage), ended.detail)
