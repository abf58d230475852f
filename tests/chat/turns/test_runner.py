"""The runner of answers: they stay alive, end when they should, and are never too many."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database
from django.conf import settings
from django.db import DataError, InterfaceError, OperationalError
from django.utils import timezone

from chat.broadcast import frames
from chat.models import Conversation, Question, Turn
from chat.transcript.questions import questions
from chat.transcript.settings import turn_settings
from chat.transcript.settings.turn_settings import ChatRequestContext
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns import end, leases
from chat.transcript.turns.sent_message import SentMessage
from chat.turns import runner as running
from chat.turns.left_turns import LEFT, LeftTurns
from chat.turns.run import TurnRun
from chat.turns.runner import TurnRunner
from tests.chat.started_turns import accept
from tests.factories import ConversationFactory, ModelProfileFactory, ServerFactory, UserFactory
from tests.toolsupport.providers.scripted import DONE, HANG, HEAD, LAST_CHUNK, Step, chunk, said, scripted
from toolsupport.core.errors import Busy
from toolsupport.models import Server
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride

pytestmark = pytest.mark.django_db(transaction=True)
KEEP_ALIVE = leases.keep_alive


@pytest.fixture
def conversation(transactional_db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Conversation:
    monkeypatch.setattr(settings, "WORKSPACES_DIR", tmp_path)
    return in_chat()


def in_chat() -> Conversation:
    made: Conversation = ConversationFactory(
        owner=UserFactory(role="user"), profile=ModelProfileFactory(server=ServerFactory())
    )
    return made


@dataclass
class Answering:
    """A runner, one of whose answers a model server never finishes."""

    runner: TurnRunner
    conversation: Conversation
    told: list[frames.ServerFrame] = field(default_factory=list)
    writes: list[list[type[frames.ServerFrame]]] = field(default_factory=list)

    def tell(self, conversation: str, *given: frames.ServerFrame) -> None:
        self.told += given
        self.writes.append([type(frame) for frame in given])

    async def ask(self) -> None:
        sent = SentMessage("c1", "tell me")
        await self.runner.begin(self.conversation.owner_id, str(self.conversation.pk), sent)
        await until(lambda: any(isinstance(frame, frames.TextDeltaFrame) for frame in self.told))

    async def turn(self) -> Turn:
        found: Turn = await in_database(Turn.objects.latest)("pk")
        return found


@asynccontextmanager
async def answering(conversation: Conversation, *rest: Step) -> AsyncIterator[Answering]:
    """`rest` is how the server goes on after its first words: without it, never."""
    runner = TurnRunner()
    found = Answering(runner, conversation)
    runner.listeners.tell = found.tell  # type: ignore[method-assign]
    runner.start()
    try:
        async with scripted((HEAD, said("Let me"), *(rest or (HANG,)))) as server:
            await in_database(Server.objects.update)(base_url=server.endpoint().base_url)
            await found.ask()
            yield found
            await runner.stop()
    finally:
        await runner.stop()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.005)


class Failing:
    """The write of the heartbeat, which fails as often as it is told to; `renewed` counts renewals of leases."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.errors: list[Exception] = []
        self.renewed = 0
        monkeypatch.setattr(leases, "keep_alive", self)
        monkeypatch.setattr(running, "TICK", 0.01)

    def __call__(self, *given: Any) -> Any:
        if self.errors:
            raise self.errors.pop()
        found = KEEP_ALIVE(*given)
        self.renewed += given[3]
        return found


