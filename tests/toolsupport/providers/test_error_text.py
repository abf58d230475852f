"""Every failure on the way to a server has a kind and words, with either of httpx's transports."""

from __future__ import annotations

import asyncio
import inspect
import socket
from collections.abc import Sequence
from contextlib import ExitStack

import aiohttp
import httpx
import pytest

from tests.toolsupport.providers.scripted import CLOSE, HEAD, Step, answer, said, scripted
from toolsupport import providers
from toolsupport.core.errors import ProviderError
from toolsupport.core.events import FAILURES, Failed
from toolsupport.core.types import ChatMessage, Endpoint, Limits, Request, Role
from toolsupport.providers import error_text, http_client, transport

QUESTION = Request("m", (ChatMessage(Role.USER, "Hello"),))
OURS = http_client.transport
TRANSPORTS = {"aiohttp": OURS, "httpx": lambda: httpx.AsyncHTTPTransport(trust_env=False)}


def exceptions(module: object) -> list[type[Exception]]:
    found = [value for _, value in inspect.getmembers(module, inspect.isclass)]
    return [value for value in found if issubclass(value, Exception) and not issubclass(value, Warning)]


# Not faults of a request: bugs of the caller, or the server side of the library.
OTHERS = {"CookieConflict", "WSServerHandshakeError", "WSMessageTypeError", "WebSocketError", "EofStream"}


@pytest.mark.parametrize("module", [httpx, aiohttp], ids=["httpx", "aiohttp"])
def test_every_exception_of_the_library_is_caught_and_mapped(module: object) -> None:
    faults = [each for each in exceptions(module) if each.__name__ not in OTHERS]
    assert len(faults) > 15
    assert [each for each in faults if not issubclass(each, error_text.FAULTS)] == []
    kinds = [kind for kind, _ in error_text.CAUSES]
    unmapped = [each for each in faults if not issubclass(each, tuple(kinds))]
    # the bare base classes are never raised themselves
    bases = {"HTTPError", "RequestError", "TransportError", "ProtocolError", "HTTPStatusError"}
    assert {each.__name__ for each in unmapped} <= bases


def test_every_kind_is_one_of_the_closed_list() -> None:
    assert {cause.kind for _, cause in error_text.CAUSES} <= set(FAILURES)
    assert set(error_text.ANSWERED) <= set(FAILURES)
    assert set(http_client.ERRORS) <= set(FAILURES)


def test_no_row_stands_behind_one_that_covers_it() -> None:
    for number, (kind, _) in enumerate(error_text.CAUSES):
        earlier = [other for other, _ in error_text.CAUSES[:number]]
        assert not issubclass(kind, tuple(earlier)), f"{kind.__name__} is never reached"


def test_a_loop_of_causes_ends() -> None:
    one, other = OSError(), OSError()
    one.__context__, other.__context__ = other, one
    assert error_text.cause_of(one).kind == "unreachable"


def test_what_nobody_foresaw_has_words_too() -> None:
    assert error_text.cause_of(httpx.TransportError("odd")).words == "the connection failed"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def ask(endpoint: Endpoint) -> Failed:
    events = [event async for batch in providers.stream(endpoint, QUESTION) for event in batch]
    assert isinstance(events[-1], Failed)
    return events[-1]


@pytest.fixture(params=TRANSPORTS)
def either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(http_client, "transport", TRANSPORTS[request.param])
    monkeypatch.setattr(transport, "PAUSES", (0.001, 0.001))
    return str(request.param)


@pytest.mark.asyncio
@pytest.mark.usefixtures("either")
@pytest.mark.parametrize(
    ("steps", "kind", "words"),
    [
        (CLOSE, "unreachable", "does not answer (the connection was closed)"),
        ((b"HTTP/1.1 2",), "unreachable", "the connection was closed"),
        ((HEAD,), "cut", "was cut off"),
        ((HEAD, said("Hi")), "cut", "was cut off"),
        ((b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nshort",), "cut", "was cut off"),
        ((b"SSH-2.0-OpenSSH_9.2\r\n\r\n",), "garbled", "is not Ollama (it does not speak HTTP)"),
        (answer(200, b"<html>"), "cut", "was cut off"),
        (answer(200, b"<html>\n"), "garbled", "not a line of an Ollama answer"),
    ],
)
async def test_faults_of_a_server(steps: Sequence[Step], kind: str, words: str) -> None:
    async with scripted(steps) as server:
        failed = await ask(server.endpoint())
        assert failed.kind == kind
        assert words in failed.message


@pytest.mark.asyncio
@pytest.mark.usefixtures("either")
@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://127.0.0.1:{port}", "(connection refused). Start it with `ollama serve`"),
        ("http://no-such-host.invalid", "(its name is not known)"),
        ("ftp://127.0.0.1", "(its address cannot be used)"),
        ("nonsense", "(its address cannot be used)"),
        ("http://", "(its address cannot be used)"),
        ("http://[::1", "(its address cannot be used)"),
    ],
)
async def test_faults_on_the_way(url: str, words: str) -> None:
    try:
        failed = await ask(Endpoint("ollama", url.format(port=free_port())))
        assert failed.kind == "unreachable"
        assert words in failed.message
    finally:
        await providers.close()


@pytest.mark.asyncio
@pytest.mark.usefixtures("either")
async def test_nobody_takes_the_connection() -> None:
    """A listener whose queue is full: the connection is neither taken nor refused."""
    with ExitStack() as sockets:
        full = sockets.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):
            waiting = sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        url = f"http://127.0.0.1:{full.getsockname()[1]}"
        try:
            failed = await ask(Endpoint("ollama", url, limits=Limits(connect=0.1)))
        finally:
            await providers.close()
    assert failed.kind == "unreachable"
    assert "(no connection in time)" in failed.message


@pytest.mark.asyncio
@pytest.mark.usefixtures("either")
async def test_a_chunk_that_is_none() -> None:
    async with scripted((HEAD, b"zz\r\nno chunk")) as server:
        assert (await ask(server.endpoint())).kind in ("cut", "garbled")  # whether the head was read alone is chance


@pytest.mark.asyncio
@pytest.mark.usefixtures("either")
async def test_a_plain_server_behind_https() -> None:
    async def plain(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as server:
        endpoint = Endpoint("ollama", f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        failed = await ask(endpoint)
        with pytest.raises(ProviderError) as raised:
            await providers.get_json(endpoint, "/api/version")
        await providers.close()
    assert failed.kind == raised.value.kind == "unreachable"
    assert "no secure connection" in failed.message
