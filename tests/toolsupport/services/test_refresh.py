"""Asking the servers which models they have."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from tests.effective_values import holding
from tests.factories import ServerFactory
from tests.hostile_server import evil_server
from tests.processor_time import LONGEST_STEP, must_cost_at_most, with_longest_step
from tests.toolsupport.stand_in import Servers
from toolsupport import providers
from toolsupport.core.errors import ConfigError
from toolsupport.core.types import Endpoint
from toolsupport.models import HistoryEntry, ModelProfile, Server
from toolsupport.providers import ModelDetails, ModelReport, ServerReport
from toolsupport.registry.knowledge.event_log import HistoryBundle
from toolsupport.registry.models import surveys
from toolsupport.registry.servers import key_encryption
from toolsupport.registry.settings import switches
from toolsupport.services import refresh
from toolsupport.services.refresh import RefreshResult
from toolsupport.simulator.server import Simulator

pytestmark = [pytest.mark.asyncio, pytest.mark.django_db(transaction=True)]

OLLAMA = "http://127.0.0.1:11434"


def _report(*names: str) -> ServerReport:
    return ServerReport("0.13.0", tuple(ModelReport(name, f"digest of {name}") for name in names))


@database_sync_to_async
def _server(url: str = "http://box:1", **facts: object) -> int:
    return ServerFactory(base_url=url, **facts).pk


@database_sync_to_async
def _servers() -> list[tuple[str, str, bool | None, str]]:
    return list(Server.objects.values_list("name", "base_url", "reachable", "last_error"))


@database_sync_to_async
def _tools(name: str) -> tuple[object, str]:
    row = holding(name, "tools")
    return row.value, row.source


async def test_models_are_listed_described_and_what_they_declare_is_known(servers_out_there: Servers):  # M2
    servers_out_there.reports["http://box:1"] = _report("a", "b")
    servers_out_there.details["a"] = ModelDetails(template_hash="t", capabilities=("completion", "tools"))
    server = await _server()
    assert await refresh.refresh(server) == RefreshResult(server, models=2, described=1)
    assert await _tools("a") == (True, "declared")
    assert await _tools("b") == (None, "default")


async def test_the_simulator_is_asked_over_the_real_wire():  # M2, M8
    simulator = Simulator("127.0.0.1", 0, pace_ms=0)
    await simulator.start()
    try:
        server = await _server(f"http://127.0.0.1:{simulator.port}", kind="simulator")
        asked = await refresh.refresh(server)
        assert (asked.why, asked.described) == ("", asked.models)
        assert asked.models >= 8
        assert await _tools("sim-honest:latest") == (True, "declared")
        assert await _tools("sim-refuses:latest") == (False, "profile")
        assert await _tools("sim-unknown:latest") == (None, "default")
        assert (await refresh.refresh(server)).described == 0
        await simulator.stop()
        assert (await refresh.refresh(server)).why
    finally:
        await providers.close()
        await simulator.stop()


async def test_only_what_is_new_is_described(servers_out_there: Servers):
    servers_out_there.reports["http://box:1"] = _report("a")
    servers_out_there.details = {name: ModelDetails(template_hash="t") for name in "ab"}
    server = await _server()
    await refresh.refresh(server)
    servers_out_there.reports["http://box:1"] = _report("a", "b")
    await refresh.refresh(server)
    await refresh.refresh(server)
    assert servers_out_there.asked == ["a", "b"]


async def test_descriptions_are_asked_for_a_few_at_a_time(servers_out_there: Servers):
    names = [f"m{number}" for number in range(40)]
    servers_out_there.reports["http://box:1"] = _report(*names)
    servers_out_there.details = {name: ModelDetails(template_hash="t") for name in names}
    assert (await refresh.refresh(await _server())).described == 40
    assert servers_out_there.most_at_once == 8


async def test_a_silent_server_only_changes_its_status(servers_out_there: Servers):
    server = await _server(reachable=None)
    asked = await refresh.refresh(server)
    assert "connection refused" in asked.why
    ((_, _, reachable, why),) = await _servers()
    assert (reachable, why) == (False, asked.why)


async def test_a_key_that_cannot_be_read_is_the_servers_status_too(servers_out_there: Servers, settings: Settings):
    server = await _server(api_key=key_encryption.encrypt("sk-canary"))
    settings.SECRET_KEY = "another"
    assert "Enter the API key again" in (await refresh.refresh(server)).why
    assert servers_out_there.surveyed == []


async def test_all_are_asked_and_one_that_is_down_hinders_nobody(servers_out_there: Servers):
    servers_out_there.reports["http://box:1"] = _report("a")
    up, down = await _server("http://box:1"), await _server("http://down:1")
    await _server("http://off:1", enabled=False)
    asked = {one.server: one for one in await refresh.refresh_all()}
    assert set(asked) == {up, down}
    assert (asked[up].models, asked[up].why) == (1, "")
    assert asked[down].why


async def test_ollama_is_added_only_where_it_answers(servers_out_there: Servers):  # O1
    await refresh.ensure_servers()
    assert await _servers() == []
    servers_out_there.reports[OLLAMA] = _report()
    await refresh.ensure_servers()
    await refresh.ensure_servers()
    assert [(name, url) for name, url, _, _ in await _servers()] == [("Ollama", OLLAMA)]


async def test_a_server_called_ollama_that_somebody_made_is_left_alone(servers_out_there: Servers):
    servers_out_there.reports[OLLAMA] = _report()
    await _server("http://elsewhere:1", name="ollama")
    await refresh.ensure_servers()
    assert [(name, url) for name, url, _, _ in await _servers()] == [("ollama", "http://elsewhere:1")]


async def test_the_servers_of_the_environment(servers_out_there: Servers, settings: Settings):
    named = ["box=ollama+http://box:1"]
    settings.ENV = settings.ENV | {"OLLAMA_HOST": "0.0.0.0:5000", "TOOLSUPPORT_SERVERS": named}
    await refresh.ensure_servers()
    settings.ENV = settings.ENV | {"OLLAMA_HOST": "other"}
    await refresh.ensure_servers()
    assert [(name, url) for name, url, _, _ in await _servers()] == [
        ("Ollama", "http://other:11434"),
        ("box", "http://box:1"),
    ]
    assert servers_out_there.surveyed == []


async def test_a_bad_environment_is_told(settings: Settings):
    settings.ENV = settings.ENV | {"TOOLSUPPORT_SERVERS": ["nonsense"]}
    with pytest.raises(ConfigError, match="nonsense"):
        await refresh.ensure_servers()


async def test_nothing_is_described_on_a_server_that_lists_nothing(servers_out_there: Servers):
    servers_out_there.reports["http://box:1"] = _report()
    await refresh.refresh(await _server())
    assert await database_sync_to_async(ModelProfile.objects.count)() == 0
    assert servers_out_there.asked == []


# O6
@pytest.mark.parametrize("on", [True, False])
async def test_whether_servers_are_asked_at_start_is_a_switch(servers_out_there: Servers, on: bool) -> None:
    servers_out_there.reports["http://box:1"] = _report("a")
    await _server()
    await database_sync_to_async(switches.put)({"startup_refresh": "on" if on else "off"})
    await refresh.refresh_at_start()
    assert await database_sync_to_async(ModelProfile.objects.exists)() is on


async def test_details_of_many_models_are_stored_in_parts_as_one_act(
    servers_out_there: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:  # S2: others write between two parts
    names = [f"m{number:02d}" for number in range(30)]
    servers_out_there.reports["http://box:1"] = _report(*names)
    servers_out_there.details |= {name: ModelDetails("t", capabilities=("completion", "tools")) for name in names}
    sizes, busy, whole = [], [], surveys.record_details

    def counted(server: int, details: dict[int, ModelDetails], bundle: HistoryBundle) -> None:
        sizes.append(len(details))
        began = time.monotonic()
        whole(server, details, bundle)
        busy.append((began, time.monotonic()))

    monkeypatch.setattr(refresh, "ORDINARY", 0)
    monkeypatch.setattr(surveys, "record_details", counted)
    assert (await refresh.refresh(await _server())).described == 30
    assert sum(sizes) == 30 and max(sizes) <= 5
    pauses = [after[0] - before[1] for before, after in pairwise(busy)]
    assert sum(pauses) >= sum(end - began for began, end in busy[:-1])
    leads = HistoryEntry.objects.filter(lead=None)
    assert await leads.acount() == 1 and await HistoryEntry.objects.acount() >= 30


async def test_a_list_of_thousands_of_models_is_read_in_short_steps() -> None:  # S1, S2
    with evil_server() as evil:
        entries: list[dict[str, object]] = [
            {"name": f"m{number}-{'x' * 150}", "digest": str(number)} for number in range(5_000)
        ]
        evil.tags = {"models": entries}
        try:
            await providers.survey(Endpoint("ollama", evil.url))
            report, longest = await with_longest_step(providers.survey(Endpoint("ollama", evil.url)))
        finally:
            await providers.close()
    assert len(report.models) == 5_000 and longest < LONGEST_STEP


async def test_the_same_list_again_costs_little() -> None:  # S2: nobody writes meanwhile
    server, report = await _server(), _report(*(f"m{number}" for number in range(1_000)))

    def again() -> None:
        with must_cost_at_most(0.5):
            surveys.record_survey(server, report)

    await database_sync_to_async(surveys.record_survey)(server, report)
    await database_sync_to_async(again)()
    gone = ModelProfile.objects.filter(gone_since=None)
    assert await gone.acount() == 1_000 and await gone.filter(digest="digest of m7", name="m7").acount() == 1
