"""Models of an Ollama server: pulled with progress, cancelled, resumed, deleted and unloaded, over the real wire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from channels.db import database_sync_to_async as in_database

from tests.factories import ServerFactory, UserFactory
from toolsupport import providers
from toolsupport.core.errors import ConfigError, ProviderError
from toolsupport.models import ModelProfile, ModelPull
from toolsupport.registry import leases
from toolsupport.registry.people import audit_log
from toolsupport.registry.servers import pulls, servers
from toolsupport.registry.servers.server_edits import subject
from toolsupport.services import model_actions, refresh
from toolsupport.services.background_jobs import JobRunner
from toolsupport.services.pull_worker import PullWorker
from toolsupport.simulator.server import Simulator

pytestmark = [pytest.mark.asyncio, pytest.mark.django_db(transaction=True)]
MODEL = "sim-honest:latest"


class Site:
    """A simulated server with its row, an administrator, and a worker of downloads."""

    def __init__(self, simulator: Simulator) -> None:
        self.simulator, self.jobs = simulator, JobRunner()
        self.worker = PullWorker("first", self.jobs.spawn)

    async def start(self) -> Site:
        await self.simulator.start()
        self.server = (await in_database(ServerFactory)(base_url=self.simulator.url, kind="simulator")).pk
        self.admin = (await in_database(UserFactory)(role="admin")).pk
        await refresh.refresh(self.server)
        return self

    async def pull(self, name: str = MODEL) -> ModelPull:
        """Request a download and run it to its end."""
        await model_actions.pull(self.server, name, self.admin)
        found = await in_database(pulls.claim)("first")
        assert found is not None
        await self.worker.run(found)
        return await self.row()

    async def row(self) -> ModelPull:
        return await in_database(ModelPull.objects.get)()

    async def there(self) -> bool:
        found = await in_database(ModelProfile.objects.get)(server=self.server, name=MODEL)
        return found.gone_since is None


@pytest_asyncio.fixture
async def site(request: pytest.FixtureRequest) -> AsyncIterator[Site]:
    made = await Site(Simulator("127.0.0.1", 0, pace_ms=getattr(request, "param", 0))).start()
    yield made
    await made.jobs.stop()
    await providers.close()
    await made.simulator.stop()


async def test_a_deleted_model_is_gone_and_comes_back_when_it_is_pulled(site: Site):  # M10
    await model_actions.delete(site.server, MODEL, site.admin)
    assert not await site.there()
    await refresh.refresh(site.server)
    assert not await site.there()
    with pytest.raises(ProviderError, match="not found"):
        await model_actions.delete(site.server, MODEL, site.admin)
    done = await site.pull()
    assert (done.status, done.error, done.completed) == ("done", "", done.total)
    assert await site.there()
    changes = [change.reason.split()[0] for change in await in_database(audit_log.of)(subject(site.server))]
    assert changes == ["Started", "Deleted"]


async def test_errors_of_a_download_are_in_words(site: Site):  # M10
    with pytest.raises(ConfigError, match="without spaces"):
        await model_actions.pull(site.server, "a b", site.admin)
    failed = await site.pull("nowhere:1b")
    assert failed.status == "failed" and "no model with this name" in failed.error
    await site.simulator.stop()
    assert "does not answer" in (await site.pull("nowhere:1b")).error


@pytest.mark.parametrize("site", [20], indirect=True)  # a piece takes 0.4 s
async def test_a_cancelled_download_stops_at_the_server_and_goes_on_where_it_was(site: Site):  # M10
    await model_actions.delete(site.server, MODEL, site.admin)
    running = asyncio.create_task(site.pull())
    while not await ModelPull.objects.filter(completed__gt=0).aexists():
        await asyncio.sleep(0.05)
    await model_actions.cancel(site.server, MODEL, site.admin)
    async with asyncio.timeout(10):
        stopped = await running
        while site.simulator.active:
            await asyncio.sleep(0.05)
    assert stopped.status == "canceled" and 0 < stopped.completed < stopped.total
    assert not await site.there()
    # Another process goes on with what a first one had to leave; the server goes on where it was.
    site.simulator.pace(0)
    await model_actions.pull(site.server, MODEL, site.admin)
    assert await in_database(pulls.claim)("gone") is not None
    assert await in_database(pulls.claim)("first") is None
    await in_database(pulls.leave)("gone")
    again = await in_database(pulls.claim)("first")
    assert again is not None
    await site.worker.run(again)
    assert (await site.row()).status == "done" and await site.there()


async def test_what_is_in_memory_is_listed_and_unloaded(site: Site):  # M10
    endpoint = await in_database(servers.endpoint)(site.server)
    await providers.post_json(endpoint, "/api/chat", {"model": MODEL, "messages": [], "keep_alive": "5m"})
    (loaded,) = (await model_actions.running(site.server)).models
    assert loaded.name == MODEL and "context 4,096" in loaded.words and "unloaded in 5 min" in loaded.words
    await model_actions.unload(site.server, MODEL, site.admin)
    assert (await model_actions.running(site.server)).models == ()
    await site.simulator.stop()
    assert "does not answer" in (await model_actions.running(site.server)).why


async def test_only_ollama_servers_keep_models(site: Site):
    other = (await in_database(ServerFactory)(kind="vllm", base_url="http://nowhere:1")).pk
    for deed in (model_actions.pull, model_actions.delete, model_actions.unload):
        with pytest.raises(ConfigError, match="Only Ollama servers"):
            await deed(other, "m", site.admin)
    assert leases.JOB > pulls.LEASE