# SAFETY 2: one failed write is no reason to lose an answer.
@pytest.mark.asyncio
@pytest.mark.parametrize(
    "error",
    [
        OperationalError("database is locked"),
        InterfaceError("connection already closed"),
        DataError("out of range"),
        RuntimeError("a mistake of ours"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_the_heartbeat_survives_an_error(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    heartbeat = Failing(monkeypatch)
    async with answering(conversation) as found:
        await in_database(Turn.objects.update)(lease_until=timezone.now() - timedelta(hours=1))
        heartbeat.errors = [error, error]
        await until(lambda: not heartbeat.errors)
        renewed = heartbeat.renewed
        await until(lambda: heartbeat.renewed > renewed)
        turn = await found.turn()
        assert turn.lease_until is not None and turn.lease_until > timezone.now()
        assert len(found.runner.runs) == 1


@pytest.mark.asyncio
async def test_all_that_begins_a_turn_is_sent_in_one_write(conversation: Conversation) -> None:
    async with answering(conversation) as found:
        assert found.writes[0] == [frames.MessageStartedFrame, frames.TurnStartedFrame, frames.MessageStartedFrame]


@pytest.mark.asyncio
async def test_a_turn_whose_end_is_being_written_is_not_called_lost(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    reached, written, write = threading.Event(), threading.Event(), end.end

    def slow(store: TurnStore, outcome: end.TurnOutcome) -> end.TurnEnd:
        ended = write(store, outcome)
        reached.set()
        assert written.wait(20)
        return ended

    monkeypatch.setattr(end, "end", slow)
    async with answering(conversation, DONE, LAST_CHUNK) as found:
        assert await asyncio.to_thread(reached.wait, 20)
        # What the heartbeat does with a turn of its own that it no longer finds running.
        [turn] = found.runner.runs
        found.runner.cancel(turn, "lost")
        written.set()
        await until(lambda: not found.runner.runs)
    assert any(isinstance(frame, frames.TurnEndedFrame) and frame.reason == "done" for frame in found.told)
    assert "another process" not in caplog.text


WRITES = chunk(
    b'{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"write_file",'
    b'"arguments":{"path":"a.md","content":"x"}}}]},"done":false}\n'
)


@pytest.fixture
def parking(conversation: Conversation, monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """A turn that needs an approval: events for "the approval is stored" and "its task may continue"."""
    overrides.add(NewOverride(conversation.profile_id or 0, "tools", True))
    stored, left, park = threading.Event(), threading.Event(), questions.park

    def slow(*given: Any) -> Any:
        announced = park(*given)
        stored.set()
        assert left.wait(20)
        return announced

    monkeypatch.setattr(questions, "park", slow)
    return stored, left


# The heartbeat may find a turn that has just begun to wait for a person before its own task continues.
@pytest.mark.asyncio
@pytest.mark.parametrize("whys", [("stopped",), ("lost", "stopped"), ("kept_out",)], ids=" then ".join)
async def test_a_stop_while_an_approval_is_stored_ends_the_turn(
    conversation: Conversation, parking: tuple[threading.Event, threading.Event], whys: tuple[str, ...]
) -> None:
    stored, left = parking
    async with answering(conversation, WRITES, DONE, LAST_CHUNK) as found:
        assert await asyncio.to_thread(stored.wait, 20)
        [turn] = found.runner.runs
        for why in whys:
            found.runner.cancel(turn, why)
        left.set()
        await until(lambda: not found.runner.runs)
        ended = await found.turn()
        assert (ended.status, ended.reason) == ("stopped", running.ENDS[whys[-1]][1])
        assert not await in_database(Question.objects.filter(answer="").exists)()
        assert any(isinstance(frame, frames.TurnEndedFrame) for frame in found.told)


@pytest.mark.asyncio
async def test_an_approval_that_is_stored_while_the_server_stops_waits_for_its_person(
    conversation: Conversation, parking: tuple[threading.Event, threading.Event]
) -> None:
    stored, left = parking
    async with answering(conversation, WRITES, DONE, LAST_CHUNK) as found:
        assert await asyncio.to_thread(stored.wait, 20)
        [turn] = found.runner.runs
        found.runner.cancel(turn, "interrupted")
        left.set()
        await until(lambda: not found.runner.runs)
        assert (await found.turn()).status == "waiting"


# C5: the page that stops an answer may be open in another process.
@pytest.mark.asyncio
async def test_a_stop_in_the_rows_stops_the_answer(conversation: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "TICK", 0.01)
    async with answering(conversation) as found:
        await in_database(Turn.objects.update)(stop_requested_at=timezone.now())
        await until(lambda: not found.runner.runs)
        assert (await found.turn()).status == "stopped"


@pytest.mark.asyncio
async def test_a_process_takes_no_more_answers_than_it_may(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "ENV", {**settings.ENV, "TOOLSUPPORT_RUNNING_TURNS": 2})
    async with answering(conversation) as found:
        found.runner.check_room()  # for a second one
        monkeypatch.setattr(settings, "ENV", {**settings.ENV, "TOOLSUPPORT_RUNNING_TURNS": 1})
        other = await in_database(in_chat)()
        with pytest.raises(Busy) as refused:
            await found.runner.begin(other.owner_id, str(other.pk), SentMessage("c2", "me too"))
        assert refused.value.limit == "process"
        assert not await in_database(other.messages.exists)()


# O4
@pytest.mark.asyncio
async def test_a_process_that_ends_takes_nothing_new_and_says_what_broke_off(conversation: Conversation) -> None:
    async with answering(conversation) as found:
        await found.runner.drain(0)
        assert (await found.turn()).status == "interrupted"
        assert found.runner.runs == {}
        with pytest.raises(Busy) as refused:
            found.runner.check_room()
        assert refused.value.limit == "stopping"


# O4
@pytest.mark.asyncio
async def test_a_process_that_ends_does_not_wait_for_html(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(_: TurnRun) -> str:
        await asyncio.Event().wait()
        return ""

    monkeypatch.setattr(TurnRun, "html", never)
    async with answering(conversation) as found:
        await found.runner.drain(0)
        assert (await found.turn()).status == "interrupted"


# C2: what waited for a person goes on in whichever process reads the answer, and only there it shows that it cannot.
@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda patch: Server.objects.update(removed_at=timezone.now()), "The server of this model was removed."),
        (lambda patch: Server.objects.update(api_key="of another key"), "The stored API key cannot be read"),
        (lambda patch: patch.setattr(turn_settings, "prepared", broken), "The server failed."),
    ],
    ids=["removed", "unreadable", "mistake"],
)
async def test_a_queued_answer_that_cannot_begin_ends_and_holds_up_no_other(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[pytest.MonkeyPatch], Any], words: str
) -> None:
    first = await in_database(queued)(conversation)
    runner, told = TurnRunner(), list[frames.ServerFrame]()
    runner.listeners.tell = lambda _, *given: told.extend(given)  # type: ignore[method-assign]
    await in_database(spoil)(monkeypatch)
    await runner.heartbeat.sweep()
    turn = await in_database(Turn.objects.get)(pk=first)
    [ended] = [frame for frame in told if isinstance(frame, frames.TurnEndedFrame)]
    assert (turn.status, ended.turn, ended.reason) == ("failed", first, "failed")
    assert words in ended.detail and await in_database(leases.settle)() == ([], [])


class Peers:
    """Other processes, to which nothing is sent."""

    def tell(self, conversation: str, frame: frames.ServerFrame) -> None:
        pass


# Keys change one process after another.
@pytest.mark.asyncio
async def test_a_queued_answer_whose_key_only_others_can_read_is_left_to_them(conversation: Conversation) -> None:
    first, now = await in_database(queued)(conversation), [0.0]
    runner = TurnRunner()
    runner.peers, runner._left = Peers(), LeftTurns(lambda: now[0])  # type: ignore[assignment]
    await in_database(Server.objects.update)(api_key="of another key")
    for now[0] in (0.0, 1.0, LEFT - 1):
        await runner.heartbeat.sweep()
        assert await in_database(leases.settle)() == ([], [first])
    now[0] = LEFT
    await runner.heartbeat.sweep()
    turn = await in_database(Turn.objects.get)(pk=first)
    assert turn.status == "failed" and "cannot be read" in turn.reason


# SAFETY 2: a stop may arrive before the task of an answer has run at all.
@pytest.mark.asyncio
async def test_an_answer_that_is_stopped_before_its_first_step_ends(conversation: Conversation) -> None:
    runner = TurnRunner()
    first = await in_database(queued)(conversation)
    await runner.wake(first)
    assert runner.stop_turn_of(conversation.owner_id, str(conversation.pk))
    await until(lambda: not runner.runs)
    assert (await in_database(Turn.objects.get)(pk=first)).status == "stopped"
    await runner.stop()


def queued(conversation: Conversation) -> int:
    """A turn that has waited long enough for any process to begin it."""
    turn = accept(conversation.owner, str(conversation.pk), SentMessage("c1", "hello")).turn
    Turn.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    return turn


def broken(_: Conversation) -> ChatRequestContext:
    raise ZeroDivisionError
