"""A chat asks again under a schema after a call that cannot be used, and after one that its server cannot read."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database
from django.conf import settings

from chat.models import Conversation, Message, ToolRun, Turn
from chat.transcript.messages.view_models import ShownUsage
from chat.transcript.settings import turn_settings
from chat.transcript.turns import resume
from chat.transcript.turns.sent_message import SentMessage
from chat.turns.runner import TurnRunner
from tests.factories import ConversationFactory, ModelProfileFactory, ServerFactory, UserFactory
from tests.toolsupport.gateway.test_constrained import native, says
from tests.toolsupport.providers.scripted import Scripted, Step, scripted
from toolsupport.models import Server
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride

pytestmark = pytest.mark.django_db(transaction=True)
UNREADABLE = b'{"error": {"message": "Failed to parse tool call arguments as JSON", "code": 500}}'
GARBLED: list[Step] = [
    b"HTTP/1.1 500 Error\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(UNREADABLE) + UNREADABLE
]
FORCED = says({"content": '{"tool": "list_directory", "arguments": {"path": "."}}'})
ANSWER = says({"content": "It is empty."})


@pytest.fixture
def conversation(transactional_db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Conversation:
    monkeypatch.setattr(settings, "WORKSPACES_DIR", tmp_path)
    profile = ModelProfileFactory(server=ServerFactory(kind="vllm"), name="m")
    made: Conversation = ConversationFactory(owner=UserFactory(role="user"), profile=profile)
    for name, value in {"tools": True, "constrains": "enforced"}.items():
        overrides.add(NewOverride(profile.pk, name, value, actor=made.owner_id, reason="For this test."))
    return made


async def answered(conversation: Conversation, *replies: list[Step]) -> tuple[Turn, list[dict[str, Any]]]:
    """The turn of one question whose server answers so, and the requests to it."""
    runner, ended = TurnRunner(), asyncio.Event()

    def tell(conversation: str, *given: Any) -> None:
        if any(frame.type == "turn.ended" for frame in given):
            ended.set()

    runner.listeners.tell = tell  # type: ignore[method-assign]
    runner.start()
    try:
        async with scripted(*replies) as server, asyncio.timeout(20):
            await in_database(Server.objects.update)(base_url=base_of(server))
            await runner.begin(conversation.owner_id, str(conversation.pk), SentMessage("c1", "What is here?"))
            await ended.wait()
            return await in_database(Turn.objects.latest)("pk"), server.bodies
    finally:
        await runner.stop()


def base_of(server: Scripted) -> str:
    return f"http://127.0.0.1:{server.port}"


def held() -> tuple[list[str], list[str]]:
    """The codes of the notices, and the results of calls by status."""
    notices = Message.objects.filter(role="notice").values_list("code", flat=True)
    calls = [call for message in Message.objects.exclude(calls=[]) for call in message.calls]
    return list(notices), [json.dumps(call.get("arguments")) for call in calls]


@pytest.mark.asyncio
async def test_a_call_that_does_not_fit_is_asked_for_again(conversation: Conversation) -> None:  # K3
    turn, bodies = await answered(conversation, native('{"way": []}'), FORCED, ANSWER)
    assert turn.status == "done", turn.reason
    assert [("tools" in body, "response_format" in body) for body in bodies] == [
        (True, False),
        (False, True),
        (True, False),
    ]
    assert ShownUsage.of(turn.usage).constrained == ("list_directory",)
    notices, _ = await in_database(held)()
    assert "constrained_retry" not in notices


@pytest.mark.asyncio
async def test_a_call_that_its_server_cannot_read_is_asked_for_again(conversation: Conversation) -> None:  # K3
    turn, bodies = await answered(conversation, GARBLED, FORCED, ANSWER)
    assert turn.status == "done", turn.reason
    assert [("tools" in body, "response_format" in body) for body in bodies[:2]] == [(True, False), (False, True)]


REFUSAL = b'{"error": {"message": "The response_format schema has too many states", "code": 400}}'
REFUSED: list[Step] = [
    b"HTTP/1.1 400 Error\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(REFUSAL) + REFUSAL
]


@pytest.mark.asyncio
async def test_a_refused_schema_is_left_out_for_the_rest_of_the_turn(conversation: Conversation) -> None:  # K3
    right, wrong = native('{"path": "."}'), native('{"way": []}')
    turn, bodies = await answered(conversation, wrong, REFUSED, right, wrong, right, ANSWER)
    assert turn.status == "done", turn.reason
    constrained = [("tools" in body, "response_format" in body) for body in bodies]
    assert constrained == [(True, False), (False, True), *[(True, False)] * 4]


HELD = {"tools": False, "format": "forced_json", "constrains": "enforced"}
HERMES = says({"content": '<tool_call>\n{"name": "list_directory", "arguments": {"path": "."}}\n</tool_call>'})
DIRECT = says({"content": '{"answer": "It is empty."}'})


def now_known(conversation: Conversation, known: dict[str, Any], **options: Any) -> None:
    assert conversation.profile is not None
    for name, value in known.items():
        overrides.add(
            NewOverride(conversation.profile.pk, name, value, actor=conversation.owner_id, reason="For this test.")
        )
    if options:
        conversation.profile.options = {**conversation.profile.options, **options}
        conversation.profile.save()


def notices() -> list[tuple[str, Any]]:
    return list(Message.objects.filter(role="notice").values_list("code", "facts"))


def formats() -> list[tuple[str, str, str]]:
    return list(ToolRun.objects.order_by("pk").values_list("name", "format", "status"))


@pytest.mark.asyncio
async def test_a_simpler_schema_is_kept_for_the_turn(conversation: Conversation) -> None:  # K2
    await in_database(now_known)(conversation, HELD)
    turn, bodies = await answered(conversation, REFUSED, FORCED, DIRECT)
    assert turn.status == "done", turn.reason
    first, second, third = (json.dumps(body["response_format"]) for body in bodies)
    assert len(second) < len(first) and len(third) < len(first)
    assert await in_database(formats)() == [("list_directory", "forced_json", "done")]
    assert await in_database(notices)() == []


@pytest.mark.asyncio
async def test_a_model_that_needs_the_refused_schema_goes_on_in_text(conversation: Conversation) -> None:  # K2
    await in_database(now_known)(conversation, HELD)
    turn, bodies = await answered(conversation, REFUSED, REFUSED, HERMES, ANSWER)
    assert (turn.status, turn.format) == ("done", "hermes"), turn.reason
    assert ["response_format" in body for body in bodies] == [True, True, False, False]
    assert await in_database(formats)() == [("list_directory", "hermes", "done")]
    [(code, facts)] = await in_database(notices)()
    assert code == "fallback" and facts["fallback"] == "Hermes"
    assert "The response_format schema has too many states" in facts["failed"] and "127.0.0.1" not in facts["failed"]


@pytest.mark.parametrize("known", [HELD, {"tools": True}])
def test_a_turn_that_waited_goes_on_in_the_format_it_fell_back_to(
    conversation: Conversation, known: dict[str, Any]
) -> None:  # K2
    """A person's answer, or tools found meanwhile, do not make its server refuse the same request again."""
    now_known(conversation, known)
    prepared, profile = turn_settings.prepared(conversation), conversation.profile
    assert profile is not None
    turn = Turn.objects.create(
        conversation=conversation, profile=profile, client_id="c1", status="waiting", format="hermes"
    )
    assert prepared.request_spec.format != "hermes" and prepared.request_spec.if_refused == "hermes"
    assert resume.gone_on(turn, prepared).request_spec.format == "hermes"


