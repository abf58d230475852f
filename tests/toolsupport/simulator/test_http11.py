"""HTTP as it arrives: good, bad and cut."""

from __future__ import annotations

import asyncio
from unittest.mock import create_autospec

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import at_least
from tests.toolsupport.simulator.raw import ask, exchange, post
from toolsupport.simulator.http11 import BODY_LIMIT, HEAD_LIMIT, BadRequest, connection, read
from toolsupport.simulator.server import Simulator

NOWHERE = create_autospec(asyncio.StreamWriter)
GET = b"GET /api/version HTTP/1.1\r\nHost: test\r\n"

BAD = {
    b"nonsense\r\n\r\n": 400,
    b"GET /\r\n\r\n": 400,
    b"GET / HTTP/2.0\r\nHost: a\r\n\r\n": 400,
    b"G=T / HTTP/1.1\r\nHost: a\r\n\r\n": 400,
    b"GET / HTTP/1.1\r\n\r\n": 400,
    b"GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n": 400,
    b"GET / HTTP/1.1\r\nHost : a\r\n\r\n": 400,
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n": 400,
    b"GET / HTTP/1.1\r\nHost: a\r\n folded: b\r\nX: a\r\n\0b\r\n\r\n": 400,
    b"GET http://[a/api/version HTTP/1.1\r\nHost: a\r\n\r\n": 400,
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd": 400,
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n": 400,
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1_0\r\n\r\n": 400,
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n": 400,
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n": 400,
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n": 400,
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc": 400,
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % (BODY_LIMIT + 1): 413,
    b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * (HEAD_LIMIT + 10) + b"\r\n\r\n": 431,
    b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * (HEAD_LIMIT // 4) + b"\r\n": 431,
    b"GET /" + b"x" * (HEAD_LIMIT + 10): 431,
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"x" * (HEAD_LIMIT + 10): 431,
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"X: y\r\n" * (HEAD_LIMIT // 4): 431,
}


@pytest.mark.asyncio
@pytest.mark.parametrize("sent", BAD)
async def test_bad_requests_are_refused_and_end_the_connection(simulator: Simulator, sent: bytes) -> None:
    answer = await exchange(simulator.port, sent)
    assert answer.startswith(b"HTTP/1.1 %d " % BAD[sent])
    assert b"Connection: close" in answer


@pytest.mark.asyncio
async def test_a_connection_is_kept_until_one_side_wants_to_end_it(simulator: Simulator) -> None:
    answer = await exchange(simulator.port, GET + b"\r\n", GET + b"\r\n", GET + b"Connection: close\r\n\r\n", GET)
    assert answer.count(b'{"version":"0.13.0"}') == 3


@pytest.mark.asyncio
async def test_old_clients_get_no_chunks(simulator: Simulator) -> None:
    sent = post("/api/chat", ask("hello")).replace(b"HTTP/1.1", b"HTTP/1.0")
    head, _, body = (await exchange(simulator.port, sent)).partition(b"\r\n\r\n")
    assert b"Transfer-Encoding" not in head
    assert body.startswith(b'{"model":"sim-honest"')
    assert b'"done":true' in body.splitlines()[-1]


@pytest.mark.asyncio
async def test_a_chunked_body_is_read(simulator: Simulator) -> None:
    head = b"POST /api/show HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    answer = await exchange(simulator.port, head, b'9;x=y\r\n{"model":\r\n', b'd\r\n"sim-honest"}\r\n0\r\nT: 1\r\n\r\n')
    assert b'"family":"simulated"' in answer


@pytest.mark.asyncio
async def test_a_request_is_the_same_however_it_is_cut(simulator: Simulator) -> None:
    sent = GET + b"\r\n" + post("/api/show", {"model": "sim-honest"}) + GET + b"Connection: close\r\n\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", simulator.port)
    for at in range(len(sent)):
        writer.write(sent[at : at + 1])
        await writer.drain()
    answer = await reader.read()
    writer.close()
    assert [answer.count(part) for part in (b'{"version":"0.13.0"}', b'"family":"simulated"')] == [2, 1]


@pytest.mark.asyncio
@pytest.mark.parametrize("end", [1, 20, len(GET), -1])
async def test_half_a_request_gets_no_answer(simulator: Simulator, end: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", simulator.port)
    writer.write(post("/api/show", {"model": "sim-honest"})[:end])
    writer.write_eof()
    assert await reader.read() == b""
    writer.close()


@pytest.mark.asyncio
@pytest.mark.parametrize("target", [b"http://test/api/version", b"HTTP://test:80/api/version?a=b", b"/api/%76ersion"])
async def test_the_whole_address_may_be_asked_for(simulator: Simulator, target: bytes) -> None:
    sent = GET.replace(b"/api/version", target) + b"Connection: close\r\n\r\n"
    assert b'{"version":"0.13.0"}' in await exchange(simulator.port, sent)


@pytest.mark.asyncio
async def test_what_waits_behind_a_refused_request_is_not_answered(simulator: Simulator) -> None:
    sent = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + GET + b"\r\n"
    answer = await exchange(simulator.port, GET + b"\r\n" + sent)
    assert (answer.count(b"HTTP/1.1 "), answer.count(b"HTTP/1.1 400 ")) == (2, 1)


@pytest.mark.asyncio
async def test_a_client_that_asks_first_is_told_to_go_on(simulator: Simulator) -> None:
    answer = await exchange(simulator.port, post("/api/show", {}, "Expect: 100-continue", "Connection: close"))
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 400 ")
    head, _, body = post("/api/show", {"model": "sim-honest"}, "Expect: 100-continue").partition(b"\r\n\r\n")
    reader, writer = await asyncio.open_connection("127.0.0.1", simulator.port)
    writer.write(head + b"\r\n\r\n")
    assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    writer.write(body)
    assert await reader.readuntil(b"\r\n") == b"HTTP/1.1 200 OK\r\n"
    writer.close()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("method", "path", "status", "text"),
    [
        ("GET", "/nowhere", 404, "404 page not found"),
        ("GET", "/v1/model", 404, "404 page not found"),
        ("GET", "/api/chat", 405, "405 method not allowed"),
        ("POST", "/api/tags", 405, "405 method not allowed"),
        ("DELETE", "/v1/models/x", 405, "405 method not allowed"),
        ("GET", "/?query=1", 200, "Ollama is running"),
    ],
)
async def test_paths_and_methods(http: httpx.AsyncClient, method: str, path: str, status: int, text: str) -> None:
    answer = await http.request(method, path)
    assert (answer.status_code, answer.text) == (status, text)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.asyncio
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=at_least(25), deadline=None)
@given(
    st.binary(max_size=80)
    | st.lists(st.sampled_from([*BAD, GET, b"\r\n", b"5", b":", b"Transfer-Encoding: chunked\r\n"])).map(b"".join)
)
async def test_any_bytes_are_a_request_or_refused(data: bytes) -> None:
    reader = asyncio.StreamReader(limit=HEAD_LIMIT)
    reader.feed_data(data)
    reader.feed_eof()
    try:
        request = await read(connection(), reader, NOWHERE)
    except (BadRequest, ConnectionResetError):
        return
    assert request is None or request.path
