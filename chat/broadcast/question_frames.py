"""The announcement of a question to the pages."""

from __future__ import annotations

from chat.broadcast import fragments, frames
from chat.transcript.messages.view_models import ShownQuestion


def question_frame(seq: int, question: ShownQuestion) -> frames.QuestionAskedFrame:
    """The frame that tells of an open question."""
    return frames.QuestionAskedFrame(
        seq=seq,
        question=question.id,
        kind=question.kind,
        text=question.text,
        options=list(question.options),
        html=fragments.question(question),
        expires_at=question.expires_at.isoformat() if question.expires_at else None,
    )
