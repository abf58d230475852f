"""Real connections on loopback: limits, retries, stopping, contents of error messages."""

from __future__ import annotations

import asyncio
import gzip
import time
from contextlib import aclosing

import pytest

from tests.tables import every
from tests.toolsupport.providers.scripted import (
    CLOSE,
    DONE,
    FINE,
    HANG,
    HEAD,
    LAST_CHUNK,
    Scripted,
    answer,
    chunk,
    said,
    scripted,
)
from toolsupport import providers
from toolsupport.core.errors import ProviderError
from toolsupport.core.events import Event, Failed, Finished, TextDelta, Usage
from toolsupport.core.types import ChatMessage, Endpoint, Limits, Request, Role, ToolSpec
from toolsupport.providers import transport

QUESTION = Request("m", (ChatMessage(Role.USER, "Hello"),))
HI: list[Event] = [TextDelta("Hi"), Usage(), Finished("stop")]


@pytest.fixture(autouse=True)
def quick_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "PAUSES", (0.001, 0.002))
    monkeypatch.setattr(transport, "LOADING_PAUSE", 0.001)


async def ask(endpoint: Endpoint, request: Request = QUESTION) -> list[Event]:
    return [event async for batch in providers.stream(endpoint, request) for event in batch]


async def failure(endpoint: Endpoint, request: Request = QUESTION) -> Failed:
    event = (await ask(endpoint, request))[-1]
    assert isinstance(event, Failed)
    return event


@pytest.mark.asyncio
async def test_an_answer_comes_through() -> None:
    async with scripted(FINE) as server:
        assert await ask(server.endpoint()) == HI
        assert server.bodies == [{"model": "m", "messages": [{"role": "user", "content": "Hello"}], "stream": True}]
        assert server.requests[0][0].startswith("POST /api/chat HTTP/1.1\r\n")


@pytest.mark.asyncio
async def test_one_batch_per_read() -> None:
    """The first word is passed on before the second one exists."""
    seen = asyncio.Event()

    async def until_seen(_: Scripted) -> None:
        await seen.wait()

    async with scripted((HEAD, said("Hi"), until_seen, said("!") + said("?") + DONE + LAST_CHUNK)) as server:
        batches = []
        async for batch in providers.stream(server.endpoint(), QUESTION):
            batches.append(batch)
            seen.set()
    assert batches[0] == [TextDelta("Hi")]
    later = [event for batch in batches[1:] for event in batch]
    assert later == [TextDelta("!"), TextDelta("?"), Usage(), Finished("stop")]
    assert all(batches)


@pytest.mark.asyncio
@pytest.mark.parametrize("leave", ["aclose", "cancel"])
async def test_stopping_closes_the_connection(leave: str) -> None:
    async with scripted((HEAD, said("Hi"), HANG)) as server:
        begun = asyncio.Event()

        async def read() -> None:
            async with aclosing(providers.stream(server.endpoint(), QUESTION)) as batches:
                async for _ in batches:
                    begun.set()
                    if leave == "aclose":
                        return

        task = asyncio.create_task(read())
        await asyncio.wait_for(begun.wait(), 5)
        began = time.monotonic()
        if leave == "cancel":
            assert server.open == 1
            task.cancel()
        await asyncio.wait_for(server.until_open(0), 5)
        assert time.monotonic() - began < 5, "a server that notices by itself takes longer: it was left, not closed"
        await asyncio.wait([task])


@pytest.mark.asyncio
async def test_stopping_while_the_model_loads() -> None:
    async with scripted((HANG,)) as server:
        task = asyncio.create_task(ask(server.endpoint()))
        await asyncio.wait_for(server.until_open(1), 5)
        task.cancel()
        await asyncio.wait_for(server.until_open(0), 1)
        assert task.cancelled() or await asyncio.wait([task])


