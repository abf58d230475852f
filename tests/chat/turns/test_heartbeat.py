"""The heartbeat continues after errors, shows once that nothing can be written, and follows the rows."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError

from chat.broadcast import frames, storage_notice
from chat.transcript.questions import questions
from chat.transcript.questions.questions import ClosedQuestion
from chat.transcript.turns import leases
from chat.transcript.turns.end import TurnEnd
from chat.transcript.turns.leases import Heartbeat
from chat.turns import heartbeat
from chat.turns.heartbeat import TurnHeartbeat
from chat.turns.live_reply import LiveReply
from toolsupport.core.events import TextDelta
from toolsupport.registry import storage


class Owner:
    """A runner of two turns, of which the first writes."""

    owner = "me"
    accepting = True

    def __init__(self) -> None:
        self.reply = LiveReply(lambda _: None, 7)
        still = LiveReply(lambda _: None, 8)
        runs = {1: self.reply, 2: still}
        self.runs: Any = {
            turn: SimpleNamespace(
                reply=reply, claimed=SimpleNamespace(turn=turn, conversation=str(turn), person=10 * turn)
            )
            for turn, reply in runs.items()
        }
        self.cancelled: list[tuple[int, str]] = []
        self.told: list[frames.ServerFrame] = []
        self.swept: list[tuple[str, Any]] = []

    def cancel(self, turn_id: int, why: str) -> None:
        self.cancelled.append((turn_id, why))

    def tell_pages(self, frame: frames.ServerFrame) -> None:
        self.told.append(frame)

    def announce_ends(self, ended: Iterable[TurnEnd]) -> None:
        self.swept.append(("ended", list(ended)))

    async def go_on(self, closed: ClosedQuestion) -> None:
        self.swept.append(("closed", closed))

    async def wake(self, turn_id: int) -> None:
        self.swept.append(("woken", turn_id))


def locked() -> OperationalError:
    """As Django raises it."""
    error, cause = OperationalError("locked"), sqlite3.OperationalError("locked")
    cause.sqlite_errorcode = sqlite3.SQLITE_BUSY
    error.__cause__ = cause
    return error


@pytest.fixture
def owner() -> Owner:
    return Owner()


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[int], list[tuple[int, str, str]], bool]]:
    """What is written; the rows answer that turn 1 is to be stopped and turn 2 is lost."""
    found: list[tuple[str, list[int], list[tuple[int, str, str]], bool]] = []

    def keep_alive(owner: str, turns: list[int], texts: list[tuple[int, str, str]], renew: bool) -> Heartbeat:
        found.append((owner, turns, texts, renew))
        return Heartbeat(lost=frozenset({2}), stop=frozenset({1}))

    monkeypatch.setattr(leases, "keep_alive", keep_alive)
    monkeypatch.setattr(heartbeat, "in_database", in_this_thread)
    return found


def in_this_thread(work: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    async def run(*args: Any) -> Any:
        return work(*args)

    return run


@pytest.mark.asyncio
async def test_text_is_written_at_every_tick_and_all_leases_at_every_fourth(owner: Owner, kept: list[Any]) -> None:
    beat = TurnHeartbeat(owner)
    owner.reply.add_text(TextDelta("So"))
    for _ in range(4):
        await beat.tick()
    assert kept == [("me", [1], [(7, "So", "")], False), ("me", [1, 2], [], True)]
    assert not owner.reply.grew
    assert owner.cancelled == [(2, "lost"), (1, "stopped")] * 2


@pytest.mark.asyncio
async def test_what_could_not_be_written_is_tried_again(
    owner: Owner, kept: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    ordinary = leases.keep_alive

    def fails(*_: object) -> Heartbeat:
        raise OperationalError("disk full")

    owner.reply.add_text(TextDelta("So"))
    beat = TurnHeartbeat(owner)
    monkeypatch.setattr(leases, "keep_alive", fails)
    with pytest.raises(OperationalError):
        await beat.tick()
    assert owner.reply.grew
    monkeypatch.setattr(leases, "keep_alive", ordinary)
    await beat.tick()
    assert kept == [("me", [1], [(7, "So", "")], False)]


@pytest.mark.asyncio
async def test_a_renewal_that_failed_is_tried_again_at_the_next_tick(
    owner: Owner, kept: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    ordinary, beat = leases.keep_alive, TurnHeartbeat(owner)

    def fails(*_: object) -> Heartbeat:
        raise OperationalError("locked")

    for _ in range(3):
        await beat.tick()
    monkeypatch.setattr(leases, "keep_alive", fails)
    with pytest.raises(OperationalError):
        await beat.tick()
    monkeypatch.setattr(leases, "keep_alive", ordinary)
    await beat.tick()
    assert kept == [("me", [1, 2], [], True)]
    for _ in range(3):
        await beat.tick()
    assert len(kept) == 1


@pytest.mark.asyncio
async def test_errors_do_not_end_it_and_pages_are_told_once_until_it_works_again(
    owner: Owner, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "state", storage.StorageState())
    done, errors = asyncio.Event(), [locked(), locked(), KeyError("mistake")]

    async def work() -> None:
        if errors:
            raise errors.pop(0)
        done.set()

    task = asyncio.create_task(TurnHeartbeat(owner).every(0.001, work))
    await asyncio.wait_for(done.wait(), 10)
    task.cancel()
    assert owner.told == [storage_notice.frame_of("the database is locked")]
    lines = [record.getMessage() for record in caplog.records]
    assert lines == [
        "could not write running answers, retrying: locked",
        "heartbeat of running answers failed, continuing",
    ]


@pytest.mark.asyncio
@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
async def test_a_lost_connection_is_a_failed_write_like_any_other(
    owner: Owner, kept: list[Any], error: type[Exception], monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    def fails(*_: object) -> Heartbeat:
        raise error("the connection is closed")

    monkeypatch.setattr(leases, "keep_alive", fails)
    monkeypatch.setattr(heartbeat, "UNSAVED", 1)
    monkeypatch.setattr(storage, "state", storage.StorageState())
    owner.reply.add_text(TextDelta("So it was"))
    beat = TurnHeartbeat(owner)
    task = asyncio.create_task(beat.every(0.05, beat.tick))
    async with asyncio.timeout(10):
        while (1, "unsaved") not in owner.cancelled:
            await asyncio.sleep(0.001)
    task.cancel()
    assert caplog.messages == ["could not write running answers, retrying: the connection is closed"]


@pytest.mark.asyncio
@pytest.mark.parametrize("accepting", [True, False])
async def test_a_sweep_closes_what_expired_and_takes_what_others_left(
    owner: Owner, monkeypatch: pytest.MonkeyPatch, accepting: bool
) -> None:
    monkeypatch.setattr(heartbeat, "in_database", in_this_thread)
    monkeypatch.setattr(heartbeat, "kept_out", lambda people: {20} & people)
    monkeypatch.setattr(questions, "expire", lambda: ["question"])
    monkeypatch.setattr(leases, "settle", lambda running, only: (["turn", running], [9]))
    owner.accepting = accepting
    await TurnHeartbeat(owner).sweep()
    assert owner.cancelled == [(2, "kept_out")]
    woken = [("woken", 9)] if accepting else []
    assert owner.swept == [("closed", "question"), ("ended", ["turn", [1, 2]]), *woken]
