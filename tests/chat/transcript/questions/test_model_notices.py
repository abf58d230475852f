"""A chat in text mode leaves a format that a test found not to work, whether or not its page is open."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from chat.broadcast.detection_progress import DetectionProgress
from chat.broadcast.page_sockets import PageSocket, SocketRegistry
from chat.models import Conversation
from chat.transcript.announcements import AddedNotice
from chat.transcript.conversations.conversations import say
from chat.transcript.questions import model_notices
from chat.transcript.settings import available_tools
from tests.chat.started_turns import things
from tests.factories import ConversationFactory, ModelProfileFactory, UserFactory
from toolsupport.core.types import ChatSettings
from toolsupport.models import Detection, ModelProfile, Override
from toolsupport.registry.knowledge import effective_values, overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models import request_context
from toolsupport.registry.settings import team_settings
from toolsupport.registry.testing import detection_reports, detections
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult, TrialRecord
from toolsupport.services.refusal_learning import LearningChoice, learn

pytestmark = pytest.mark.django_db

NOTHING = DetectionResult("inconclusive", {"why": "The answer holds no call."})
MISTRAL = DetectionResult("text", {"format": "mistral"}, {"format": "mistral"}, "Written as text it calls: mistral.")


@pytest.fixture
def chat(alice: User) -> Conversation:
    """Alice chose text mode in it: Hermes at first, as long as nobody knows better."""
    profile = ModelProfileFactory(name="strange:1b")
    made: Conversation = ConversationFactory(owner=alice, profile=profile)
    chosen = learn("text", LearningChoice(profile.pk, str(made.pk), alice.pk))
    Conversation.objects.filter(pk=made.pk).update(settings=dict(chosen.settings))
    made.refresh_from_db()
    return made


def concluded(trials: Sequence[tuple[str, bool | None]], end: DetectionResult) -> int:
    """The test that text mode has asked for, with (format, passed) of each trial."""
    test = detections.claim("worker")
    assert test is not None
    for n, (name, passed) in enumerate(trials, start=1):
        detections.add_trial(test, "worker", TrialRecord("formats", n, {}, {"subject": name}, passed))
    assert detections.conclude(test, "worker", end)
    return test


def asked_in(chat: Conversation) -> str:
    """The format of the chat's next request, "" without tools."""
    chat.refresh_from_db()
    assert chat.profile_id is not None
    offered = available_tools.offer()
    return request_context.for_profile(
        ModelProfile.objects.select_related("server").get(pk=chat.profile_id),
        offered,
        ChatSettings(format=chat.settings.get("format", "")),
        str(chat.pk),
    ).request_spec.format


def told(chat: Conversation, test: int) -> str:
    [notice] = things(model_notices.announce_end(str(chat.pk), detection_reports.shown(test)), AddedNotice)
    assert notice.message.code == "detected"
    return notice.message.text


# D6, D9
def test_it_leaves_for_what_works(chat: Conversation):
    assert asked_in(chat) == "hermes"
    test = concluded([("hermes", False), ("mistral", True), ("mistral", True)], MISTRAL)
    assert asked_in(chat) == "mistral"
    assert told(chat, test) == (
        "Tested strange:1b: calls written as Hermes do not arrive. This chat continues with Mistral."
    )
    assert asked_in(chat) == "mistral"


def test_without_any_that_works_its_tools_are_off(chat: Conversation):
    test = concluded([("hermes", False), ("llama3_json", False)], NOTHING)
    assert asked_in(chat) == ""
    words = told(chat, test)
    assert words == "Tested strange:1b: calls written as Hermes do not arrive. Tools are off in this chat."
    assert "inconclusive" not in words
    shown = detection_reports.shown(test)
    assert shown.proved and shown.verdict_words.startswith("calls written as Hermes or ")


@pytest.mark.parametrize(("end", "left"), [(MISTRAL, "mistral"), (NOTHING, "")])
def test_also_where_text_is_on_for_all_models(chat: Conversation, end: DetectionResult, left: str):
    team_settings.put("text_formats", "all")
    trials = [("hermes", False), ("mistral", end is MISTRAL), ("mistral", end is MISTRAL)]
    told(chat, concluded(trials, end))
    assert asked_in(chat) == left


@pytest.mark.parametrize("passed", [None, True])
def test_what_proved_nothing_changes_nothing(chat: Conversation, passed: bool | None):
    concluded([("hermes", passed)], NOTHING)
    assert asked_in(chat) == "hermes"
    assert Override.objects.filter(source="auto_detected").count() == 0


def test_a_format_that_worked_for_everyone_is_left_as_well(alice: User):
    profile = ModelProfileFactory(name="strange:1b")
    overrides.add(NewOverride(profile.pk, "tools", False, "auto_detected"))
    overrides.add(NewOverride(profile.pk, "format", "hermes", "auto_detected"))
    chat = ConversationFactory(owner=alice, profile=profile)
    assert asked_in(chat) == "hermes"
    detections.open_test(detections.DetectionRequest(profile.pk, "page", "formats"))
    test = concluded([("hermes", False), ("hermes", False)], NOTHING)
    assert asked_in(chat) == "" and effective_values.known(profile)["format"].value is False
    assert told(chat, test).endswith("calls written as Hermes do not arrive. Tools are off in this chat.")


