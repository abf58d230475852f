"""A running turn shows calls while they are written, and stops after a withdrawn permission."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database
from django.contrib.auth.models import User

from chat.broadcast import frames
from chat.models import Conversation
from chat.tools.files.workspace import Workspace
from chat.tools.tool import ToolContext
from chat.transcript.conversations import prompts
from chat.transcript.conversations.prompts import PromptDraft
from chat.transcript.settings.prompt_context import PromptContext
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns.sent_message import SentMessage
from chat.turns.events import TurnEvent, joined
from chat.turns.live_reply import SendFrame
from chat.turns.run import TurnRun
from tests.chat.started_turns import accept
from tests.factories import ConversationFactory
from toolsupport.core.events import CallDelta, TextDelta
from toolsupport.core.types import Capabilities, RequestSpec, ToolCall

REQUEST_SPEC = RequestSpec("m", Capabilities({}))


def running(
    granted: frozenset[str] = frozenset(),
    conversation: str = "",
    where: Path = Path(),
    tell: SendFrame = lambda _: None,
) -> TurnRun:
    claimed: Any = SimpleNamespace(
        prepared=SimpleNamespace(
            request_spec=REQUEST_SPEC,
            counts=None,
            usable=frozenset({"write_file"}),
            prompt_parts=PromptContext(),
            remotes=(),
        ),
        resumed=None,
        store=TurnStore("me", 0),
        person=1,
        granted=granted,
        conversation=conversation,
        history=(),
        received=frozenset(),
        reply=0,
    )
    return TurnRun(claimed, ToolContext(Workspace(where, 10**6)), tell)


# C1, F10
def test_pieces_of_a_call_are_told_with_their_offset() -> None:
    told: list[frames.ServerFrame] = []
    run = running(tell=told.append)
    run.reply.message = 7
    events = [
        CallDelta("a", "write_file", '{"p": "😀'),
        CallDelta("b", "bash", "{}"),
        CallDelta("a", "write_file", '"}'),
    ]

    async def handle() -> None:
        for event in events:
            await run._handle(event)

    asyncio.run(handle())
    assert told == [
        frames.CallDeltaFrame(7, "a", "write_file", 0, '{"p": "😀'),
        frames.CallDeltaFrame(7, "b", "bash", 0, "{}"),
        frames.CallDeltaFrame(7, "a", "write_file", 9, '"}'),
    ]


def test_pieces_of_one_call_are_joined_and_those_of_two_are_not() -> None:
    batch: list[TurnEvent] = [
        CallDelta("a", "f", "1"),
        CallDelta("a", "f", "2"),
        CallDelta("b", "f", "3"),
        TextDelta("x"),
    ]
    assert joined(batch) == [CallDelta("a", "f", "12"), CallDelta("b", "f", "3"), TextDelta("x")]


WRITE = ToolCall("c1", "write_file", {"path": "a.md", "content": "x"})


@pytest.fixture
def conversation(transactional_db: None) -> Conversation:
    return ConversationFactory()


async def wrote(conversation: Conversation, where: Path) -> tuple[str, bool]:
    """Let a turn that began with a permission write a file: (how it ended, whether a person is asked next time)."""
    run = running(frozenset({"write_file"}), str(conversation.pk), where)
    outcome = await run.executor.run(WRITE)
    return outcome.status, run.executor.decide(WRITE) == "ask"


# T11
@pytest.mark.asyncio
async def test_a_permission_taken_back_in_mid_turn_counts_at_once(conversation: Conversation, tmp_path: Path) -> None:
    def grant() -> Any:
        owner: User = conversation.owner
        return conversation.grants.create(tool="write_file", granted_by=owner)

    assert await wrote(conversation, tmp_path / "without") == ("denied", True)
    assert not (tmp_path / "without" / "a.md").exists()
    await in_database(grant)()
    assert await wrote(conversation, tmp_path / "with") == ("done", False)
    assert (tmp_path / "with" / "a.md").read_text() == "x"


# T3
@pytest.mark.asyncio
async def test_after_a_swap_of_prompts_the_next_question_begins_otherwise(conversation: Conversation) -> None:
    def begin() -> TurnRun:
        prompts.write(conversation.owner, PromptDraft("brief", "", "Be brief."))
        claimed = accept(conversation.owner, str(conversation.pk), SentMessage("1", "hi"), "me").claimed
        assert claimed is not None
        return TurnRun(claimed, CONTEXT, lambda _: None)

    run = await in_database(begin)()
    assert run.executor.context.prompts is not None
    await run.executor.context.prompts.choose(["brief"])
    for name, told in (("read_file", False), ("hot_swap", True)):
        await run._refresh_request(name)
        assert run.prepared.request_spec.system.endswith("Be brief.") is told


CONTEXT = ToolContext(Workspace(Path(), 10**6))
