"""Reads HTTP/1.1 requests from a stream and writes the bytes of responses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from urllib.parse import unquote

HEAD_LIMIT = 64 * 1024
BODY_LIMIT = 32 * 1024 * 1024
PLAIN = "text/plain; charset=utf-8"
# Ollama has statuses the standard library does not know.
PHRASES = {status.value: status.phrase for status in HTTPStatus} | {499: ""}
SERVER = "toolsupport-simulator"


class BadRequest(Exception):
    """What arrived is no request that can be answered; the connection ends with this status."""

    def __init__(self, status: int = 400) -> None:
        super().__init__(PHRASES[status])
        self.status = status


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request. Header names are lower case; the path has no query and is not percent-encoded."""

    method: str
    path: str
    version: str
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def keeps(self) -> bool:
        """Whether the client wants the connection kept."""
        wish = self.headers.get("connection", "").lower()
        return wish == "keep-alive" if self.version == "HTTP/1.0" else "close" not in wish


@dataclass(frozen=True, slots=True)
class Response:
    """A whole response."""

    body: bytes
    status: int = 200
    content_type: str = "application/json; charset=utf-8"
    allow: str = ""


@dataclass(frozen=True, slots=True)
class StreamedResponse:
    """A response whose pieces come one by one; each becomes one chunk on the wire."""

    pieces: AsyncGenerator[bytes, None]
    content_type: str


async def read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> ReceivedRequest | None:
    """The next request, None where the client ended the connection. Raises BadRequest."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError:
        raise BadRequest(431) from None
    request = _parse(head)
    if request.headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    body = await _body(reader, request.headers)
    return ReceivedRequest(request.method, request.path, request.version, request.headers, body)


def _parse(head: bytes) -> ReceivedRequest:
    first, *lines = head[:-4].decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[0].isalpha() or parts[2] not in ("HTTP/1.0", "HTTP/1.1"):
        raise BadRequest
    headers = dict(_header(line) for line in lines)
    if parts[2] == "HTTP/1.1" and "host" not in headers:
        raise BadRequest
    return ReceivedRequest(parts[0], unquote(parts[1].split("?")[0]), parts[2], headers)


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name or name != name.strip():
        raise BadRequest
    return name.lower(), value.strip()


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    try:
        if "transfer-encoding" in headers:
            return await _chunked(reader, headers)
        return await reader.readexactly(_size(headers.get("content-length", "0"), 10, BODY_LIMIT))
    except asyncio.IncompleteReadError:
        raise ConnectionResetError from None
    except asyncio.LimitOverrunError:
        raise BadRequest from None


async def _chunked(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    # Two ways of saying how long a body is are an old trick to smuggle a request past a proxy.
    if headers["transfer-encoding"].lower() != "chunked" or "content-length" in headers:
        raise BadRequest
    body = bytearray()
    while size := _size((await reader.readuntil(b"\r\n")).decode("latin-1").split(";")[0].strip(), 16, BODY_LIMIT):
        body += await reader.readexactly(size)
        if await reader.readexactly(2) != b"\r\n":
            raise BadRequest
        if len(body) > BODY_LIMIT:
            raise BadRequest(413)
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass
    return bytes(body)


def _size(text: str, radix: int, limit: int) -> int:
    if not text.isalnum() or not text.isascii() or len(text) > 20:
        raise BadRequest
    try:
        size = int(text, radix)
    except ValueError:
        raise BadRequest from None
    if size > limit:
        raise BadRequest(413)
    return size


def head(status: int, headers: Mapping[str, str]) -> bytes:
    """The status line and headers, with what every response carries."""
    every = {"Server": SERVER, **headers, "Date": formatdate(usegmt=True)}
    lines = [f"HTTP/1.1 {status} {PHRASES[status]}", *(f"{name}: {value}" for name, value in every.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def whole(response: Response, request: ReceivedRequest) -> bytes:
    """A response in full; HEAD gets its headers only."""
    headers = {"Content-Type": response.content_type, "Content-Length": str(len(response.body))}
    headers |= {"Allow": response.allow} if response.allow else {}
    headers |= {} if request.keeps else {"Connection": "close"}
    return head(response.status, headers) + (b"" if request.method == "HEAD" else response.body)


def refusal(error: BadRequest) -> bytes:
    """What is sent before a connection ends that made no sense."""
    body = f"{error.status} {error}".encode()
    return head(error.status, {"Content-Type": PLAIN, "Connection": "close"}) + body


def chunk(piece: bytes) -> bytes:
    """One piece of a stream; an empty one is its end."""
    return b"%x\r\n%b\r\n" % (len(piece), piece)