@pytest.mark.asyncio
async def test_a_server_that_ignores_the_schema_is_asked_in_text(conversation: Conversation) -> None:  # K1, K2
    await in_database(now_known)(conversation, HELD)
    garbled = says({"content": '```json\n{"tool": "list_directory", "arguments": {"way": 1}}\n```'})
    turn, bodies = await answered(conversation, garbled, HERMES, ANSWER)
    assert turn.status == "done", turn.reason
    assert ["response_format" in body for body in bodies] == [True, False, False]
    assert [(name, format_) for name, format_, status in await in_database(formats)() if status == "done"] == [
        ("list_directory", "hermes")
    ]
    [(code, facts)] = await in_database(notices)()
    assert code == "fallback" and "did not enforce it" in facts["failed"]


@pytest.mark.asyncio
async def test_a_constrained_misfit_is_tried_once_more_under_a_narrow_schema(conversation: Conversation) -> None:  # K3
    await in_database(now_known)(conversation, HELD)
    misfit = says({"content": '{"tool": "list_directory", "arguments": {"path": 7.5, "way": []}}'})
    turn, bodies = await answered(conversation, misfit, FORCED, DIRECT)
    assert turn.status == "done", turn.reason
    first, second, third = (json.dumps(body["response_format"]) for body in bodies)
    assert "read_file" in first and "answer" in first
    assert "read_file" not in second and "answer" not in second
    assert third == first
    assert ShownUsage.of(turn.usage).constrained == ("list_directory",)


@pytest.mark.asyncio
async def test_a_required_call_of_an_unknown_tool_is_required_again(conversation: Conversation) -> None:  # K4
    await in_database(lambda: Server.objects.update(kind="llamacpp"))()
    await in_database(now_known)(conversation, {}, tool_choice="required")
    other = says({"content": '{"tool": "no_such_tool", "arguments": {}}'})
    turn, bodies = await answered(conversation, other, FORCED, ANSWER)
    assert turn.status == "done", turn.reason
    assert "answer" not in json.dumps(bodies[1]["response_format"])
    assert [format_ for _, format_, status in await in_database(formats)() if status == "done"] == ["forced_json"]
