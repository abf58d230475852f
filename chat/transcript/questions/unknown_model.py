"""Handles the question whether an unknown model supports tools, answered for everyone or for one chat."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from chat.models import Conversation, Question
from chat.sentences import sentence as _question
from chat.transcript.announcements import (
    AddedNotice,
    Announcement,
    Announcements,
    AskedQuestion,
    EndedQuestion,
    announce_all,
)
from chat.transcript.conversations.conversations import Person, own, say
from chat.transcript.messages import present
from chat.transcript.messages.view_models import ShownQuestion
from chat.transcript.settings import chat_settings
from toolsupport.core.errors import Conflict, NotAllowed
from toolsupport.core.sentences import sentence
from toolsupport.registry.knowledge import effective_values as known_of
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models import picker, profile_cache
from toolsupport.registry.people.permissions import Action, actions_of
from toolsupport.registry.settings import switches
from toolsupport.registry.testing import change_feed, detection_reports, detections
from toolsupport.registry.testing.detection_reports import ShownDetection
from toolsupport.registry.testing.detections import DetectionRequest

KIND = "unknown_model"
# The possible answers: a test, a decision, or none in time.
OPTIONS = ("auto", "yes", "no", "none")
# The setting of a chat with the last decision for which it has a notice.
RECEIVED = "heard_decision"
Notice = Announcement[AddedNotice]
WORDS = {
    True: _question("takes_tools"),
    False: _question("takes_no_tools"),
    None: _question("follows_evidence"),
}


@transaction.atomic
def ask(person: Person, conversation_id: str) -> Announcements:
    """Ask about the conversation's model if it is unknown; once per person, build and day. Raises NotFound.

    Questions about another model are closed.
    """
    conversation = own(person, conversation_id, lock=True)
    build = _build(conversation)
    others = _open(conversation).exclude(binds=build)
    ended = tuple(others.values_list("pk", flat=True))
    others.update(answer="superseded", answered_at=Now())
    question = _ask(person, conversation, build) if _worth_asking(person, conversation, build) else None
    closed = [EndedQuestion(pk, "superseded") for pk in ended]
    asked = [AskedQuestion(present.question(question))] if question else []
    return announce_all(conversation.pk, *closed, *asked)


def pending(person: Person, conversation_id: str) -> tuple[ShownQuestion | None, list[ShownDetection]]:
    """Return the content above the composer: an open question about the model, and its tests. Raises NotFound."""
    return pending_in(own(person, conversation_id))


def pending_in(conversation: Conversation) -> tuple[ShownQuestion | None, list[ShownDetection]]:
    """Do the same for a conversation that is read already."""
    tests = detection_reports.open_ones([conversation.profile_id] if conversation.profile_id else [])
    row = _open(conversation).filter(binds=_build(conversation)).last()
    return present.question(row) if row and _unknown(conversation) else None, list(tests.values())


def apply(person: Person, question: Question, answer: str) -> Notice | None:
    """Apply the answer. Raises Conflict if it was decided meanwhile, Busy, ConfigError, NotAllowed."""
    profile = int(question.binds.partition(":")[0])
    if answer == "none":
        return _say(question.conversation, profile, "no_answer")
    if answer == "auto":
        return begin_test(person, question.conversation, profile)
    return _decide(person, question.conversation, profile, answer == "yes")


def begin_test(person: Person, conversation: Conversation, profile: int) -> Notice | None:
    """Start a test, with a notice if it is about the conversation's model; None if one was open."""
    allowed = actions_of(person.pk or 0)
    if Action.DETECT not in allowed:
        raise NotAllowed(f"Your role does not allow you to {Action.DETECT}.")
    limited = Action.DECIDE_FOR_ALL not in allowed
    opened = detections.open_tests([DetectionRequest(profile, "chat", actor=person.pk)], limited)[0]
    here = conversation.profile_id == profile
    return _say(conversation, profile, "detecting") if opened.fresh and here else None


@transaction.atomic
def start(person: Person, conversation_id: str, wanted: str) -> tuple[int, Notice | None]:
    """Test a model by profile id, `server/name` or a unique name; return (its id, the notice).

    Raises NotFound, Busy and the errors of opening a test.
    """
    conversation = own(person, conversation_id, lock=True)
    profile = picker.find(wanted)
    return profile, begin_test(person, conversation, profile)


def _decide(person: Person, conversation: Conversation, profile: int, value: bool) -> Notice:
    newest = overrides.newest_seq(profile, "tools")
    if known_of.holds(profile, "tools") is not None:
        raise Conflict(f"This was already set. {overrides.stands(profile, 'tools')}", "decided")
    reason = sentence("answered_in_chat")
    if Action.DECIDE_FOR_ALL in actions_of(person.pk or 0):
        overrides.add(NewOverride(profile, "tools", value, actor=person.pk, reason=reason, newest=newest))
        chat_settings.change(conversation.pk, **{RECEIVED: change_feed.decisions()[profile]})
        return _say(conversation, profile, "saved", WORDS[value])
    session = str(conversation.pk)
    overrides.add(NewOverride(profile, "tools", value, actor=person.pk, reason=reason, session=session))
    overrides.add(NewOverride(profile, "tools", value, actor=person.pk, reason=reason, proposed=True))
    return _say(conversation, profile, "proposed", WORDS[value])


def _say(conversation: Conversation, profile: int, code: str, verdict: str = "") -> Notice:
    model = picker.shown(profile, str(conversation.pk))
    name = model.name if model else ""
    return say(conversation, code, {"model": name, "verdict": verdict}, model)


def _ask(person: Person, conversation: Conversation, build: str) -> Question:
    model = conversation.profile
    for_all = Action.DECIDE_FOR_ALL in actions_of(person.pk or 0)
    scope = "answer_for_all" if for_all else "answer_for_chat"
    return Question.objects.create(
        conversation=conversation,
        kind=KIND,
        text=_question("supports_tools", model=model.name) if model else _question("this_model_supports_tools"),
        options=list(OPTIONS),
        preview=_question(scope, seconds=detection_reports.expected_seconds(model) if model else 5),
        binds=build,
    )


def _worth_asking(person: Person, conversation: Conversation, build: str) -> bool:
    if conversation.profile_id is None or not _unknown(conversation) or not switches.in_force().asks_about_models:
        return False
    if detection_reports.open_ones([conversation.profile_id]):
        return False
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    asked = Question.objects.filter(kind=KIND, conversation__owner_id=person.pk, binds=build, created_at__gte=today)
    return not asked.exists()


def _unknown(conversation: Conversation) -> bool:
    profile = profile_cache.profile(conversation.profile_id) if conversation.profile_id else None
    return profile is not None and known_of.known(profile, str(conversation.pk))["tools"].value is None


def _build(conversation: Conversation) -> str:
    """Return the build of the model that a question is about."""
    profile = profile_cache.profile(conversation.profile_id) if conversation.profile_id else None
    return f"{profile.pk}:{profile.build.key}" if profile else ""


def _open(conversation: Conversation) -> QuerySet[Question]:
    return Question.objects.filter(conversation=conversation, kind=KIND, answer="").order_by("pk")
