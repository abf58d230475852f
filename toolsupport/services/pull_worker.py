"""Runs the downloads of models that wait in rows, and keeps their progress there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import Any

from channels.db import database_sync_to_async as in_database

from toolsupport import providers
from toolsupport.core import pull_progress
from toolsupport.core.error_body import unwrap
from toolsupport.core.errors import ConfigError, NotFound, ProviderError
from toolsupport.core.pull_progress import PullReader
from toolsupport.registry.servers import pulls, servers
from toolsupport.registry.servers.pulls import ClaimedPull
from toolsupport.services import refresh

log = logging.getLogger(__name__)

LOOK = 2.0  # seconds between two looks for downloads that wait
BEAT = 1.0  # seconds between two writes of the progress; a cancelled download ends within one
AT_ONCE = 2  # downloads in one process: they share one network anyway

Spawn = Callable[[Coroutine[Any, Any, Any]], "asyncio.Task[Any]"]


class PullWorker:
    """One for each process."""

    def __init__(self, owner: str, spawn: Spawn) -> None:
        self.owner = owner
        self._spawn = spawn
        self._running: set[asyncio.Task[Any]] = set()
        self._served = False

    async def serve(self) -> None:
        """Claim and run, until cancelled; `leave` has to follow."""
        self._served = True
        while True:
            try:
                await self._claim()
            except Exception:
                log.exception("could not look for queued downloads, retrying")
            await asyncio.sleep(LOOK)

    async def leave(self) -> None:
        """Let another process continue at once, after everything here was cancelled."""
        if self._served:
            try:
                await in_database(pulls.leave)(self.owner)
            except Exception:
                log.exception("could not release this process's downloads; their leases will expire")

    async def _claim(self) -> None:
        while len(self._running) < AT_ONCE:
            found = await in_database(pulls.claim)(self.owner)
            if found is None:
                return
            task = self._spawn(self.run(found))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def run(self, pull: ClaimedPull) -> None:
        """Download one model. A cancelled download closes the connection, which stops the server."""
        read = PullReader()
        reading = self._spawn(self._read(pull, read))
        try:
            while not reading.done():
                await asyncio.wait([reading], timeout=BEAT)
                if not await in_database(pulls.progress)(pull.id, self.owner, read):
                    return
        finally:
            reading.cancel()
        error = reading.result()
        if not error:
            await refresh.refresh(pull.server)
        await in_database(pulls.conclude)(pull.id, self.owner, error)

    async def _read(self, pull: ClaimedPull, read: PullReader) -> str:
        """Read the download to its end; return why it failed, "" if it did not."""
        try:
            endpoint = await in_database(servers.endpoint)(pull.server)
            async with aclosing(providers.pull(endpoint, pull.name)) as lines:
                async for line in lines:
                    read.feed(line)
                    if read.error:
                        return read.error
        except ProviderError as error:
            words = unwrap(error.body).message
            return pull_progress.explained(words) if words else str(error)
        except (ConfigError, NotFound) as error:
            return str(error)
        except Exception:
            log.exception("download of %s failed", pull.name)
            return pull_progress.BROKEN_OFF
        return "" if read.done else pull_progress.BROKEN_OFF
