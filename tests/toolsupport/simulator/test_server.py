"""The server: many clients, clients that leave, loading, nonsense in every field."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import at_least
from tests.toolsupport.simulator.raw import TOOLS, ask, exchange, post
from toolsupport.simulator.models import MODELS as TABLE
from toolsupport.simulator.server import Simulator


async def until_idle(simulator: Simulator) -> None:
    async with asyncio.timeout(5):
        while simulator.active:
            await asyncio.sleep(0.001)


@pytest.mark.asyncio
async def test_a_client_that_leaves_stops_the_generation_at_once() -> None:
    simulator = Simulator(pace_ms=3_600_000)
    await simulator.start()
    try:
        for body in (ask("hello"), ask("hello", stream=False)):
            _, writer = await asyncio.open_connection("127.0.0.1", simulator.port)
            writer.write(post("/api/chat", body))
            async with asyncio.timeout(5):
                while simulator.active == 0:
                    await asyncio.sleep(0.001)
            writer.close()
            await until_idle(simulator)
            assert simulator.active == 0
    finally:
        await simulator.stop()


@pytest.mark.asyncio
async def test_a_client_that_leaves_after_some_tokens() -> None:
    simulator = Simulator(pace_ms=5)
    await simulator.start()
    try:
        async with httpx.AsyncClient(base_url=simulator.url) as http:
            async with http.stream("POST", "/api/chat", json=ask("hi", "sim-long")) as answer:
                async for _ in answer.aiter_lines():
                    break
                assert simulator.active == 1
            await until_idle(simulator)
            assert simulator.active == 0
    finally:
        await simulator.stop()


@pytest.mark.asyncio
async def test_200_streams_at_once(simulator: Simulator) -> None:
    asked = post("/api/chat", ask("Show me a table"), "Connection: close")
    answers = await asyncio.gather(*(exchange(simulator.port, asked) for _ in range(200)))
    assert all(answer.count(b'"done":true') == 1 and answer.endswith(b"0\r\n\r\n") for answer in answers)
    await until_idle(simulator)
    assert simulator.active == 0


@pytest.mark.asyncio
async def test_the_slow_model_loads_before_the_first_byte_then_is_quick() -> None:
    simulator = Simulator(pace_ms=0, load_seconds=0.2)
    await simulator.start()
    try:
        async with httpx.AsyncClient(base_url=simulator.url) as http:
            body = ask("hi", "sim-slow-load", stream=False, options={"num_ctx": 8192})
            first, beside = await asyncio.gather(*(http.post("/api/chat", json=body) for _ in range(2)))
            again = await http.post("/api/chat", json=body)
            assert [model["name"] for model in (await http.get("/api/ps")).json()["models"]] == ["sim-slow-load:latest"]
            other = await http.post("/api/chat", json=ask("hi", "sim-slow-load", stream=False))
    finally:
        await simulator.stop()
    loads = [answer.json()["load_duration"] for answer in (first, beside, again, other)]
    assert loads[0] >= 190_000_000
    assert loads[1] >= 150_000_000
    assert 0 < loads[2] < 100_000_000
    assert loads[3] >= 190_000_000


@pytest.mark.asyncio
async def test_leaving_while_it_loads_ends_the_request() -> None:
    simulator = Simulator(load_seconds=3600)
    await simulator.start()
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", simulator.port)
        writer.write(post("/api/chat", ask("hi", "sim-slow-load")))
        async with asyncio.timeout(5):
            while simulator.active == 0:
                await asyncio.sleep(0.001)
        writer.close()
        await until_idle(simulator)
        assert simulator.active == 0
    finally:
        await simulator.stop()


@pytest.mark.asyncio
async def test_stopping_ends_every_connection() -> None:
    simulator = Simulator(pace_ms=3_600_000)
    await simulator.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", simulator.port)
    writer.write(post("/api/chat", ask("hello")))
    async with asyncio.timeout(5):
        while simulator.active == 0:
            await asyncio.sleep(0.001)
        await simulator.stop()
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await reader.readexactly(1_000_000)
    assert simulator.active == 0
    writer.close()
    await simulator.stop()


@pytest.mark.asyncio
async def test_a_failure_of_its_own_is_an_empty_500(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*given: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("toolsupport.simulator.server.respond", fail)
    answer = await exchange(simulator.port, post("/api/chat", ask("hi"), "Connection: close"))
    assert answer.startswith(b"HTTP/1.1 500 ")
    assert "simulator failed at POST /api/chat" in caplog.text


@pytest.mark.asyncio
async def test_a_port_that_is_taken_is_an_error(simulator: Simulator) -> None:
    with pytest.raises(OSError, match="in use"):
        await Simulator(port=simulator.port).start()


SCRAPS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["user", "tool", "assistant", "sim-honest", "sim-thinks", "list files", "\ud800", "5m", {}]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.fixed_dictionaries(
            {},
            optional={
                name: inner
                for name in (
                    "role",
                    "content",
                    "tool_calls",
                    "function",
                    "name",
                    "arguments",
                    "parameters",
                    "properties",
                )
            },
        )
        | st.dictionaries(st.sampled_from(["type", "text", "required", "enum", "description", "num_predict"]), inner)
    ),
    max_leaves=12,
)
MODELS = st.sampled_from([name for name in TABLE if name != "sim-dies"] + ["x", ""])
FIELDS = ["tools", "stream", "think", "options", "keep_alive", "stream_options", "max_tokens", "reasoning_effort"]
BODIES = st.fixed_dictionaries(
    {"model": MODELS, "messages": st.just([{"role": "user", "content": "list files"}]) | SCRAPS},
    optional={name: SCRAPS for name in FIELDS} | {"tools": st.just(TOOLS) | SCRAPS},
)


@pytest.mark.asyncio
@settings(max_examples=at_least(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    BODIES | SCRAPS, st.sampled_from(["/api/chat", "/v1/chat/completions", "/api/show", "/api/generate", "/api/pull"])
)
async def test_no_body_is_a_failure_of_the_server(
    http: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, body: Any, path: str
) -> None:
    answer = await http.post(path, content=json.dumps(body).encode())
    # Ollama answers this one fault of a client with 500.
    wrong_option = answer.status_code == 500 and "must be of type" in answer.text
    assert answer.status_code in (200, 400, 404) or wrong_option, caplog.text
    assert answer.status_code == 200 or answer.json()["error"]
