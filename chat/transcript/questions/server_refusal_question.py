"""Handles the question whether to remember that a server refused tools, which outlives its turn."""

from __future__ import annotations

from chat.models import Question, Turn
from chat.sentences import sentence
from chat.transcript.announcements import AddedNotice, Announcement, AskedQuestion, announce
from chat.transcript.conversations.conversations import Person, say
from chat.transcript.messages import present
from chat.transcript.questions.unknown_model import RECEIVED
from chat.transcript.settings import chat_settings
from chat.transcript.turn_store import fenced
from toolsupport.core.server_refusals import Refusal
from toolsupport.core.verdicts import VERDICTS
from toolsupport.registry.models import picker
from toolsupport.registry.servers import missing_flags
from toolsupport.registry.testing import change_feed
from toolsupport.services import refusal_learning
from toolsupport.services.refusal_learning import LearningChoice, ObservedRefusal, RefusalResponse

KIND = "runtime_learning"


@fenced
def keep_refusal(turn: Turn, refusal: Refusal, status: int) -> RefusalResponse:
    """Store the refusal of a turn's server in its model's history; return the question or notice for it."""
    return refusal_learning.record_refusal(ObservedRefusal(turn.profile_id, refusal, status))


@fenced
def server_lacks_nothing(turn: Turn) -> None:
    """Record that the server answered native tools: no setting for them is missing any more."""
    missing_flags.solved(turn.profile_id)


@fenced
def ask_to_learn(turn: Turn, options: tuple[str, ...]) -> Announcement[AskedQuestion] | None:
    """Ask whether to remember a refusal; None if the conversation has that question already."""
    if Question.objects.filter(conversation=turn.conversation, kind=KIND, answer="").exists():
        return None
    text = sentence("remember_refusal", model=turn.profile.name)
    row = Question.objects.create(
        conversation=turn.conversation, turn=turn, kind=KIND, text=text, options=list(options)
    )
    return announce(turn.conversation_id, AskedQuestion(present.question(row)))


def apply(person: Person, question: Question, answer: str) -> Announcement[AddedNotice]:
    """Apply the answer. Must run in the transaction that closes the question."""
    assert question.turn is not None
    conversation, profile = question.conversation, question.turn.profile
    learned = refusal_learning.learn(answer, LearningChoice(profile.pk, str(conversation.pk), person.pk or 0))
    # The notice added here must not be added again by `model_notices`.
    received = {RECEIVED: change_feed.decisions()[profile.pk]} if learned.notice == "saved" else {}
    if learned.settings or received:
        chat_settings.change(conversation.pk, **learned.settings, **received)
    facts = {"model": profile.name, "verdict": VERDICTS["refused"]}
    here = picker.shown(profile.pk, str(conversation.pk)) if conversation.profile_id == profile.pk else None
    return say(conversation, learned.notice, facts, here)
