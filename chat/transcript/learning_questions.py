"""The question whether to remember that a server refused tools: it outlives the turn that raised it."""

from __future__ import annotations

from django.db import transaction

from chat.models import Question, Turn
from chat.shown import ShownQuestion
from chat.transcript import kept_settings, shown
from chat.transcript.conversations import Person, announce, say
from chat.transcript.locks import hold
from chat.transcript.model_questions import HEARD, Said
from toolsupport import learning
from toolsupport.core.verdicts import VERDICTS
from toolsupport.learning import Chosen
from toolsupport.registry import news, picker

KIND = "runtime_learning"


def profile_of(turn_id: int) -> int:
    """The model that a turn asks."""
    return Turn.objects.values_list("profile_id", flat=True).get(pk=turn_id)


@transaction.atomic
def ask_to_learn(turn_id: int, options: tuple[str, ...]) -> tuple[int, ShownQuestion] | None:
    """Ask whether to remember a refusal, unless the conversation is asked that already: then None."""
    turn = Turn.objects.select_related("conversation", "profile").get(pk=turn_id)
    hold(turn.conversation_id)
    if Question.objects.filter(conversation=turn.conversation, kind=KIND, answer="").exists():
        return None
    text = f"{turn.profile.name}: This model appears not to support tools. Update its metadata?"
    row = Question.objects.create(
        conversation=turn.conversation, turn=turn, kind=KIND, text=text, options=list(options)
    )
    return announce(turn.conversation), shown.question(row)


def apply(person: Person, question: Question, answer: str) -> Said:
    """Do what was answered. Must run inside the transaction that closes the question."""
    assert question.turn is not None
    conversation, profile = question.conversation, question.turn.profile
    learned = learning.learn(answer, Chosen(profile.pk, str(conversation.pk), person.pk or 0))
    # What is said here is not said once more as news.
    heard = {HEARD: news.decisions([profile.pk])[profile.pk]} if learned.notice == "saved" else {}
    if learned.settings or heard:
        kept_settings.change(conversation.pk, **learned.settings, **heard)
    facts = {"model": profile.name, "verdict": VERDICTS["refused"]}
    seq, notice = say(conversation, learned.notice, facts)
    here = picker.shown(profile.pk, str(conversation.pk)) if conversation.profile_id == profile.pk else None
    return Said(seq, notice, here)
