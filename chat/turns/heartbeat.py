"""Keeps the turns of this process alive in their rows, and settles those that other processes abandoned."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Protocol

from channels.db import database_sync_to_async as in_database
from django.db import Error

from chat.broadcast import frames, storage_notice
from chat.transcript.people.socket_permissions import kept_out
from chat.transcript.questions import questions
from chat.transcript.questions.questions import ClosedQuestion
from chat.transcript.turns import leases
from chat.transcript.turns.end import TurnEnd
from chat.turns.run import TurnRun
from toolsupport.registry import storage
from toolsupport.services import serve_lock

log = logging.getLogger(__name__)

# Text must be on the disk half a second after its arrival, 0.1 s of which is for writing it.
TICK = 0.4
TICKS_PER_HEARTBEAT = 4
# Characters of all answers of a process that wait to be written; beyond it the longest is stopped.
UNSAVED = 16 * 1024 * 1024
LOCK_WAIT = 1.0  # seconds


class TurnOwner(Protocol):
    """The interface of the runner for the heartbeat."""

    owner: str
    accepting: bool

    @property
    def runs(self) -> Mapping[int, TurnRun]: ...

    def cancel(self, turn_id: int, why: str) -> None: ...

    def tell_pages(self, frame: frames.ServerFrame) -> None: ...

    def announce_ends(self, ended: Iterable[TurnEnd]) -> None: ...

    async def go_on(self, closed: ClosedQuestion) -> None: ...

    async def wake(self, turn_id: int) -> None: ...


class TurnHeartbeat:
    """The heartbeat of one process: `tick` stores grown texts and renews leases, `sweep` closes expired items."""

    def __init__(self, runner: TurnOwner) -> None:
        self._runner = runner
        self._ticks = 0
        self._shown, self._complained = "", False

    async def every(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        """Repeat a job at an interval. Ends only by being cancelled."""
        now = asyncio.get_running_loop().time
        due = now()
        while True:
            # By the clock, not by the end of the last run: the duration of a write must not delay the next one.
            due = max(due + seconds, now())
            await asyncio.sleep(due - now())
            try:
                await work()
            except Error as error:
                self.cannot_write(error)
            except Exception:
                log.exception("heartbeat of running answers failed, continuing")

    def cannot_write(self, error: Exception) -> None:
        """Record a failed write and show the pages why; log it once until it works again."""
        storage.state.failed(error)
        if not self._complained:
            log.error("could not write running answers, retrying: %s", error)
        self._complained = True
        self.show_storage()

    def show_storage(self) -> None:
        """Show every page of this process when it cannot be saved, and when it can again."""
        reason = storage.state.reason
        if reason == self._shown:
            return
        if not reason:
            log.info("can write again; what had to wait is saved")
        self._shown = reason
        self._runner.tell_pages(storage_notice.frame_of(reason))

    async def tick(self) -> None:
        """Store grown texts; at every fourth tick renew all leases. Read which turns are lost or should stop.

        A renewal that failed is tried again at the next tick.
        """
        self._ticks += 1
        everyone = self._ticks >= TICKS_PER_HEARTBEAT
        try:
            await self._keep_alive(everyone)
        except Error:
            self._limit_unsaved()
            raise
        if everyone:
            self._ticks = 0

    async def _keep_alive(self, everyone: bool) -> None:
        runs = self._runner.runs
        grown = [run for run in runs.values() if run.reply.grew]
        held = list(runs) if everyone else [run.claimed.turn for run in grown]
        if not held:
            return
        replies = [run.reply for run in grown]
        texts = [(reply.message, reply.text.text, reply.thinking.text) for reply in replies]
        lengths = [(live, live.length) for reply in replies for live in (reply.text, reply.thinking)]
        pulse = await in_database(leases.keep_alive)(self._runner.owner, held, texts, everyone)
        # Only after success: text that could not be written is tried again at the next tick.
        self._complained = False
        if grown:
            storage.state.succeeded()
            self.show_storage()
        for live, length in lengths:
            live.written = max(live.written, length)
        for turn_id in pulse.lost:
            self._runner.cancel(turn_id, "lost")
        for turn_id in pulse.stop:
            self._runner.cancel(turn_id, "stopped")

    def _limit_unsaved(self) -> None:
        """Stop the longest answer when too much text waits to be written."""
        growing = {turn: unsaved(run) for turn, run in self._runner.runs.items()}
        if sum(growing.values()) > UNSAVED:
            self._runner.cancel(max(growing, key=lambda turn: growing[turn]), "unsaved")

    async def sweep(self) -> None:
        """Close expired questions, settle abandoned turns, stop turns of people without permission."""
        if storage.state.reason:
            await in_database(storage.state.check)()
            self.show_storage()
            return
        runner, began = self._runner, time.monotonic()
        people = {turn_id: run.claimed.person for turn_id, run in runner.runs.items()}
        out = await in_database(kept_out)(set(people.values())) if people else ()
        for turn_id, person in people.items():
            if person in out:
                runner.cancel(turn_id, "kept_out")
        for closed in await in_database(questions.expire)():
            await runner.go_on(closed)
        if time.monotonic() - began > LOCK_WAIT:
            storage.state.waited()
        only = runner.owner if serve_lock.alone() else ""
        ended, queued = await in_database(leases.settle)(list(runner.runs), only)
        runner.announce_ends(ended)
        for turn_id in queued if runner.accepting else []:
            await runner.wake(turn_id)


def unsaved(run: TurnRun) -> int:
    """Return the length of the text of an answer that is not stored yet."""
    return sum(live.length - live.written for live in (run.reply.text, run.reply.thinking))
