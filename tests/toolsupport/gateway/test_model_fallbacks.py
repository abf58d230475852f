"""A fallback model answers a program when the requested one cannot, and the answer names it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database
from django.conf import settings

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from tests.serving import free_port
from tests.toolsupport.gateway.conftest import Program
from tests.toolsupport.gateway.test_required_calls import ASKED, HEAD, error_in, post, said
from tests.toolsupport.providers.scripted import CLOSE, HANG, LAST_CHUNK, Scripted, answer, scripted
from toolsupport.gateway import keep_alive
from toolsupport.models import ModelProfile
from toolsupport.registry.fallbacks import fallback_settings
from toolsupport.registry.fallbacks.fallback_settings import FallbackChange, FallbackSettings

Knows = Callable[..., Any]
WORD = said(delta={"content": "half an"})
FAILS = answer(500, b'{"error": "out of memory"}')
# How a server fails → its answers, and how many requests it gets before another model is asked; a connection that is
# lost and a busy server are tried several times below this.
FAILURES: dict[str, tuple[Sequence[Any], int]] = {
    "closed port": ((), 0),
    "error 500": (FAILS, 2),
    "cut before the first byte": (CLOSE, 3),
    "cut before the first token": ((HEAD,), 2),
    "busy": (answer(503, b'{"error": "busy"}'), 3),
    "unknown model": (answer(404, b'{"error": "model not found"}'), 1),
}


def body_of(path: str, stream: bool, model: str = "dead/m") -> dict[str, Any]:
    """A request without tools."""
    asked = {name: value for name, value in ASKED[path][0].items() if name not in ("tools", "tool_choice")}
    return asked | {"model": model, "stream": stream}


async def read(response: Any) -> str:
    if response.streaming:
        return b"".join([piece async for piece in response.streaming_content]).decode()
    return str(response.content.decode())


def dead(port: int, **more: Any) -> ModelProfile:
    server = ServerFactory(kind="vllm", base_url=f"http://127.0.0.1:{port}", **{"name": "dead"} | more)
    return ModelProfileFactory(server=server, name="m")


def chain(profile: int, *models: int, only_validated: bool | None = None) -> None:
    change = FallbackChange(profile, FallbackSettings(models, only_validated), UserFactory().pk, "tests")
    fallback_settings.save(change)


@asynccontextmanager
async def failing(steps: Sequence[Any]) -> AsyncIterator[tuple[int, list[Any]]]:
    """The port of a server that fails so, and the requests that it gets."""
    async with AsyncExitStack() as stack:
        if not steps and steps is not CLOSE:
            yield free_port(), []
            return
        server: Scripted = await stack.enter_async_context(scripted(steps))
        yield server.port, server.requests


# C6, E6
@pytest.mark.asyncio
@pytest.mark.parametrize("failure", sorted(FAILURES))
async def test_another_model_answers_in_every_api(program: Program, knows: Knows, failure: str) -> None:
    steps, requests = FAILURES[failure]
    honest = await knows("sim-honest", tools=True)
    async with failing(steps) as (port, received):
        first = await in_database(dead)(free_port() if failure == "closed port" else port)
        await in_database(chain)(first.pk, honest)
        for path in ASKED:
            for stream in (False, True):
                received.clear()
                await in_database(ModelProfile.objects.filter(pk=first.pk).update)(gone_since=None)
                response = await post(program, path, **body_of(path, stream))
                text = await read(response)
                assert response.status_code == 200, (path, text)
                assert response.headers["X-Toolsupport-Fallback"] == "box/sim-honest", path
                assert response.headers["X-Toolsupport-Model"] == "box/sim-honest"
                assert '"fallback":"box/sim-honest"' in text.replace('": "', '":"'), path
                if failure != "closed port":
                    assert len(received) == requests, path


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ASKED)
async def test_nothing_is_asked_again_after_the_first_words(program: Program, knows: Knows, path: str) -> None:
    honest = await knows("sim-honest", tools=True)
    async with scripted((HEAD, WORD, LAST_CHUNK)) as server:
        first = await in_database(dead)(server.port)
        await in_database(chain)(first.pk, honest)
        response = await post(program, path, **body_of(path, stream=True))
        assert "X-Toolsupport-Fallback" not in response.headers
        assert "cut" in await read(response) and len(server.requests) == 1


@pytest.mark.asyncio
async def test_a_refused_request_is_no_reason_for_another_model(program: Program, knows: Knows) -> None:
    honest = await knows("sim-honest", tools=True)
    async with scripted(answer(400, b'{"error": "a bad field"}')) as server:
        first = await in_database(dead)(server.port)
        await in_database(chain)(first.pk, honest)
        response = await post(program, "/v1/chat/completions", **body_of("/v1/chat/completions", stream=False))
        assert response.status_code == 400 and "X-Toolsupport-Fallback" not in response.headers


@pytest.mark.asyncio
async def test_models_that_cannot_answer_are_passed_over_and_named(program: Program, knows: Knows) -> None:
    honest = await knows("sim-honest", tools=True)
    port = free_port()
    first = await in_database(dead)(port)

    def others() -> tuple[int, int]:
        same = ModelProfileFactory(server=first.server, name="twin")
        offline = ModelProfileFactory(server=ServerFactory(name="away", reachable=False), name="n")
        return same.pk, offline.pk

    same, offline = await in_database(others)()
    path = "/v1/chat/completions"
    await in_database(chain)(first.pk, same, offline, honest, only_validated=True)
    refused = await post(program, path, **body_of(path, stream=False))
    assert refused.status_code == 502
    told = refused.json()["error"]["message"]
    assert "dead/twin (same server, which does not answer)" in told and "away/n (server offline)" in told
    assert "box/sim-honest (no exam passed on this build)" in told
    await in_database(chain)(first.pk, same, offline, honest)
    used = await post(program, path, **body_of(path, stream=False))
    assert (used.status_code, used.headers["X-Toolsupport-Fallback"]) == (200, "box/sim-honest")


@pytest.mark.asyncio
async def test_two_dead_models_that_name_each_other_end(program: Program) -> None:
    first, second = [await in_database(dead)(free_port(), name=name) for name in ("dead", "gone")]
    await in_database(chain)(first.pk, second.pk)
    await in_database(chain)(second.pk, first.pk)
    async with asyncio.timeout(20):
        response = await post(program, "/v1/messages", **body_of("/v1/messages", stream=False))
    assert response.status_code == 502 and error_in("/v1/messages", response.json())


@pytest.mark.asyncio
async def test_the_time_for_the_whole_chain_is_limited(
    program: Program, knows: Knows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(settings.ENV, "TOOLSUPPORT_FALLBACK_SECONDS", 3)
    async with scripted((HEAD, HANG)) as hangs, scripted((HEAD, HANG)) as third:
        first = await in_database(dead)(free_port())
        models = [(await in_database(dead)(each.port, name=f"hangs{each.port}")).pk for each in (hangs, third)]
        await in_database(chain)(first.pk, *models)
        async with asyncio.timeout(20):
            response = await post(program, "/v1/messages", **body_of("/v1/messages", stream=False))
        assert response.status_code == 504 and len(hangs.requests) == 1 and not third.requests


@pytest.mark.asyncio
async def test_a_stream_that_began_with_silence_names_the_model_in_its_last_piece(
    program: Program, knows: Knows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keep_alive, "SILENCE", 0.05)
    honest, waited = await knows("sim-honest", tools=True), asyncio.Event()

    async def wait(_: Scripted) -> None:
        await waited.wait()

    async with scripted((wait,)) as server:
        first = await in_database(dead)(server.port)
        await in_database(chain)(first.pk, honest)
        response = await post(program, "/v1/chat/completions", **body_of("/v1/chat/completions", stream=True))
        assert "X-Toolsupport-Fallback" not in response.headers
        waited.set()
        lines = [line for line in (await read(response)).split("\n") if line.startswith("data: {")]
        assert json.loads(lines[-1][6:])["x_toolsupport"]["fallback"] == "box/sim-honest"