def test_a_person_who_decided_for_everyone_keeps_it(alice: User):
    profile = ModelProfileFactory()
    overrides.add(NewOverride(profile.pk, "tools", False, actor=UserFactory().pk))
    overrides.add(NewOverride(profile.pk, "format", "hermes", actor=UserFactory().pk))
    chat = ConversationFactory(owner=alice, profile=profile)
    detections.open_test(detections.DetectionRequest(profile.pk, "page", "formats"))
    concluded([("hermes", False), ("hermes", False)], NOTHING)
    assert asked_in(chat) == "hermes"


def test_undoing_the_test_brings_the_format_back(chat: Conversation, bob: User):
    test = concluded([("hermes", False)], NOTHING)
    assert asked_in(chat) == ""
    assert detections.undo(test, bob.pk) == 2
    assert asked_in(chat) == "hermes"


def test_other_chats_and_models_stay_as_they_are(chat: Conversation, alice: User):
    other = ConversationFactory(owner=alice, profile=chat.profile)
    assert chat.profile_id is not None
    overrides.add(NewOverride(chat.profile_id, "tools", False, "runtime_error", session=str(other.pk)))
    overrides.add(NewOverride(chat.profile_id, "format", "pythonic", session=str(other.pk)))
    concluded([("hermes", False)], NOTHING)
    assert (asked_in(chat), asked_in(other)) == ("", "pythonic")
    assert str(other.pk) not in str(Detection.objects.get().detail)


async def unsent(text: str) -> None: ...


def missed(chat: Conversation) -> list[int]:
    chat.refresh_from_db()
    return [test.id for _, test in model_notices.missed([str(chat.pk)])]


@pytest.mark.django_db(transaction=True)
def test_a_chat_that_was_closed_is_told_when_it_opens(chat: Conversation):  # D7
    other = ConversationFactory(owner=chat.owner, profile=chat.profile)
    test = concluded([("hermes", False), ("llama3_json", False)], NOTHING)
    assert (missed(chat), missed(other)) == ([test], []), "only the chat that had chosen the format is concerned"
    Conversation.objects.update(created_at=Now() - timedelta(hours=2))
    Detection.objects.update(finished_at=Now() - timedelta(hours=1))
    listeners, announced = SocketRegistry(), list[str]()
    listeners.add(str(chat.pk), PageSocket(unsent))
    watcher = DetectionProgress(listeners, lambda conversation, news: announced.extend([conversation] * len(news)))
    for _ in range(2):
        async_to_sync(watcher.look)()
    assert (announced, missed(chat)) == ([str(chat.pk)], [])


@pytest.mark.parametrize(("follows", "tells"), [("", True), ("detected", False)])
def test_a_test_does_not_run_forever_in_a_closed_chat(alice: User, follows: str, tells: bool):  # D7
    chat: Conversation = ConversationFactory(owner=alice, profile=ModelProfileFactory(name="strange:1b"))
    detections.open_tests([DetectionRequest(chat.profile_id or 0, "chat", actor=alice.pk)])
    for code in filter(None, ("detecting", follows)):
        say(chat, code, {"model": "strange:1b", "verdict": "calls tools"})
    assert missed(chat) == []
    test = concluded([], DetectionResult("native", {}, {"tools": True}, "It calls."))
    assert missed(chat) == ([test] if tells else [])


def test_chats_that_open_together_cost_as_many_queries_as_one(alice: User):
    def opened(count: int) -> list[Conversation]:
        return [ConversationFactory(owner=alice, profile=ModelProfileFactory()) for _ in range(count)]

    few, many = opened(1), opened(20)
    with CaptureQueriesContext(connection) as of_few:
        model_notices.missed([str(chat.pk) for chat in few])
    with CaptureQueriesContext(connection) as of_many:
        model_notices.missed([str(chat.pk) for chat in many])
    assert len(of_many) == len(of_few)


@pytest.mark.django_db(transaction=True)
def test_a_decision_is_announced_once_to_chats_that_were_open(alice: User):  # D7
    def opened(profile: ModelProfile) -> str:
        chat = str(ConversationFactory(owner=alice, profile=profile).pk)
        listeners.add(chat, PageSocket(unsent))
        return chat

    def decide(profile: ModelProfile) -> None:
        overrides.add(NewOverride(profile.pk, "tools", True, source="user_confirmed", actor=alice.pk))

    def announced() -> list[str]:
        found = list[str]()
        watcher._announce = lambda conversation, news: found.extend([conversation] * len(news))
        async_to_sync(watcher.look)()
        return sorted(found)

    listeners, one, other = SocketRegistry(), ModelProfileFactory(), ModelProfileFactory()
    watcher = DetectionProgress(listeners, lambda *_: None)
    decide(one)
    first, beside = opened(one), opened(other)
    assert announced() == []  # decided before they were opened
    decide(one)
    assert (announced(), announced()) == ([first], [])
    Conversation.objects.filter(pk=beside).update(profile=one)
    decide(one)
    late = opened(one)
    assert announced() == sorted([first, beside])
    decide(one)
    assert announced() == sorted([first, beside, late])