@pytest.mark.asyncio
async def test_150_answers_at_once() -> None:
    everyone = asyncio.Event()

    async def until_all_are_here(server: Scripted) -> None:
        if server.open == 150:
            everyone.set()
        await everyone.wait()

    async with scripted((HEAD, until_all_are_here, said("Hi"), DONE, LAST_CHUNK)) as server:
        answers = await asyncio.wait_for(asyncio.gather(*(ask(server.endpoint()) for _ in range(150))), 20)
        assert answers == [HI] * 150
        assert server.most_open == 150


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("steps", "limits", "words"),
    [
        ((HANG,), Limits(first_token=0.3), "sent nothing for 0.3 s"),
        ((HEAD, HANG), Limits(first_token=0.3), "sent nothing for 0.3 s"),
        ((HEAD, said("Hi"), HANG), Limits(between=0.3), "the server sent nothing for 0.3 s"),
        ((HEAD, said("Hi"), HANG), Limits(total=0.3), "took longer than 0.3 s"),
    ],
)
async def test_limits(steps: tuple, limits: Limits, words: str) -> None:
    async with scripted(steps) as server:
        failed = await failure(server.endpoint(limits))
        assert failed.kind == "timeout"
        assert words in failed.message
        assert len(server.requests) == 1


WITH_TOOLS = Request("m", QUESTION.messages, tools=(ToolSpec("f"),), supports_tools=True)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("kind", "request_", "seconds"),
    [
        ("ollama", WITH_TOOLS, 0.6),
        ("ollama", QUESTION, 0.2),
        ("simulator", WITH_TOOLS, 0.2),
        ("openai", WITH_TOOLS, 0.2),
    ],
)
async def test_silence_while_a_call_is_held_back(kind: str, request_: Request, seconds: float) -> None:
    """Ollama sends nothing while a call is written: there alone, and with tools alone, its silence is waited for."""
    word = said("Hi") if kind != "openai" else chunk(b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n')
    async with scripted((HEAD, word, HANG)) as server:
        failed = await failure(server.endpoint(Limits(first_token=0.6, between=0.2), kind), request_)
        assert f"the server sent nothing for {seconds:g} s" in failed.message


LOADING = b'{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}'


@pytest.mark.asyncio
async def test_a_server_that_loads_its_model_is_waited_for() -> None:
    async with scripted(*[answer(503, LOADING)] * 20, FINE) as server:
        assert await ask(server.endpoint(kind="ollama")) == HI
        assert len(server.requests) == 21


@pytest.mark.asyncio
async def test_a_server_that_never_ends_loading_is_given_up_within_the_limit_of_the_first_word() -> None:
    async with scripted(answer(503, LOADING)) as server:
        failed = await failure(server.endpoint(Limits(first_token=0.3)))
        assert failed.kind == "timeout"
        assert "may still be loading" in failed.message


@pytest.mark.asyncio
async def test_a_word_in_time_begins_the_limit_anew() -> None:
    gone_on = [asyncio.Event() for _ in range(6)]

    def wait_for(event: asyncio.Event):
        async def wait(_: Scripted) -> None:
            await event.wait()

        return wait

    steps = [part for event in gone_on for part in (said("x"), wait_for(event))]
    async with scripted((HEAD, *steps, DONE, LAST_CHUNK)) as server:
        events: list[Event] = []
        async for batch in providers.stream(server.endpoint(Limits(between=0.5)), QUESTION):
            events += batch
            if gone_on:
                asyncio.get_running_loop().call_later(0.1, gone_on.pop(0).set)
        assert isinstance(events[-1], Finished)


@pytest.mark.asyncio
@pytest.mark.parametrize("again", [CLOSE, answer(503, b'{"error":"server busy"}'), *map(answer, (408, 429, 529))])
async def test_asked_again_while_nothing_has_come(again: tuple) -> None:
    async with scripted(again, again, FINE) as server:
        assert await ask(server.endpoint()) == HI
        assert len(server.requests) == 3


@pytest.mark.asyncio
async def test_asked_three_times_at_most() -> None:
    async with scripted(answer(503, b'{"error":"server busy, please try again."}')) as server:
        failed = await failure(server.endpoint())
        assert (failed.kind, failed.status) == ("busy", 503)
        assert "server busy, please try again" in failed.message
        assert len(server.requests) == 3


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "steps",
    [
        (HEAD, said("Hi")),
        (HEAD,),
        answer(500, b'{"error":"boom"}'),
        answer(400, b'{"error":"boom"}'),
        answer(401),
        answer(404),
    ],
)
async def test_never_asked_again(steps: tuple) -> None:
    async with scripted(steps, FINE) as server:
        assert isinstance((await ask(server.endpoint()))[-1], Failed)
        assert len(server.requests) == 1


