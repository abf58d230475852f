"""Adds notices about tests and decisions to open chats."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from chat.models import Conversation, Question
from chat.sentences import sentence
from chat.transcript.announcements import Announcements, EndedQuestion, announce_all
from chat.transcript.conversations.conversations import say
from chat.transcript.locks import hold
from chat.transcript.questions.unknown_model import KIND, RECEIVED, WORDS
from chat.transcript.settings import chat_settings
from toolsupport.core import format_choice
from toolsupport.core.types import Capabilities
from toolsupport.registry.knowledge import effective_values, failed_format_removal
from toolsupport.registry.models import picker, profile_cache
from toolsupport.registry.testing import change_feed as news_of
from toolsupport.registry.testing.detection_reports import ShownDetection

NEWEST_SHOWN = "heard_test"  # the setting of a conversation with the newest test whose end it shows
BEGUN = "detecting"
ABOUT_TESTS = (BEGUN, "detected", "inconclusive", "flag_to_set")


@dataclass(frozen=True, slots=True)
class NewsSnapshot:
    """The present state: people's newest decision on each model, and whether no test runs or ended just now."""

    decisions: Mapping[int, int]
    quiet: bool


@dataclass(frozen=True, slots=True)
class ModelNews:
    """A notice to add; the conversation stores the `number` of its last one under the name `mark`.

    Conversations created after `at` do not get it, nor those that prefer a format in `failed`.
    """

    mark: str
    number: int
    profile: int
    code: str
    facts: dict[str, str]
    at: datetime | None = None
    failed: tuple[str, ...] = ()


def look() -> NewsSnapshot:
    """Read the state for all open pages together."""
    return NewsSnapshot(news_of.decisions(), news_of.is_quiet())


def concerned(conversations: Collection[str]) -> tuple[dict[str, int], list[ShownDetection]]:
    """Return the model (id) of each conversation, and the tests of these models that run or ended just now."""
    rows = Conversation.objects.filter(pk__in=conversations, profile__isnull=False)
    models = {str(pk): profile for pk, profile in rows.values_list("pk", "profile_id")}
    return models, news_of.tests(set(models.values()))


def missed(conversations: Collection[str]) -> list[tuple[str, ShownDetection]]:
    """Return the tests that ended while these chats were closed, and that concern them.

    These are a test that a chat still shows as running, and one that removed the format of a chat.
    """
    rows = list(Conversation.objects.filter(pk__in=conversations, profile__isnull=False))
    ended = news_of.last_ended({chat.profile_id or 0 for chat in rows})
    found = ((chat, ended.get(chat.profile_id or 0)) for chat in rows)
    return [(str(chat.pk), test) for chat, test in found if test is not None and _missed(chat, test)]


def _missed(chat: Conversation, test: ShownDetection) -> bool:
    if test.id <= chat.settings.get(NEWEST_SHOWN, 0):
        return False
    notice = chat.messages.filter(code__in=ABOUT_TESTS).order_by("id").last()
    ended = datetime.fromisoformat(test.finished_at) if test.finished_at else None
    runs = notice is not None and notice.code == BEGUN and ended is not None and notice.created_at <= ended
    return runs or bool(failed_format_removal.left(test.id, str(chat.pk)))


def announce_end(conversation_id: str, test: ShownDetection) -> Announcements:
    """Add a notice about the end of a test; nothing if another process did already."""
    result = _formats(test, conversation_id) or _verdict(test)
    at = datetime.fromisoformat(test.finished_at) if test.finished_at else None
    failed = tuple(test.detail.get("formats_failed") or ())
    if not result:
        return ()
    return _announce_once(conversation_id, ModelNews(NEWEST_SHOWN, test.id, test.profile, *result, at, failed))


def announce_decision(conversation_id: str, profile: int, decision: int) -> Announcements:
    """Add a notice about a person's decision for everyone; nothing if that was done already."""
    value = effective_values.holds(profile, "tools")
    return _announce_once(conversation_id, ModelNews(RECEIVED, decision, profile, "saved", {"verdict": WORDS[value]}))


def _formats(test: ShownDetection, conversation_id: str) -> tuple[str, dict[str, str]] | None:
    """Return the notice if a chat's text format failed, or if a test found that all formats fail."""
    failed = test.detail.get("formats_failed")
    before = failed_format_removal.left(test.id, conversation_id) or test.detail.get("left")
    if test.status != "done" or not failed or not (before or test.verdict == "inconclusive"):
        return None
    found = failed_format_removal.spoken([before] if before else failed)
    following = _goes_on(test.profile, conversation_id, failed)
    return "detected", {"verdict": sentence("formats_failed_here", formats=found, next=following)}


def _goes_on(profile_id: int, conversation_id: str, failed: Collection[str]) -> str:
    """Return how a chat continues after its format failed."""
    profile = profile_cache.profile(profile_id)
    known = effective_values.known(profile, conversation_id) if profile else Capabilities({})
    if known["tools"].value is True:
        return sentence("native_from_now")
    name = known["format"].value
    goes_on = isinstance(name, str) and name not in failed
    return sentence("format_from_now", format=format_choice.label(name)) if goes_on else sentence("tools_off_here")


@transaction.atomic
def _announce_once(conversation_id: str, news: ModelNews) -> Announcements:
    hold(UUID(conversation_id))
    conversation = Conversation.objects.get(pk=conversation_id)
    if conversation.profile_id != news.profile or conversation.settings.get(news.mark, 0) >= news.number:
        return ()
    if news.at is not None and news.at < conversation.created_at:
        return ()
    prefers = {"format": ""} if conversation.settings.get("format") in news.failed else {}
    chat_settings.change(conversation.pk, **{news.mark: news.number}, **prefers)
    model = picker.shown(news.profile, conversation_id)
    closed = _close(conversation) if model and model.known else ()
    notice = say(conversation, news.code, {"model": model.name if model else ""} | news.facts, model)
    return notice, *announce_all(conversation.pk, *(EndedQuestion(question, "decided") for question in closed))


def _close(conversation: Conversation) -> tuple[int, ...]:
    rows = Question.objects.filter(conversation=conversation, kind=KIND, answer="")
    closed = tuple(rows.values_list("pk", flat=True))
    rows.update(answer="decided", answered_at=Now())
    return closed


def _verdict(test: ShownDetection) -> tuple[str, dict[str, str]] | None:
    """Return the code of the notice with its facts; None for a test that ended without a verdict on the model."""
    if test.status == "cancelled":
        return None
    if test.verdict == "misconfigured":
        return "flag_to_set", {"flag": str(test.detail.get("flag") or test.reason)}
    if test.proved:
        extra = test.detail.get("format") or _share(test)
        words = test.verdict_words
        return "detected", {"verdict": sentence("with_detail", words=words, detail=extra) if extra else words}
    return "inconclusive", {"why": test.reason or sentence("test_interrupted")}


def _share(test: ShownDetection) -> str:
    tried = test.detail.get("tried")
    return f"{test.detail.get('passed')} of {tried}" if tried and test.verdict == "flaky" else ""
