"""The question about an unknown model: asked once, answered once, for everyone or for one chat."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from chat.models import Conversation, Message, Question
from chat.transcript.announcements import AddedNotice, AskedQuestion, EndedQuestion
from chat.transcript.questions import model_notices, questions, unknown_model
from chat.transcript.questions.questions import SubmittedAnswer
from tests.chat.started_turns import things
from tests.effective_values import holding
from tests.examples import by_night
from tests.factories import ConversationFactory, ModelProfileFactory, UserFactory
from toolsupport.core.errors import Conflict
from toolsupport.models import Detection, ModelProfile, Override
from toolsupport.registry.knowledge import effective_values, overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.testing import detection_reports, detections
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult

pytestmark = pytest.mark.django_db


@pytest.fixture
def model() -> ModelProfile:
    made: ModelProfile = ModelProfileFactory(name="org/strange:1b")
    return made


def chat_of(person: User, model: ModelProfile) -> str:
    return str(ConversationFactory(owner=person, profile=model).pk)


def asked(person: User, conversation: str) -> int:
    [asked] = things(unknown_model.ask(person, conversation), AskedQuestion)
    return asked.question.id


def notices(conversation: str) -> list[str]:
    return list(Message.objects.filter(conversation_id=conversation, role="notice").values_list("code", flat=True))


def effective(model: ModelProfile, conversation: str = "") -> object:
    return effective_values.known(ModelProfile.objects.select_related("server").get(pk=model.pk), conversation)[
        "tools"
    ].value


# D5
def test_it_is_asked_once_for_each_person_build_and_day(alice: User, bob: User, model: ModelProfile):
    first, second = chat_of(alice, model), chat_of(alice, model)
    asked(alice, first)
    assert unknown_model.ask(alice, first) == ()
    assert unknown_model.ask(alice, second) == ()
    asked(bob, chat_of(bob, model))
    ModelProfile.objects.filter(pk=model.pk).update(digest="e" * 64)
    asked(alice, second)


def test_what_is_known_or_under_test_is_not_asked(alice: User, model: ModelProfile, settings: Settings):
    conversation = chat_of(alice, model)
    opened = detections.open_test(DetectionRequest(model.pk, "page"))
    assert unknown_model.ask(alice, conversation) == ()
    assert [test.id for test in unknown_model.pending(alice, conversation)[1]] == [opened.id]
    detections.cancel(opened.id)
    overrides.add(NewOverride(model.pk, "tools", False))
    assert unknown_model.ask(alice, conversation) == ()


def test_filter_only_asks_nothing(alice: User, model: ModelProfile, settings: Settings):
    given = settings.ENV["given"] | {"TOOLSUPPORT_FILTER_ONLY"}
    settings.ENV = settings.ENV | {"TOOLSUPPORT_FILTER_ONLY": True, "given": given}
    assert unknown_model.ask(alice, chat_of(alice, model)) == ()


# D5, D10
def test_bob_decides_for_everyone(bob: User, model: ModelProfile):
    conversation = chat_of(bob, model)
    question = asked(bob, conversation)
    assert "applies to everyone" in Question.objects.get(pk=question).preview
    closed = questions.answer(bob, question, SubmittedAnswer("yes"))
    [said] = things(closed.announced, AddedNotice)
    assert said.model is not None and said.model.tools_word == "Enabled"
    assert (effective(model), holding(model, "tools").value) == (True, True)
    assert notices(conversation) == ["saved"]
    decision = Override.objects.get().pk
    assert model_notices.announce_decision(conversation, model.pk, decision) == ()
    told = model_notices.announce_decision(chat_of(bob, model), model.pk, decision)
    assert "takes tools" in things(told, AddedNotice)[0].message.text


def test_alice_decides_for_her_chat_and_proposes(alice: User, model: ModelProfile):
    conversation = chat_of(alice, model)
    question = asked(alice, conversation)
    assert "proposed for everyone" in Question.objects.get(pk=question).preview
    questions.answer(alice, question, SubmittedAnswer("no"))
    assert (effective(model), effective(model, conversation)) == (None, False)
    assert Override.objects.get(proposed=True).value is False
    assert notices(conversation) == ["proposed"]


def test_the_first_answer_wins_and_a_late_one_is_told(alice: User, bob: User, model: ModelProfile):
    here, there = chat_of(bob, model), chat_of(alice, model)
    mine, late = asked(bob, here), asked(alice, there)
    questions.answer(bob, mine, SubmittedAnswer("yes"))
    with pytest.raises(Conflict, match="already answered"):
        questions.answer(bob, mine, SubmittedAnswer("no"))
    with pytest.raises(Conflict, match="already set"):
        questions.answer(alice, late, SubmittedAnswer("no"))
    assert effective(model, there) is True
    assert unknown_model.pending(alice, there)[0] is None


def test_no_answer_is_no_no(alice: User, model: ModelProfile):
    conversation = chat_of(alice, model)
    questions.answer(alice, asked(alice, conversation), SubmittedAnswer("none"))
    assert effective(model, conversation) is None and not Override.objects.exists()
    assert notices(conversation) == ["no_answer"]


def test_another_model_ends_the_question(alice: User, model: ModelProfile):
    conversation = chat_of(alice, model)
    question = asked(alice, conversation)
    Conversation.objects.filter(pk=conversation).update(profile=ModelProfileFactory())
    told = unknown_model.ask(alice, conversation)
    assert [thing.question for thing in things(told, EndedQuestion)] == [question]
    assert Question.objects.get(pk=question).answer == "superseded"


# D7, SAFETY 2
def test_fifty_people_on_twenty_models_cause_twenty_tests():
    models = [ModelProfileFactory() for _ in range(20)]
    for person in [UserFactory(role="user") for _ in range(50 if by_night() else 5)]:
        for model in models:
            unknown_model.start(person, chat_of(person, model), str(model.pk))
    assert Detection.objects.count() == 20
    assert Message.objects.filter(code="detecting").count() == 20


def finished(model: ModelProfile, concluded: DetectionResult) -> detection_reports.ShownDetection:
    opened = detections.open_test(DetectionRequest(model.pk, "chat"))
    detections.claim("worker")
    detections.conclude(opened.id, "worker", concluded)
    return detection_reports.shown(opened.id)


def test_the_end_of_a_test_is_told_once_and_answers_the_question(alice: User, model: ModelProfile):
    conversation = chat_of(alice, model)
    question = asked(alice, conversation)
    test = finished(model, DetectionResult("native", {}, {"tools": True}, "3 of 3."))
    told = model_notices.announce_end(conversation, test)
    [notice], [closed] = things(told, AddedNotice), things(told, EndedQuestion)
    assert closed.question == question and notice.message.text.endswith(": calls tools natively.")
    assert model_notices.announce_end(conversation, test) == ()
    assert Conversation.objects.get(pk=conversation).tail == told[-1].seq


@pytest.mark.parametrize(
    ("concluded", "code", "words"),
    [
        (DetectionResult("inconclusive", {"why": "It timed out."}), "inconclusive", "inconclusive: It timed out."),
        (DetectionResult("misconfigured", {"flag": "--jinja"}), "flag_to_set", "--jinja"),
        (DetectionResult("text", {"format": "hermes"}, {"tools": False, "format": "hermes"}), "detected", "(hermes)"),
        (DetectionResult("flaky", {"passed": 6, "tried": 9}, {"tools": True}), "detected", "(6 of 9)"),
    ],
)
def test_each_verdict_has_its_words(
    alice: User, model: ModelProfile, concluded: DetectionResult, code: str, words: str
):
    conversation = chat_of(alice, model)
    told = model_notices.announce_end(conversation, finished(model, concluded))
    [notice] = things(told, AddedNotice)
    assert notice.message.code == code and words in notice.message.text


def test_a_missing_setting_is_shown_as_code(client: Client, alice: User, model: ModelProfile):  # P9
    conversation = chat_of(alice, model)
    ended = finished(model, DetectionResult("misconfigured", {"flag": "--jinja"}))
    assert model_notices.announce_end(conversation, ended)
    client.force_login(alice)
    page = client.get(reverse("conversation", args=[conversation])).content.decode()
    assert "The server needs a setting for tools: <code>--jinja</code>." in page


def test_a_chat_that_began_after_the_end_of_a_test_is_not_told_of_it(alice: User, model: ModelProfile):
    test = finished(model, DetectionResult("native", {}, {"tools": True}, "3 of 3."))
    assert model_notices.announce_end(chat_of(alice, model), test) == ()


def test_by_form_without_a_socket(client: Client, alice: User, charlie: User, model: ModelProfile):
    conversation = chat_of(alice, model)
    question = asked(alice, conversation)
    client.force_login(alice)
    card = client.get(reverse("conversation-asks", args=[conversation])).content.decode()
    assert "Test it" in card and 'max="30"' in card
    said = client.post(reverse("question-answer", args=[question]), {"answer": "auto"}).content.decode()
    assert said == "The test has started."
    assert Detection.objects.get().trigger == "chat"
    assert "<span>Queued" in client.get(reverse("conversation-asks", args=[conversation])).content.decode()
    client.force_login(charlie)
    assert client.get(reverse("conversation-asks", args=[conversation])).status_code == 403
