"""HTTP/1.1 of the simulator: connects h11's protocol events to a stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from urllib.parse import unquote, urlsplit

import h11

READ_SIZE = 4096
HEAD_LIMIT = 64 * 1024
BODY_LIMIT = 32 * 1024 * 1024
PLAIN = "text/plain; charset=utf-8"
VERSIONS = (b"1.0", b"1.1")
# Ollama has statuses the standard library does not know.
PHRASES = {status.value: status.phrase for status in HTTPStatus} | {499: ""}
SERVER = "toolsupport-simulator"


class BadRequest(Exception):
    """An invalid request; the connection ends with this status."""

    def __init__(self, status: int = 400) -> None:
        super().__init__(PHRASES[status])
        self.status = status


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request. The path has no query and is not percent-encoded."""

    method: str
    path: str
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Response:
    """A complete response."""

    body: bytes
    status: int = 200
    content_type: str = "application/json; charset=utf-8"
    allow: str = ""


@dataclass(frozen=True, slots=True)
class StreamedResponse:
    """A response in pieces; each becomes one HTTP chunk."""

    pieces: AsyncGenerator[bytes, None]
    content_type: str


def connection() -> h11.Connection:
    """Return the state of one connection. Heads are limited to HEAD_LIMIT, which h11 checks after each piece."""
    return h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_LIMIT - READ_SIZE)


async def read(
    http: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> ReceivedRequest | None:
    """Return the next request, None if the client closed the connection first. Raises BadRequest."""
    try:
        head = await _next(http, reader)
        if not isinstance(head, h11.Request):
            return None
        method, path = head.method.decode(), _path(head)
        if http.they_are_waiting_for_100_continue:
            go_on = h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue")
            writer.write(http.send(go_on) or b"")
        body = bytearray()
        while isinstance(part := await _next(http, reader), h11.Data):
            body += part.data
            if len(body) > BODY_LIMIT:
                raise BadRequest(413)
    except h11.RemoteProtocolError as error:
        raise BadRequest(431 if error.error_status_hint == 431 else 400) from error
    return None if isinstance(part, h11.ConnectionClosed) else ReceivedRequest(method, path, bytes(body))


async def _next(
    http: h11.Connection, reader: asyncio.StreamReader
) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
    """Return the client's next event; a connection that ends within a request is closed, not refused."""
    while (event := http.next_event()) is h11.NEED_DATA:
        data = await reader.read(READ_SIZE)
        if not data:
            return h11.ConnectionClosed()
        http.receive_data(data)
    return event


def _path(head: h11.Request) -> str:
    """Return the path of a head. Raises BadRequest where h11 is more tolerant than the simulated server."""
    names = dict(head.headers)
    # Two headers for the length of a body can smuggle a request past a proxy.
    doubtful = b"transfer-encoding" in names and b"content-length" in names
    if head.http_version not in VERSIONS or doubtful:
        raise BadRequest
    if int(names.get(b"content-length", b"0")) > BODY_LIMIT:
        raise BadRequest(413)
    target = head.target.decode("latin-1")
    try:
        # A client that uses this server as a proxy sends the full URL.
        path = target.split("?")[0] if target.startswith("/") else urlsplit(target).path or "/"
    except ValueError:
        raise BadRequest from None
    return unquote(path)


def head(http: h11.Connection, status: int, headers: Mapping[str, str]) -> bytes:
    """Return the status line and headers, including those of every response."""
    every = {"Server": SERVER, **headers, "Date": formatdate(usegmt=True)}
    response = h11.Response(status_code=status, headers=list(every.items()), reason=PHRASES[status].encode())
    return http.send(response) or b""


def whole(http: h11.Connection, response: Response, method: str) -> bytes:
    """Return a complete response; HEAD gets its headers only."""
    headers = {"Content-Type": response.content_type, "Content-Length": str(len(response.body))}
    headers |= {"Allow": response.allow} if response.allow else {}
    body = b"" if method == "HEAD" else response.body
    return head(http, response.status, headers) + piece(http, body) + end(http)


def refusal(http: h11.Connection, error: BadRequest) -> bytes:
    """Return the response to an invalid request; the connection is closed after it."""
    body = f"{error.status} {error}".encode()
    headers = {"Content-Type": PLAIN, "Content-Length": str(len(body)), "Connection": "close"}
    return head(http, error.status, headers) + piece(http, body)


def piece(http: h11.Connection, data: bytes) -> bytes:
    """Return a piece of a body: a chunk if the client supports chunks."""
    return http.send(h11.Data(data=data)) or b""


def end(http: h11.Connection) -> bytes:
    """Return the end of a body."""
    return http.send(h11.EndOfMessage()) or b""
