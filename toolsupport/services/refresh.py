"""Refreshes the lists of models from their servers."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from channels.db import database_sync_to_async
from django.conf import settings
from django.db import connection

from toolsupport import providers
from toolsupport.core import server_faults
from toolsupport.core.errors import ConfigError, ProviderError
from toolsupport.core.types import Endpoint
from toolsupport.providers import ModelDetails
from toolsupport.registry.exams import exam_gate
from toolsupport.registry.knowledge.event_log import HistoryBundle
from toolsupport.registry.models import surveys
from toolsupport.registry.servers import reachability, servers
from toolsupport.registry.servers.addresses import NamedAddress, named_servers, ollama_host
from toolsupport.registry.settings import switches
from toolsupport.registry.testing import drift

log = logging.getLogger(__name__)

AT_ONCE = 8
PART = 4  # models whose details are stored at once
ORDINARY = 100  # models that are stored without pauses: a chat may begin right after the start
LOOK = 2.0  # seconds between two checks for servers whose pause is over


@dataclass(frozen=True, slots=True)
class RefreshResult:
    """The result: `models` listed, `described` again; `why` is "" if the server answered."""

    server: int
    models: int = 0
    described: int = 0
    why: str = ""

    @property
    def words(self) -> str:
        """The result in a sentence."""
        if self.why:
            return f"The check failed: {self.why}"
        return f"The server answered with {self.models} model{'' if self.models == 1 else 's'}."


async def refresh(server_id: int) -> RefreshResult:
    """Query one server and store its answer; the limit is 2 s. A failure is stored, never raised."""
    try:
        endpoint = await database_sync_to_async(servers.endpoint)(server_id)
        report = await providers.survey(endpoint)
    except (ProviderError, ConfigError) as error:
        await database_sync_to_async(reachability.record_failure)(server_id, error.words, _fault(error))
        return RefreshResult(server_id, why=error.words)
    wanted = await database_sync_to_async(surveys.record_survey)(server_id, report)
    reported = {model.name: model.details for model in report.models}
    details = {row: listed for row, name in wanted if (listed := reported.get(name)) and _says_anything(listed)}
    details |= await _describe(endpoint, [(row, name) for row, name in wanted if reported.get(name) is None])
    await _store(server_id, details)
    await _apart(drift.mark, server_id)
    await database_sync_to_async(exam_gate.open_required)(server_id)
    return RefreshResult(server_id, len(report.models), len(details))


async def _store(server_id: int, details: Mapping[int, ModelDetails]) -> None:
    """Store details in parts; after ORDINARY models, each part is followed by a pause of the same length.

    A server may list thousands, and SQLite keeps no queue of writers: without pauses others would hardly get a turn.
    """
    bundle, rows = HistoryBundle(), list(details.items())
    for first in range(0, len(rows), PART):
        began = time.monotonic()
        await database_sync_to_async(surveys.record_details)(server_id, dict(rows[first : first + PART]), bundle)
        if first >= ORDINARY:
            await asyncio.sleep(time.monotonic() - began)


async def refresh_all() -> tuple[RefreshResult, ...]:
    """Query all enabled servers concurrently."""
    ids = await database_sync_to_async(servers.enabled_ids)()
    return tuple(await asyncio.gather(*(refresh(server_id) for server_id in ids)))


async def refresh_due() -> None:
    """Ask servers that did not answer again, once their pause is over."""
    due = await database_sync_to_async(reachability.claim_due)()
    await asyncio.gather(*(refresh(server_id) for server_id in due))


async def keep_asking() -> None:
    """Ask servers whose pause is over, until cancelled."""
    while True:
        await asyncio.sleep(LOOK)
        try:
            await refresh_due()
        except Exception:
            log.exception("could not ask servers again, retrying")


def _fault(error: ProviderError | ConfigError) -> str:
    if isinstance(error, ConfigError):  # the stored key cannot be read
        return server_faults.WRONG_KEY
    return server_faults.fault_of(error.kind, error.status, error.body)


async def refresh_at_start() -> None:
    """Query all servers, unless the team disables that."""
    if (await database_sync_to_async(switches.in_force)()).startup_refresh:
        await refresh_all()


async def mark_changed() -> None:
    """Record models that changed since their test; the team's setting for them may have changed too."""
    await _apart(drift.mark_all)
    await database_sync_to_async(exam_gate.open_required)()


async def _apart(work: Callable[..., object], *given: object) -> None:
    """Write many rows in a thread of its own: in the chats' thread, chats would wait during its pauses."""

    def run() -> None:
        try:
            work(*given)
        finally:
            connection.close()

    await asyncio.to_thread(run)


def environment_servers() -> list[NamedAddress]:
    """Return the servers in the environment. Raises ConfigError."""
    named = [*named_servers(settings.ENV["TOOLSUPPORT_SERVERS"])]
    host = settings.ENV["OLLAMA_HOST"]
    return [*named, NamedAddress("Ollama", "ollama", ollama_host(host))] if host else named


async def ensure_servers() -> None:
    """Create the servers of the environment, or Ollama at its usual address if it answers. Raises ConfigError."""
    for named in environment_servers():
        await database_sync_to_async(servers.ensure_named)(named)
    if not settings.ENV["OLLAMA_HOST"]:
        await _find_ollama()


async def _find_ollama() -> None:
    """Add Ollama's usual address only if it answers: a new site should not begin with an error."""
    url = providers.PROVIDERS["ollama"].default_url
    if await database_sync_to_async(servers.has_url)(url):
        return
    try:
        await providers.survey(Endpoint("ollama", url))
    except ProviderError:
        return
    try:
        await database_sync_to_async(servers.add)(servers.NewServer("Ollama", "ollama", url, origin="built-in"))
    except ConfigError as error:  # a server that people added has that name
        log.info("could not add Ollama at %s: %s", url, error)


def _says_anything(details: ModelDetails) -> bool:
    return details != ModelDetails(unsaid=details.unsaid)


async def _describe(endpoint: Endpoint, wanted: Sequence[tuple[int, str]]) -> dict[int, ModelDetails]:
    """Return the server's details about these models, fetched a few at a time; failures are left out."""
    free = asyncio.Semaphore(AT_ONCE)

    async def one(profile_id: int, name: str) -> tuple[int, ModelDetails | None]:
        async with free:
            try:
                return profile_id, await providers.describe(endpoint, name)
            except ProviderError as error:
                log.info("could not describe model %s: %s", name, error)
                return profile_id, None

    reported = await asyncio.gather(*(one(profile_id, name) for profile_id, name in wanted))
    return {profile_id: details for profile_id, details in reported if details is not None}
