"""Runs queued downloads of models, and stores their progress in their rows."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing

from channels.db import database_sync_to_async as in_database

from toolsupport import providers
from toolsupport.core import pull_progress
from toolsupport.core.error_body import unwrap
from toolsupport.core.errors import ConfigError, NotFound, ProviderError
from toolsupport.core.pull_progress import PullReader
from toolsupport.registry.servers import pulls, servers
from toolsupport.registry.servers.pulls import ClaimedPull
from toolsupport.services import refresh
from toolsupport.services.claim_loop import ClaimLoop, Work

log = logging.getLogger(__name__)

BEAT = 1.0  # seconds between two writes of the progress; a cancelled download ends within one


class PullWorker(ClaimLoop):
    """Claims queued downloads for one process."""

    what = "downloads"
    every = 2.0
    most = 2  # they share one network

    async def _next(self) -> tuple[int, Work] | None:
        found = await in_database(pulls.claim)(self.owner)
        return None if found is None else (found.id, self.run(found))

    async def _release(self) -> None:
        await in_database(pulls.leave)(self.owner)

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
            return pull_progress.explained(words) if words else error.words
        except (ConfigError, NotFound) as error:
            return error.words
        except Exception:
            log.exception("download of %s failed", pull.name)
            return pull_progress.BROKEN_OFF
        return "" if read.done else pull_progress.BROKEN_OFF
