"""How turns end from outside, and what the pages get of a turn that is over."""

from __future__ import annotations

from collections.abc import Iterator

from chat.broadcast import fragments, frames
from chat.transcript.turns.lifecycle import EndedTurn

MISTAKE = "The server made a mistake; it is in its log."
NOT_KEPT_YET = "The server cannot write to its database at the moment. What you see is kept as soon as it can."
NOT_WRITTEN = "The server could not write to its database (is its disk full?), so this answer ends here."
# Why an answer is ended from outside → the reason and the words that are shown.
ENDS = {
    "stopped": ("stopped", "Stopped by you."),
    "kept_out": ("stopped", "Stopped, because its owner may not chat any more."),
    "interrupted": ("interrupted", "The server stopped while this answer was being written."),
    "lost": ("lost", ""),
}


def frames_of(ended: EndedTurn) -> Iterator[frames.ServerFrame]:
    """The last state of what it left, what it asks no more, then its end."""
    closing = ended.seq - len(ended.closed)
    for number, shown in enumerate(ended.messages, start=closing - len(ended.messages)):
        yield frames.MessageFinishedFrame(number, shown.id, fragments.message(shown))
    for number, question in enumerate(ended.closed, start=closing):
        yield frames.QuestionClosedFrame(number, question, ended.reason, "")
    reason = "stopped" if ended.reason == "superseded" else ended.reason
    yield frames.TurnEndedFrame(ended.seq, ended.turn, reason, dict(ended.usage), ended.detail)