@pytest.mark.asyncio
@every(
    ("asked", "requests"),
    [
        ("retry-after: 0", 2),
        ("retry-after: 0.02", 2),
        ("retry-after: 11", 1),
        ("retry-after: Wed, 21 Oct 2099 07:28:00 GMT", 1),
        ("retry-after-ms: 20\r\nretry-after: 11", 2),
        ("retry-after-ms: soon\r\nretry-after: 11", 1),
    ],
)
async def test_retry_after(asked: str, requests: int) -> None:
    async with scripted(answer(429, b"", f"{asked}\r\n"), FINE) as server:
        last = (await ask(server.endpoint()))[-1]
        assert len(server.requests) == requests
        assert isinstance(last, Finished if requests == 2 else Failed)


@pytest.mark.asyncio
async def test_the_pause_asked_for_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("toolsupport.providers.transport.asyncio.sleep", sleep)
    async with scripted(answer(429, b"", "retry-after: 7\r\n"), answer(429), FINE) as server:
        await ask(server.endpoint())
    assert slept[0] == 7
    assert 0.002 <= slept[1] <= 0.003


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (400, b'{"error":"x does not support tools"}', "refused", "“x does not support tools”."),
        (401, b'{"error":"unauthorized"}', "unauthorized", "requires an API key (401): “unauthorized”. Enter"),
        (403, b"", "unauthorized", "forbidden"),
        (
            404,
            b'{"error":"model \'m\' not found"}',
            "model_missing",
            "does not have this model: “model 'm' not found”.",
        ),
        (404, b"404 page not found", "refused", "404 page not found"),
        (302, b"", "refused", "(302)"),
        (418, b"", "refused", "teapot"),
        (500, b'{"error":"{\\"error\\":{\\"message\\":\\"inner\\"}}"}', "server", "failed (500): “inner”."),
        (502, b"<html><title>Bad gateway</title></html>", "server", "Bad gateway"),
        (502, b"<title>502 Bad</title><h1>502 Bad</h1>nginx", "server", "“502 Bad nginx”. Its log has the reason."),
        (599, b"", "server", "no reason"),
    ],
)
async def test_other_answers_than_200(status: int, body: bytes, kind: str, words: str) -> None:
    async with scripted(answer(status, body, "location: http://elsewhere.invalid/\r\n")) as server:
        failed = await failure(server.endpoint())
        assert (failed.kind, failed.status, failed.body) == (kind, status, body.decode())
        assert words in failed.message
        assert f"127.0.0.1:{server.port}" in failed.message
        assert len(server.requests) == 1


@pytest.mark.asyncio
async def test_a_huge_error_is_cut() -> None:
    async with scripted(answer(400, b"x" * 1_000_000)) as server:
        failed = await failure(server.endpoint())
        assert len(failed.body) == 65_536
        assert len(failed.message) < 1_000


@pytest.mark.asyncio
async def test_an_error_that_never_ends_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "ERROR_BODY", 0.05)
    async with scripted((b"HTTP/1.1 500 No\r\ncontent-length: 100\r\n\r\nhalf", HANG)) as server:
        assert (await failure(server.endpoint())).kind == "server"


