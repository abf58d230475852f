"""Questions about a model: they outlive the turn that raised them, and their answers become claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from django.db import transaction

from chat.models import Conversation, Question, Turn
from chat.shown import ShownMessage, ShownQuestion
from chat.transcript import shown
from chat.transcript.conversations import announce, say
from chat.transcript.locks import hold
from toolsupport import learning
from toolsupport.core.verdicts import VERDICTS
from toolsupport.learning import Chosen
from toolsupport.registry import picker

LEARNING = "runtime_learning"


@dataclass(frozen=True, slots=True)
class Said:
    """What an answer leaves in the chat: a notice, and the model as it stands now where the chat still has it."""

    seq: int
    notice: ShownMessage
    model: dict[str, Any] | None


def profile_of(turn_id: int) -> int:
    """The model that a turn asks."""
    return Turn.objects.values_list("profile_id", flat=True).get(pk=turn_id)


@transaction.atomic
def ask_to_learn(turn_id: int, options: tuple[str, ...]) -> tuple[int, ShownQuestion] | None:
    """Ask whether to remember a refusal, unless the conversation is asked that already: then None."""
    turn = Turn.objects.select_related("conversation", "profile").get(pk=turn_id)
    hold(turn.conversation_id)
    if Question.objects.filter(conversation=turn.conversation, kind=LEARNING, answer="").exists():
        return None
    text = f"{turn.profile.name}: This model appears not to support tools. Update its metadata?"
    row = Question.objects.create(
        conversation=turn.conversation, turn=turn, kind=LEARNING, text=text, options=list(options)
    )
    return announce(turn.conversation), shown.question(row)


def take_effect(question: Question, answer: str, person: int) -> Said:
    """Do what was answered. Must run inside the transaction that closes the question."""
    return EFFECTS[question.kind](question, answer, person)


def _learn(question: Question, answer: str, person: int) -> Said:
    assert question.turn is not None
    conversation, profile = question.conversation, question.turn.profile
    learned = learning.learn(answer, Chosen(profile.pk, str(conversation.pk), person))
    if learned.settings:
        changed = conversation.settings | dict(learned.settings)
        Conversation.objects.filter(pk=conversation.pk).update(settings=changed)
    facts = {"model": profile.name, "verdict": VERDICTS["refused"]}
    seq, notice = say(conversation, learned.notice, facts)
    here = picker.shown(profile.pk, str(conversation.pk)) if conversation.profile_id == profile.pk else None
    return Said(seq, notice, asdict(here) if here else None)


# What an answer does, by the kind of its question.
EFFECTS: Mapping[str, Callable[[Question, str, int], Said]] = MappingProxyType({LEARNING: _learn})
