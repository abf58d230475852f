"""The question whether to remember that a server refused tools: it outlives the turn that raised it."""

from __future__ import annotations

from chat.models import Question, Turn
from chat.shown import ShownQuestion
from chat.transcript import kept_settings, shown
from chat.transcript.conversations import Person, announce, say
from chat.transcript.model_questions import HEARD, Said
from chat.transcript.turn_store import fenced
from toolsupport import learning
from toolsupport.core.refusals import Refusal
from toolsupport.core.verdicts import VERDICTS
from toolsupport.learning import Chosen, Lesson, Refused
from toolsupport.registry import missing_flags, news, picker

KIND = "runtime_learning"


@fenced
def keep_refusal(turn: Turn, refusal: Refusal, status: int) -> Lesson:
    """Keep the refusal of a turn's server in the history of its model; what is to be asked or shown for it."""
    return learning.hear(Refused(turn.profile_id, refusal, status))


@fenced
def server_lacks_nothing(turn: Turn) -> None:
    """The server answered native tools: no setting for them is missing any more."""
    missing_flags.solved(turn.profile_id)


@fenced
def ask_to_learn(turn: Turn, options: tuple[str, ...]) -> tuple[int, ShownQuestion] | None:
    """Ask whether to remember a refusal, unless the conversation is asked that already: then None."""
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