@pytest.mark.asyncio
async def test_a_line_too_long_ends_it() -> None:
    async with scripted((HEAD, chunk(b"x" * 2000), HANG)) as server:
        assert (await failure(server.endpoint(Limits(line_bytes=1000)))).kind == "too_large"
        await asyncio.wait_for(server.until_open(0), 1)


@pytest.mark.asyncio
async def test_the_key_is_sent_and_never_told() -> None:
    async with scripted(answer(401, b"no"), CLOSE) as server:
        endpoint = Endpoint("ollama", f"http://me:sesame@127.0.0.1:{server.port}", api_key="sk-canary")
        failures = [await failure(endpoint), await failure(endpoint)]
        assert "authorization: Bearer sk-canary" in server.requests[0][0].replace("Authorization", "authorization")
        assert "sk-canary" not in repr(endpoint)
        for failed in failures:
            assert "sk-canary" not in repr(failed)
            assert "sesame" not in repr(failed)


@pytest.mark.asyncio
@pytest.mark.parametrize("key", ["a\r\nx-evil: 1", "a\nb", "a\0b", "sk–canary", "\ud800", "a\tb\x7f"])
async def test_a_key_that_no_header_holds_is_a_failure_and_not_sent(key: str) -> None:
    async with scripted(FINE) as server:
        endpoint = Endpoint("ollama", f"http://127.0.0.1:{server.port}", api_key=key)
        failed = await failure(endpoint)
        with pytest.raises(ProviderError, match="API key has a character that cannot be sent"):
            await providers.get_json(endpoint, "/api/tags")
        assert failed.kind == "refused" and "API key has a character that cannot be sent" in failed.message
        assert not server.requests and key not in failed.message


@pytest.mark.asyncio
async def test_a_compressed_answer_is_not_unpacked() -> None:
    """Nothing compressed was asked for: 50 MB of letters arrive as 0.2 MB."""
    packed = answer(200, gzip.compress(b"x" * 50_000_000, 1), "content-encoding: gzip\r\n")
    async with scripted(packed) as server:
        assert (await failure(server.endpoint())).kind == "garbled"
        with pytest.raises(ProviderError, match="not JSON"):
            await providers.get_json(server.endpoint(), "/api/tags")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "headers",
    [f"x: {'y' * 100_000}\r\n", "x: y\r\n" * 20_000, "transfer-encoding: chunked\r\n", "content-length: 5\r\n"],
)
async def test_odd_heads_of_answers_are_failures(headers: str) -> None:
    async with scripted(answer(200, b"{}", headers)) as server:
        assert (await failure(server.endpoint())).kind == "garbled"


@pytest.mark.asyncio
async def test_nothing_of_the_environment_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with scripted(FINE) as server:
        assert await ask(server.endpoint()) == HI


@pytest.mark.asyncio
async def test_no_cookie_is_kept() -> None:
    async with scripted(answer(400, b"", "set-cookie: a=b\r\n"), FINE) as server:
        endpoint = Endpoint("ollama", f"http://localhost:{server.port}")
        await ask(endpoint)
        await ask(endpoint)
        assert "cookie" not in server.requests[1][0].lower()


@pytest.mark.asyncio
async def test_forbidden_tools_are_not_sent() -> None:
    async with scripted(FINE) as server:
        failed = await failure(server.endpoint(), Request("m", QUESTION.messages, tools=(ToolSpec("f"),)))
        assert failed.kind == "refused"
        assert server.requests == []


@pytest.mark.asyncio
async def test_text_that_is_no_text_is_not_sent() -> None:
    async with scripted(FINE) as server:
        failed = await failure(server.endpoint(), Request("m", (ChatMessage(Role.USER, "\ud800"),)))
        assert failed.kind == "refused"
        assert server.requests == []
