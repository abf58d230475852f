"""Every simulated model over the OpenAI wire, and servers of that wire from their address to their rows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from io import StringIO

import pytest
import pytest_asyncio
from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings

from tests.effective_values import holding
from tests.factories import ServerFactory
from tests.house import ROOT
from tests.tables import every
from tests.toolsupport.providers.scripted import HANG, Step, chunk, scripted
from tests.toolsupport.stand_in import Servers
from tests.toolsupport.test_exchange import QUESTION, ask, request_spec
from toolsupport import providers
from toolsupport.core.events import (
    CallDelta,
    CallReady,
    CallRejected,
    Failed,
    Finished,
    TextDelta,
    ThinkingDelta,
    ToolsRefused,
    Usage,
)
from toolsupport.core.types import ChatMessage, Endpoint, Limits, Role, ToolCall
from toolsupport.models import ModelProfile, Server
from toolsupport.providers import PROVIDERS, ModelDetails, ModelReport, ServerReport
from toolsupport.services import refresh
from toolsupport.services.refresh import RefreshResult
from toolsupport.simulator.models import MODELS, TEXT
from toolsupport.simulator.server import Simulator

KINDS = [kind for kind, row in PROVIDERS.items() if row.wire == "openai"]
DOCUMENT = ROOT / "docs" / "servers.md"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest_asyncio.fixture
async def simulated() -> AsyncIterator[Endpoint]:
    simulator = Simulator("127.0.0.1", 0, pace_ms=0, load_seconds=0)
    await simulator.start()
    yield Endpoint("openai", f"http://127.0.0.1:{simulator.port}")
    await providers.close()
    await simulator.stop()


CALLS = {"sim-honest", "sim-thinks", "sim-slow-load", "sim-unknown", "sim-long"}
CALLS |= {"sim-flaky", "sim-parallel-less", "sim-drifts", "sim-truncates", "sim-sees"}
REFUSED = {model.name for model in TEXT} | {"sim-refuses", "sim-claims"}


@pytest.mark.asyncio
@pytest.mark.parametrize("model", sorted(CALLS))
async def test_a_simulated_model_calls_and_answers(simulated: Endpoint, model: str) -> None:  # M8 F10
    events = await ask(simulated, request_spec(model))
    [ready] = [event for event in events if isinstance(event, CallReady)]
    assert ready.call.name == "list_directory"
    assert "".join(event.text for event in events if isinstance(event, CallDelta)) == ready.raw
    assert events[-1] == Finished("tool_calls")
    assert any(isinstance(event, Usage) and event.prompt_tokens for event in events)
    assert any(isinstance(event, ThinkingDelta) for event in events) is (model == "sim-thinks")
    result = ChatMessage(Role.TOOL, "config.json", call_id=ready.call.id, name="list_directory")
    answered = await ask(
        simulated, request_spec(model), (*QUESTION, ChatMessage(Role.ASSISTANT, calls=(ready.call,)), result)
    )
    assert "config.json" in "".join(event.text for event in answered if isinstance(event, TextDelta))
    assert answered[-1] == Finished("stop")


@pytest.mark.asyncio
async def test_the_other_simulated_models_fail_as_they_should(simulated: Endpoint) -> None:  # M8 D9
    ignored = await ask(simulated, request_spec("sim-ignores"))
    assert not any(isinstance(event, CallReady) for event in ignored) and ignored[-1] == Finished("stop")
    died = (await ask(simulated, request_spec("sim-dies")))[-1]
    assert isinstance(died, Failed) and died.kind == "cut"
    swallowed = (await ask(simulated, request_spec("sim-dies"), (ChatMessage(Role.USER, "error in mid-stream"),)))[-1]
    assert isinstance(swallowed, Failed) and swallowed.kind == "cut"


@pytest.mark.asyncio
@pytest.mark.parametrize("model", sorted(REFUSED))
async def test_who_refuses_tools_is_asked_again_without(simulated: Endpoint, model: str) -> None:  # M8 D9
    refused = await ask(simulated, request_spec(model))
    assert isinstance(refused[0], ToolsRefused) and refused[-1] == Finished("stop")


@pytest.mark.asyncio
async def test_missing_flags_are_no_refusal_of_the_model(simulated: Endpoint) -> None:  # M8 D9
    told, *answer = await ask(simulated, request_spec("sim-misconfigured"))
    assert isinstance(told, ToolsRefused) and told.misconfigured and "--enable-auto-tool-choice" in told.message
    assert answer[-1] == Finished("stop") and any(isinstance(event, TextDelta) for event in answer)


@pytest.mark.asyncio
async def test_models_that_call_as_they_should_not(simulated: Endpoint) -> None:  # M8 F4 D13
    rejected = [
        event for event in await ask(simulated, request_spec("sim-hallucinates")) if isinstance(event, CallRejected)
    ]
    assert rejected[0].name not in {"list_directory", ""}
    result = ChatMessage(Role.TOOL, "config.json", call_id="call_1", name="list_directory")
    made = ChatMessage(Role.ASSISTANT, calls=(ToolCall("call_1", "list_directory", {"path": "."}),))
    again = await ask(simulated, request_spec("sim-loops"), (*QUESTION, made, result))
    assert [event.call.name for event in again if isinstance(event, CallReady)] == ["list_directory"]
    words = "".join(
        event.text for event in await ask(simulated, request_spec("sim-shell")) if isinstance(event, TextDelta)
    )
    assert "can't access files" in words


def test_no_simulated_model_was_left_out() -> None:
    constrained = {"sim-constrained", "sim-noise", "sim-constrained-thinks"}
    constrained |= {"sim-unconstrained", "sim-no-schemas", "sim-fails-open"}
    others = {
        "sim-ignores",
        "sim-dies",
        "sim-misconfigured",
        "sim-hallucinates",
        "sim-loops",
        "sim-shell",
        "sim-speaks",
        "sim-halves",
        "sim-fickle",
        "sim-silent",
        "sim-thinks-aloud",
        "sim-thinks-inside",
        "sim-thinks-long",
        "sim-thinks-endless",
        "sim-thinks-off",
    }
    assert {name for name, model in MODELS.items() if model.chats} == CALLS | REFUSED | constrained | others


@pytest.mark.asyncio
async def test_a_connection_lost_after_the_end_mark_loses_nothing() -> None:
    done = b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'
    lost: list[Step] = [HEAD, chunk(done)]
    async with scripted(lost) as server:
        assert await ask(server.endpoint(kind="openai"), request_spec(tools=False)) == [
            TextDelta("Hi"),
            Finished("stop"),
        ]


@pytest.mark.asyncio
async def test_a_comment_is_a_sign_of_life() -> None:
    """The limit for loading is over with it, and the one for silences begins."""
    async with scripted([HEAD, chunk(b": ping\n\n"), HANG]) as server:
        endpoint = server.endpoint(Limits(first_token=300, between=0.2), "openai")
        [failure] = await ask(endpoint, request_spec(tools=False))
        assert (
            isinstance(failure, Failed)
            and failure.message == "The answer was stopped: the server sent nothing for 0.2 s."
        )


# -- from an address to rows --


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", KINDS)
def test_a_server_of_each_kind_is_added_by_page(client: Client, bob: User, servers_out_there: Servers, kind: str):  # M1
    url = PROVIDERS[kind].default_url or "http://box:8080"
    servers_out_there.reports[url] = ServerReport("", (ModelReport("m"),))
    client.force_login(bob)
    sent = {
        "name": "Box",
        "kind": kind,
        "base_url": "" if PROVIDERS[kind].default_url else f"{url}/v1/",
        "api_key": "k",
    }
    page = client.post("/servers/add/", sent, headers={"HX-Request": "true"}).content.decode()
    assert "The server answered with 1 model." in page
    row = Server.objects.get()
    assert (row.kind, row.base_url, row.reachable) == (kind, url, True)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", KINDS)
def test_a_server_of_each_kind_is_added_by_command(servers_out_there: Servers, kind: str):  # M1
    servers_out_there.reports["http://box:1"] = ServerReport("", (ModelReport("m"),))
    out = StringIO()
    call_command("add_server", "box", "http://box:1/v1", "--kind", kind, stdout=out)
    assert out.getvalue() == "Added box; it answers, models: 1\n"


@pytest.mark.django_db(transaction=True)
def test_servers_of_each_kind_come_from_the_environment(servers_out_there: Servers, settings: Settings):  # M1
    named = [f"{kind}={kind}+http://{kind}:1/v1" for kind in KINDS]
    settings.ENV = settings.ENV | {"TOOLSUPPORT_SERVERS": named}
    async_to_sync(refresh.ensure_servers)()
    assert set(Server.objects.values_list("kind", "base_url")) == {(kind, f"http://{kind}:1") for kind in KINDS}


@every("kind", [kind for kind in PROVIDERS if kind != "simulator"])
def test_the_documentation_knows_each_kind_with_its_address(kind: str):
    row = next(line for line in DOCUMENT.read_text().splitlines() if line.startswith(f"| `{kind}` |"))
    assert (PROVIDERS[kind].default_url or "none") in row


@pytest.mark.django_db
def test_where_there_is_no_usual_address_one_is_asked_for(client: Client, bob: User):
    client.force_login(bob)
    sent = {"name": "Box", "kind": "openai", "base_url": ""}
    assert "begin with http" in client.post("/servers/add/", sent, headers={"HX-Request": "true"}).content.decode()


@database_sync_to_async
def _server() -> int:
    return ServerFactory(base_url="http://box:1", kind="openai").pk


@database_sync_to_async
def _known(capability: str) -> tuple[object, str]:
    known = holding("strange-9000", capability)
    return known.value, known.source


@database_sync_to_async
def _context() -> int | None:
    return ModelProfile.objects.get().context_length


def _told(**facts: object) -> ServerReport:
    details = ModelDetails(**facts)  # type: ignore[arg-type]
    return ServerReport("", (ModelReport("strange-9000", capabilities=details.capabilities, details=details),))


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
async def test_what_the_list_told_is_not_asked_again(servers_out_there: Servers) -> None:  # M2 D1
    server = await _server()
    known = _told(capabilities=("completion", "tools"), unsaid=("thinking",), context_length=4096)
    servers_out_there.reports["http://box:1"] = known
    assert await refresh.refresh(server) == RefreshResult(server, models=1, described=1)
    assert (await _known("tools"), await _context()) == ((True, "declared"), 4096)
    assert (await _known("vision"), await _known("thinking")) == ((False, "declared"), (None, "default"))
    assert (await refresh.refresh(server)).described == 0
    servers_out_there.reports["http://box:1"] = _told(capabilities=("completion",), unsaid=("thinking",))
    assert (await refresh.refresh(server)).described == 1
    assert (await _known("tools"), await _context()) == ((False, "declared"), None)
    assert servers_out_there.asked == []


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
async def test_a_list_of_names_declares_nothing(servers_out_there: Servers) -> None:  # D1
    servers_out_there.reports["http://box:1"] = _told(unsaid=("tools", "thinking", "vision"))
    assert (await refresh.refresh(await _server())).described == 0
    assert await _known("tools") == (None, "default")
    assert servers_out_there.asked == []
