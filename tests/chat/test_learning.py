"""A server refuses the tools of a running answer: the stored refusal, the question, and the effect of each answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database
from django.test import Client

from chat.broadcast import frames
from chat.models import Conversation, Question
from chat.transcript.announcements import AddedNotice
from chat.transcript.conversations.conversations import show
from chat.transcript.questions import model_notices, questions
from chat.transcript.settings import turn_settings
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns.end import TurnOutcome, end
from chat.transcript.turns.sent_message import SentMessage
from chat.turns.live_reply import SendFrame
from chat.turns.run import TurnRun
from tests.chat.started_turns import accept, things
from tests.effective_values import holding
from tests.factories import ConversationFactory, ModelProfileFactory, ServerFactory, UserFactory
from tests.toolsupport.providers.scripted import (
    DONE,
    FINE,
    HEAD,
    LAST_CHUNK,
    Scripted,
    Step,
    answer,
    chunk,
    scripted,
)
from toolsupport.core.errors import Conflict
from toolsupport.models import Detection, HistoryEntry, ModelProfile, Override
from toolsupport.registry.knowledge import effective_values, overrides, reviews
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.servers import missing_flags
from toolsupport.registry.settings import team_settings
from toolsupport.registry.testing import change_feed

pytestmark = pytest.mark.django_db(transaction=True)

REFUSED = answer(400, b'{"error":"registry.ollama.ai/library/m does not support tools; api_key=abcdef123456"}')
FLAGS = b'{"error":"\\"auto\\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}'
FLAG = answer(400, FLAGS)
GARBLED = answer(500, b'{"error":"error parsing tool call: raw=\'{\\"a\\": \', err=unexpected end of JSON input"}')


def said_line(message: dict[str, Any]) -> bytes:
    return chunk(json.dumps({"message": message, "done": False}).encode() + b"\n")


BUSY = answer(503, b'{"error":"server busy"}')


@pytest.fixture
def profile(transactional_db: None) -> ModelProfile:
    made: ModelProfile = ModelProfileFactory(name="phi-x:7b", server=ServerFactory(name="box"))
    return made


@pytest.fixture
def conversation(profile: ModelProfile) -> Conversation:
    made: Conversation = ConversationFactory(owner=UserFactory(role="reviewer", username="rita"), profile=profile)
    return made


def claimed(conversation: Conversation, server: Scripted, source: str, tell: SendFrame) -> TurnRun:
    profile = conversation.profile
    assert profile is not None
    ServerFactory._meta.model.objects.filter(pk=profile.server_id).update(base_url=server.endpoint().base_url)
    if not Override.objects.filter(profile=profile, source=source, value=True).exists():
        overrides.add(NewOverride(profile.pk, "tools", True, source))
    number = conversation.turns.count()
    sent = SentMessage(f"ask {number}", "What's in this folder?", None)
    accepted = accept(conversation.owner, str(conversation.pk), sent, "me")
    assert accepted.claimed is not None
    return TurnRun(accepted.claimed, turn_settings.tool_context(str(conversation.pk)), tell)


async def answered(conversation: Conversation, *answers: Any, source: str = "declared") -> tuple[list[Any], list[Any]]:
    """One turn: the frames it told, and the requests its server got."""
    told: list[frames.ServerFrame] = []
    async with scripted(*answers) as server:
        run = await in_database(claimed)(conversation, server, source, told.append)
        await run.perform(asyncio.create_task)
        reason = run.ended.reason if run.ended else ""
        outcome = TurnOutcome(reason, "", {}, run.last_reply())
        await in_database(end)(TurnStore("me", run.claimed.turn), outcome)
        return told, server.bodies


def of(told: list[Any], kind: type) -> list[Any]:
    return [frame for frame in told if isinstance(frame, kind)]


def refusals() -> list[HistoryEntry]:
    return list(HistoryEntry.objects.filter(kind="refusal").order_by("pk"))


# D9: unsupported
@pytest.mark.asyncio
async def test_a_refusal_is_answered_without_tools_and_asked_about(conversation: Conversation) -> None:
    told, bodies = await answered(conversation, REFUSED, FINE)
    assert "tools" in bodies[0] and "tools" not in bodies[1] and len(bodies) == 2
    assert [frame.code for frame in of(told, frames.NoticeFrame)] == ["tools_refused"]
    (asked,) = of(told, frames.QuestionAskedFrame)
    assert (asked.kind, asked.options) == ("runtime_learning", ["save", "session", "text"])
    assert "This model appears not to support tools. Update its metadata?" in asked.text
    assert "Save for everyone" in asked.html and "Use text mode" in asked.html

    def kept() -> None:
        (entry,) = refusals()
        assert entry.verdict == "refused" and entry.evidence["status"] == 400
        assert entry.evidence["rule"] == "does-not-support" and "abcdef123456" not in json.dumps(entry.evidence)
        assert Override.objects.exclude(source="declared").count() == 0
        here = show(conversation.owner, str(conversation.pk))
        assert [question.id for question in here.questions] == [asked.question]

    await in_database(kept)()
    told, _ = await answered(conversation, REFUSED, FINE)
    assert not of(told, frames.QuestionAskedFrame)  # one open question for a conversation


def decide(conversation: Conversation, choice: str) -> questions.ClosedQuestion:
    question = Question.objects.get(conversation=conversation, answer="")
    return questions.answer(conversation.owner, question.pk, questions.SubmittedAnswer(choice))


def value(profile: ModelProfile, name: str = "tools", session: str = "") -> tuple[Any, str]:
    known = effective_values.known(profile, session)[name]
    return known.value, known.source


# D9: save
@pytest.mark.asyncio
async def test_saving_holds_for_everyone(conversation: Conversation, profile: ModelProfile) -> None:
    await answered(conversation, REFUSED, FINE)

    def save() -> None:
        closed = decide(conversation, "save")
        assert closed.turn is None
        [said] = things(closed.announced, AddedNotice)
        assert said.message.text == "Saved for everyone: phi-x:7b refuses tools."
        assert said.model is not None and said.model.evidence.state == "off"
        assert value(profile) == (False, "user_confirmed")
        number = change_feed.decisions()[profile.pk]
        assert model_notices.announce_decision(str(conversation.pk), profile.pk, number) == (), "it is said once"
        with pytest.raises(Conflict):
            questions.answer(conversation.owner, closed.question, questions.SubmittedAnswer("session"))

    await in_database(save)()


# D9, D10: who may not decide for everyone proposes, and the card says so before
@pytest.mark.asyncio
async def test_who_may_not_decide_proposes(profile: ModelProfile) -> None:
    conversation = await in_database(lambda: ConversationFactory(profile=profile))()
    told, _ = await answered(conversation, REFUSED, FINE)
    assert "Propose for everyone" in of(told, frames.QuestionAskedFrame)[0].html

    def save() -> None:
        [said] = things(decide(conversation, "save").announced, AddedNotice)
        assert said.message.text == "In this chat phi-x:7b refuses tools. Proposed for everyone."
        assert value(profile) == (True, "declared")
        assert value(profile, session=str(conversation.pk)) == (False, "session")
        assert Override.objects.filter(proposed=True, value=False).count() == 1
        assert reviews.needing() == {profile.pk}

    await in_database(save)()


# D9: decline
@pytest.mark.asyncio
async def test_only_this_chat_is_a_claim_of_this_chat(conversation: Conversation, profile: ModelProfile) -> None:
    await answered(conversation, REFUSED, FINE)

    def only_here() -> None:
        decide(conversation, "session")
        here = str(conversation.pk)
        assert value(profile) == (True, "declared") and value(profile, session=here) == (False, "session")
        assert Override.objects.get(session=here).source == "runtime_error"

    await in_database(only_here)()
    told, bodies = await answered(conversation, FINE)
    assert "tools" not in bodies[0] and not of(told, frames.NoticeFrame)


# D9: text mode
@pytest.mark.asyncio
async def test_text_mode_holds_at_once_and_is_tested(conversation: Conversation, profile: ModelProfile) -> None:
    await answered(conversation, REFUSED, FINE)

    def choose() -> None:
        decide(conversation, "text")
        conversation.refresh_from_db()
        assert conversation.settings["format"] == "hermes"
        test = Detection.objects.get()
        assert (test.kind, test.trigger, test.status) == ("formats", "refusal", "queued")

    await in_database(choose)()
    _, bodies = await answered(conversation, FINE)
    assert "tools" not in bodies[0] and "<tool_call>" in json.dumps(bodies[0]["messages"])


# D9: misconfigured
@pytest.mark.asyncio
async def test_a_missing_flag_is_named_and_teaches_nothing(conversation: Conversation, profile: ModelProfile) -> None:
    told, bodies = await answered(conversation, FLAG, FINE)
    assert ["tools" in body for body in bodies] == [True, False]
    assert [notice.text for notice in of(told, frames.NoticeFrame)] == [
        "phi-x:7b answers without tools.",
        "The server needs a setting for tools: `--enable-auto-tool-choice --tool-call-parser`.",
    ]
    assert not of(told, frames.QuestionAskedFrame) and of(told, frames.TextDeltaFrame)

    def kept() -> None:
        assert [entry.verdict for entry in refusals()] == ["misconfigured"]
        assert value(profile) == (True, "declared")
        assert missing_flags.servers() == 1

    await in_database(kept)()
    told, _ = await answered(conversation, FLAG, FINE)
    assert [notice.code for notice in of(told, frames.NoticeFrame)] == ["tools_need_setting"]
    assert len(await in_database(refusals)()) == 1, "it is noted once, until it is solved"
    told, bodies = await answered(conversation, FINE)
    assert "tools" in bodies[0] and not of(told, frames.NoticeFrame)
    assert await in_database(missing_flags.servers)() == 0
    await answered(conversation, FLAG, FINE)
    assert len(await in_database(refusals)()) == 2


# P9: what an admin must know does not depend on what is learned about models
@pytest.mark.asyncio
@pytest.mark.parametrize("answers", [(FLAG, FINE), (FLAG, BUSY)])
async def test_a_missing_flag_is_marked_though_nothing_is_learned(
    conversation: Conversation, answers: tuple[Step, ...]
) -> None:
    await in_database(team_settings.put)("runtime_learning", False)
    told, _ = await answered(conversation, *answers)
    assert [notice.code for notice in of(told, frames.NoticeFrame)] == ["tools_need_setting"]
    assert await in_database(missing_flags.servers)() == 1


# D9, F2: a text format that works is better than no tools
@pytest.mark.asyncio
async def test_a_missing_flag_leads_to_the_text_format_that_works(
    conversation: Conversation, profile: ModelProfile
) -> None:
    await in_database(overrides.add)(NewOverride(profile.pk, "format", "hermes", "auto_detected"))
    told, bodies = await answered(conversation, FLAG, FINE)
    assert "tools" not in bodies[1] and "<tool_call>" in json.dumps(bodies[1]["messages"])
    assert [notice.code for notice in of(told, frames.NoticeFrame)] == ["fallback", "flag_to_set"]


# D9: malformed, other
@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("answers", "asked", "reason"),
    [((GARBLED, FINE), 2, "done"), ((GARBLED, GARBLED, FINE), 3, "done"), ((GARBLED,), 3, "failed")],
)
async def test_a_call_the_server_cannot_read_is_asked_for_again(
    conversation: Conversation, answers: tuple[list[Step], ...], asked: int, reason: str
) -> None:
    told, bodies = await answered(conversation, *answers)
    assert len(bodies) == asked and all("tools" in body for body in bodies)
    assert not of(told, frames.QuestionAskedFrame) and not await in_database(refusals)()
    assert await in_database(lambda: conversation.turns.get().status)() == reason


# Two calls, one of which the server could read: neither runs before the model has written both again.
LISTED = {"function": {"name": "list_directory", "arguments": {"path": "."}}}
CALLED = said_line({"role": "assistant", "content": "Let me look.", "tool_calls": [LISTED]})
BROKEN = b'{"error":"XML syntax error on line 14: element <parameter> closed by </function>"}'


@pytest.mark.asyncio
async def test_nothing_runs_twice_after_a_call_was_asked_for_again(conversation: Conversation) -> None:
    told, bodies = await answered(
        conversation, (HEAD, CALLED, chunk(BROKEN), LAST_CHUNK), (HEAD, CALLED, DONE, LAST_CHUNK), FINE
    )
    assert len(bodies) == 3
    assert len(of(told, frames.CallFinishedFrame)) == 1
    assert [message["role"] for message in bodies[2]["messages"]].count("tool") == 1

    def kept() -> None:
        first, *_ = conversation.messages.filter(role="assistant").order_by("pk")
        assert first.content == "Let me look.\n\nLet me look."

    await in_database(kept)()


@pytest.mark.asyncio
async def test_other_errors_teach_nothing(conversation: Conversation) -> None:
    told, _ = await answered(conversation, BUSY)
    assert (
        not of(told, frames.QuestionAskedFrame)
        and not of(told, frames.NoticeFrame)
        and not await in_database(refusals)()
    )


# D9: a confirmed yes
@pytest.mark.asyncio
async def test_a_confirmed_yes_is_tried_each_time_and_noted_once(
    conversation: Conversation, profile: ModelProfile
) -> None:
    for _ in range(2):
        told, bodies = await answered(conversation, REFUSED, FINE, source="user_confirmed")
        assert "tools" in bodies[0] and not of(told, frames.QuestionAskedFrame)

    def kept() -> None:
        assert [entry.verdict for entry in refusals()] == ["contradicted", "refused"]
        assert reviews.needing() == {profile.pk} and value(profile) == (True, "user_confirmed")
        assert holding(profile, "tools").value is True

    await in_database(kept)()


@pytest.mark.asyncio
async def test_a_team_that_does_not_learn_is_not_asked(conversation: Conversation) -> None:
    await in_database(team_settings.put)("runtime_learning", False)
    told, bodies = await answered(conversation, REFUSED, FINE)
    assert "tools" not in bodies[1] and not of(told, frames.QuestionAskedFrame) and not await in_database(refusals)()


@pytest.mark.asyncio
async def test_a_model_may_be_left_out_of_learning(conversation: Conversation, profile: ModelProfile) -> None:  # M5
    await in_database(ModelProfile.objects.filter(pk=profile.pk).update)(options={"learns": False})
    told, _ = await answered(conversation, REFUSED, FINE)
    assert not of(told, frames.QuestionAskedFrame) and not await in_database(refusals)()


# D9: a page without its socket
def test_a_form_answers_as_well(client: Client, conversation: Conversation, profile: ModelProfile) -> None:
    asyncio.run(answered(conversation, REFUSED, FINE))
    question = Question.objects.get()
    client.force_login(conversation.owner)
    page = client.get(f"/chat/{conversation.pk}/messages/").content.decode()
    assert f'id="question-{question.pk}"' in page and "Only this chat" in page
    answer_: Callable[..., Any] = client.post
    assert answer_(f"/questions/{question.pk}/answer/", {"answer": "session"}).content == b"Saved for this chat."
    assert value(profile, session=str(conversation.pk)) == (False, "session")
    assert "already answered" in answer_(f"/questions/{question.pk}/answer/", {"answer": "save"}).content.decode()
