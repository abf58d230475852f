"""A process that loses its turn in mid-answer stops at once: no tool runs, no row changes, nothing more is asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database
from django.conf import settings
from django.db import transaction

from chat.broadcast import frames
from chat.models import Conversation, Message, ToolRun, Turn
from chat.tools import BUILTINS
from chat.tools.tool import ToolContext
from chat.transcript.turns.sent_message import SentMessage
from chat.turns.runner import TurnRunner
from tests.chat.transcript.losses import dump, finished_elsewhere, interrupted, taken
from tests.factories import ConversationFactory, ModelProfileFactory, ServerFactory, UserFactory
from tests.toolsupport.providers.scripted import (
    DONE,
    FINE,
    HANG,
    HEAD,
    LAST_CHUNK,
    Scripted,
    Step,
    answer,
    chunk,
    said,
    scripted,
)
from toolsupport.core.types import JSON, ToolResult
from toolsupport.models import Server
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride

pytestmark = pytest.mark.django_db(transaction=True)
LOSSES = (interrupted, taken, finished_elsewhere)
GROWS = (frames.TextDeltaFrame, frames.ThinkingDeltaFrame, frames.CallDeltaFrame)


@pytest.fixture
def conversation(transactional_db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Conversation:
    """One in which files may be written without a question."""
    monkeypatch.setattr(settings, "WORKSPACES_DIR", tmp_path)
    profile = ModelProfileFactory(server=ServerFactory(name="box"))
    overrides.add(NewOverride(profile.pk, "tools", True))
    made: Conversation = ConversationFactory(owner=UserFactory(role="user", username="alice"), profile=profile)
    made.grants.create(tool="write_file", granted_by=made.owner)
    return made


def call(name: str, arguments: str) -> bytes:
    made = b'{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"%s","arguments":%s}}]},'
    return chunk(made % (name.encode(), arguments.encode()) + b'"done":false}\n')


@dataclass
class Played:
    """What happened to the first answer of a runner: the frames told after it was lost, and the rows of that moment."""

    runner: TurnRunner
    told: list[frames.ServerFrame] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    texts: dict[int, tuple[str, str]] = field(default_factory=dict)
    kept: str = ""
    lost_at: int = 0

    def tell(self, conversation: str, *given: frames.ServerFrame) -> None:
        self.told += given

    @property
    def afterwards(self) -> list[frames.ServerFrame]:
        return self.told[self.lost_at :]

    async def lose(self, loss: Callable[[int], None]) -> None:
        turn = await in_database(Turn.objects.latest)("pk")
        await in_database(loss)(turn.pk)
        self.rows, self.texts = await in_database(dump_and_texts)()
        self.lost_at = len(self.told)

    def is_unchanged(self) -> bool:
        """Whether the rows are as they were, but for the rest of an answer behind what was stored of it."""
        for message, (text, thinking) in texts().items():
            before = self.texts[message]
            assert text.startswith(before[0]) and thinking.startswith(before[1])
            self.kept = self.kept or text.removeprefix(before[0])
            Message.objects.filter(pk=message).update(content=before[0], thinking=before[1])
        return dump() == self.rows

    async def over(self) -> None:
        async with asyncio.timeout(20):
            while self.runner.runs or not any(isinstance(frame, frames.TailFrame) for frame in self.told):
                await asyncio.sleep(0.01)


@asynccontextmanager
async def running(conversation: Conversation, heartbeat: bool = False) -> AsyncIterator[Played]:
    runner = TurnRunner()
    played = Played(runner)
    runner.listeners.tell = played.tell  # type: ignore[method-assign]
    if heartbeat:
        # Without the sweep: it is another process that settles what expired.
        runner.spawn(runner.heartbeat.every(0.05, runner.heartbeat.tick))
    try:
        yield played
    finally:
        await runner.stop()


async def played(conversation: Conversation, loss: Callable[[int], None], *steps: Step, heartbeat: bool = False) -> Any:
    """One answer, in which `steps` come after the turn was lost: (what happened, the server)."""
    async with running(conversation, heartbeat) as found:

        async def lose(_: Scripted) -> None:
            await found.lose(loss)

        begins = () if steps[0].startswith(b"HTTP") else (HEAD, said("Let me"))  # type: ignore[union-attr]
        async with scripted((*begins, lose, *steps), FINE) as server:
            await in_database(Server.objects.update)(base_url=server.endpoint().base_url)
            sent = SentMessage("c1", "write it down")
            await found.runner.begin(conversation.owner_id, str(conversation.pk), sent)
            await found.over()
            if HANG in steps:
                await asyncio.wait_for(server.until_open(0), 5)
        assert len(server.requests) == 1, "the model was asked again"
    assert await in_database(found.is_unchanged)()
    return found


def dump_and_texts() -> tuple[list[str], dict[int, tuple[str, str]]]:
    """Both of one moment: the runner may store the rest of an interrupted answer at any time."""
    with transaction.atomic():
        return dump(), texts()


def texts() -> dict[int, tuple[str, str]]:
    return {row.pk: (row.content, row.thinking) for row in Message.objects.all()}


# S6
@pytest.mark.asyncio
@pytest.mark.parametrize(("loss", "kept"), [(interrupted, True), (taken, False), (finished_elsewhere, False)])
async def test_what_people_saw_of_an_interrupted_answer_is_kept(
    conversation: Conversation, loss: Callable[[int], None], kept: bool
) -> None:
    found = await played(conversation, loss, said(" see."), DONE, LAST_CHUNK)
    assert bool(found.kept) == kept and found.kept in ("", "Let me see.", " see.")


REFUSES = answer(400, b'{"error":"model0:latest does not support tools"}')
WRITES = call("write_file", '{"path":"a.md","content":"x"}')


# SAFETY 2
@pytest.mark.asyncio
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: str(loss.__name__))
@pytest.mark.parametrize(
    "steps",
    [
        pytest.param((WRITES, DONE, LAST_CHUNK), id="asks for a tool"),
        pytest.param((call("nothing", "{}"), DONE, LAST_CHUNK), id="asks for a tool that is none"),
        pytest.param((call("bash", '{"command":"ls"}'), DONE, LAST_CHUNK), id="asks for what a person allows"),
        pytest.param((said(" see."), DONE, LAST_CHUNK), id="ends"),
        pytest.param(REFUSES, id="refuses tools"),
        pytest.param(answer(500, b"{}"), id="fails"),
    ],
)
async def test_a_process_that_lost_its_turn_changes_nothing(
    conversation: Conversation,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    loss: Callable[[int], None],
    steps: tuple[Step, ...],
) -> None:
    found = await played(conversation, loss, *steps)
    assert not [record for record in caplog.records if record.levelname == "ERROR"], "it is no mistake"
    assert not list(tmp_path.rglob("a.md"))
    kinds = {type(frame) for frame in found.afterwards} - set(GROWS)
    # Begun before, and told by the process that had it then; after it only where to look.
    assert kinds == {frames.TailFrame}
    assert isinstance(found.afterwards[-1], frames.TailFrame)


@pytest.mark.asyncio
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: str(loss.__name__))
async def test_the_heartbeat_closes_the_connection_to_the_model(
    conversation: Conversation, loss: Callable[[int], None]
) -> None:
    found = await played(conversation, loss, said(" see"), HANG, heartbeat=True)
    assert isinstance(found.afterwards[-1], frames.TailFrame)


# T11
@pytest.mark.asyncio
async def test_a_tool_that_runs_is_killed_with_its_turn(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, ended = asyncio.Event(), list[str]()

    async def wait(context: ToolContext, arguments: JSON) -> ToolResult:
        began.set()
        try:
            context.say("so far\n")
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            context.say("too late\n")
            ended.append("killed")
            raise
        return ToolResult("never")

    monkeypatch.setitem(BUILTINS, "read_file", replace(BUILTINS["read_file"], run=wait))
    async with (
        running(conversation, heartbeat=True) as found,
        scripted((HEAD, call("read_file", '{"path":"a"}'), DONE, LAST_CHUNK), FINE) as server,
    ):
        await in_database(Server.objects.update)(base_url=server.endpoint().base_url)
        await found.runner.begin(conversation.owner_id, str(conversation.pk), SentMessage("c1", "read it"))
        await asyncio.wait_for(began.wait(), 10)
        await found.lose(interrupted)
        await found.over()
        assert ended == ["killed"] and len(server.requests) == 1
    assert await in_database(found.is_unchanged)()
    assert await in_database(lambda: [run.status for run in ToolRun.objects.all()])() == ["interrupted"]
    # What the tool wrote before may still be on its way; what it wrote when it was killed is not shown.
    outputs = [frame.text for frame in found.afterwards if isinstance(frame, frames.CallOutputFrame)]
    assert outputs in ([], ["so far\n"])
    assert {type(frame) for frame in found.afterwards} <= {frames.TailFrame, frames.CallOutputFrame}
    assert isinstance(found.afterwards[-1], frames.TailFrame)


# T11
@pytest.mark.asyncio
async def test_a_handle_of_a_running_tool_refuses_too(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tool that began in time writes to the rows after its turn was lost: it is not told that this failed."""
    async with running(conversation) as found:

        async def write(context: ToolContext, arguments: JSON) -> ToolResult:
            await found.lose(interrupted)
            assert context.memory is not None
            await context.memory.write("remembered", "")
            return ToolResult("never")

        monkeypatch.setitem(BUILTINS, "read_file", replace(BUILTINS["read_file"], run=write))
        async with scripted((HEAD, call("read_file", '{"path":"a"}'), DONE, LAST_CHUNK), FINE) as server:
            await in_database(Server.objects.update)(base_url=server.endpoint().base_url)
            await found.runner.begin(conversation.owner_id, str(conversation.pk), SentMessage("c1", "read it"))
            await found.over()
            assert len(server.requests) == 1
    assert await in_database(dump)() == found.rows
    assert {type(frame) for frame in found.afterwards} == {frames.TailFrame}
