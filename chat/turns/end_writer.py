"""Stores the ends of the turns of this process, however long the database refuses them, and shows them to the pages."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from channels.db import database_sync_to_async as in_database
from django.db import InterfaceError, OperationalError

from chat.broadcast import frames
from chat.broadcast.page_sockets import SocketRegistry
from chat.statuses import TurnStatus
from chat.transcript.announcements import Announcements
from chat.transcript.turns import end, leases, turn_owners
from chat.turns import lasting_writes
from chat.turns.batch_writer import BatchWriter
from chat.turns.heartbeat import TICK, TurnHeartbeat
from chat.turns.run import TurnRun
from toolsupport.core.errors import Lost
from toolsupport.registry import storage

LAST_HTML = 0.5  # seconds that the HTML of a reply may take while the site stops


class EndingRunner(Protocol):
    """The interface of the runner for its ends."""

    owner: str
    accepting: bool
    writer: BatchWriter
    heartbeat: TurnHeartbeat
    listeners: SocketRegistry

    def announce(self, conversation: str, announced: Announcements) -> None: ...

    def announce_ends(self, ended: Iterable[end.TurnEnd]) -> None: ...


class EndWriter:
    """Stores ends for one runner."""

    def __init__(self, runner: EndingRunner) -> None:
        self._runner = runner

    async def write(self, run: TurnRun, outcome: end.TurnOutcome) -> None:
        """Store the end of a turn, and announce it."""
        store, conversation = run.claimed.store, run.claimed.conversation
        html = await self._html(run) if outcome.reply else None
        outcome = replace(outcome, exchanges=await run.exchanges(), html=html)
        while True:
            try:
                ended = await self._runner.writer.write(conversation, lambda: end.end(store, outcome))
                storage.state.succeeded()
                self._runner.heartbeat.show_storage()
                self._runner.announce(conversation, ended.announced)
                return
            except Lost:
                await self.give_up(run, outcome.detail if outcome.reason == TurnStatus.STOPPED else "")
                return
            except (OperationalError, InterfaceError) as error:
                # Kept alive until the database accepts it; an error that would last is no reason to wait.
                self._runner.heartbeat.cannot_write(error)
                await asyncio.sleep(TICK)

    async def give_up(self, run: TurnRun, stopped: str = "") -> None:
        """Store the shown text of an answer that another process interrupted, and show the stored state.

        If it was `stopped` (why) while it was handed over, to a person or a process, the stop is stored too.
        """
        turn, conversation = run.claimed.turn, run.claimed.conversation
        if stopped:
            self._runner.announce_ends(await lasting_writes.in_database(end.stop_elsewhere)(turn, stopped))
        await lasting_writes.in_database(leases.keep_rest)(self._runner.owner, turn, run.last_reply()[:3])
        # The pages here then fetch the rows that another process stored.
        for tail, standing in (await in_database(turn_owners.standings)([conversation])).values():
            self._runner.listeners.tell(conversation, frames.TailFrame(tail, standing))

    async def _html(self, run: TurnRun) -> str | None:
        """Return the reply as HTML, or None if that takes too long: a page asks later. A stopping site waits less."""
        with suppress(TimeoutError):
            async with asyncio.timeout(None if self._runner.accepting else LAST_HTML):
                return await run.html()
        return None
