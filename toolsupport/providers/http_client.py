"""Makes and keeps the connections of each event loop to model servers."""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, cast
from urllib.parse import unquote_to_bytes
from weakref import WeakKeyDictionary

import aiohttp
import httpx
import orjson
from httpx_aiohttp import AiohttpTransport

from toolsupport import loop_share
from toolsupport.core.errors import GarbledReply, ProviderError, RequestRefused, Unreachable
from toolsupport.core.events import Failed
from toolsupport.core.sentences import sentence
from toolsupport.core.server_address_rules import fits_header
from toolsupport.core.types import Endpoint
from toolsupport.providers import error_text
from toolsupport.providers.address_guard import guarded_socket
from toolsupport.providers.dns import AddressResolver
from toolsupport.providers.server_kinds import path_at

LARGEST_ANSWER = 16 * 1024 * 1024
LARGEST_ERROR = 64 * 1024
PIECE = 16 * 1024  # bytes that are read at once: `pieces` reads as many
KEPT_ALIVE = 30.0  # seconds

AGENT = f"python-httpx/{httpx.__version__}"


@dataclass(frozen=True, slots=True)
class LoopTransports:
    """The transports of a loop, by whether their servers may be inside this network; `ending` closes them."""

    by_place: dict[bool, httpx.AsyncBaseTransport]
    ending: AsyncGenerator[None]


_transports: WeakKeyDictionary[asyncio.AbstractEventLoop, LoopTransports] = WeakKeyDictionary()
# Addresses in the logs of servers for all their addresses; for a connection they mean this machine.
THIS_MACHINE = {"0.0.0.0": "127.0.0.1", "::": "::1"}

ERRORS: dict[str, type[ProviderError]] = {
    "unreachable": Unreachable,
    "timeout": Unreachable,
    "cut": Unreachable,
    "garbled": GarbledReply,
    "too_large": GarbledReply,
}


@cache
def trusted_certificates() -> ssl.SSLContext:
    """Return the trusted certificates; loading them takes 50 ms, so it is done once."""
    return httpx.create_ssl_context(trust_env=False)


def transport(inside: bool = True) -> httpx.AsyncBaseTransport:
    """Return httpx over aiohttp, at half the cost per token. No proxy from the environment, no limit of connections.

    Each connection is made to an address that was judged; `inside`: it may lead into this network.
    """
    made = AiohttpTransport(verify=trusted_certificates(), trust_env=False)
    made.client = lambda: aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            limit=0,
            ssl=made.ssl_context,
            keepalive_timeout=KEPT_ALIVE,
            resolver=AddressResolver(),
            socket_factory=guarded_socket(inside),
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
    )
    return made


async def send(endpoint: Endpoint, request: httpx.Request) -> httpx.Response:
    """Return the answer to a request, with its body unread. Raises error_text.FAULTS.

    No redirect is followed and no cookie kept. A client of httpx would look for both, for an authentication and for
    hooks, which takes a third of the time of a request.
    """
    return await _kept(endpoint.inside).handle_async_request(request)


def _kept(inside: bool) -> httpx.AsyncBaseTransport:
    """Return the transport of the running loop for servers that may be `inside` this network, or for the others."""
    loop = asyncio.get_running_loop()
    here = (_transports.get(loop) or _begun(loop)).by_place
    if inside not in here:
        here[inside] = transport() if inside else transport(inside=False)
    return here[inside]


def _begun(loop: asyncio.AbstractEventLoop) -> LoopTransports:
    """Begin the transports of a loop, and their `ending`: a loop ends the generators that began in it."""
    by_place: dict[bool, httpx.AsyncBaseTransport] = {}
    made = _transports[loop] = LoopTransports(by_place, _closed_at_the_end(by_place))
    with suppress(StopIteration):
        made.ending.asend(None).send(None)
    return made


async def _closed_at_the_end(by_place: dict[bool, httpx.AsyncBaseTransport]) -> AsyncGenerator[None]:
    """Close the transports of a loop when it ends without `close`: what ends a loop ends its generators first."""
    try:
        yield
    finally:
        _transports.pop(asyncio.get_running_loop(), None)
        for found in by_place.values():
            await found.aclose()


def get_ready(endpoint: Endpoint) -> None:
    """Make what the first request of a loop needs."""
    _kept(endpoint.inside)


async def close() -> None:
    """Close the running loop's connections."""
    if found := _transports.get(asyncio.get_running_loop()):
        await found.ending.aclose()


@lru_cache(maxsize=500)
def _address(base_url: str, path: str) -> tuple[httpx.URL, bytes, httpx.Headers]:
    """Return an address without its name and password, these, and the headers of requests to it.

    Raises httpx.InvalidURL or UnsupportedProtocol.
    """
    base = base_url.rstrip("/")
    url = httpx.URL(base + path_at(base, path))
    if url.scheme not in ("http", "https") or not url.host:
        raise httpx.UnsupportedProtocol("an address begins with http:// or https:// and a host name")
    # An address with a password in it is refused where there is a key as well.
    bare = url.copy_with(userinfo=b"")
    if bare.host in THIS_MACHINE:
        bare = bare.copy_with(host=THIS_MACHINE[bare.host])
    # Compressed answers are not asked for: they would be held back, and could unpack to any size.
    headers = {"host": bare.netloc.decode("ascii"), "accept": "*/*", "user-agent": AGENT}
    headers |= {"accept-encoding": "identity", "content-type": "application/json"}
    return bare, url.userinfo, httpx.Headers(headers)


def request(endpoint: Endpoint, path: str, body: bytes | None = None, method: str = "") -> httpx.Request:
    """Build a GET, or a POST of JSON, or `method`. Raises error_text.FAULTS: an address or a key cannot be used.

    The headers are copied and the body is given as a stream: building a request so takes 4 µs instead of 14.
    """
    bare, userinfo, base = _address(endpoint.base_url, path)
    headers = httpx.Headers(base)
    if body is not None:
        headers["content-length"] = str(len(body))
    if endpoint.api_key:
        if not fits_header(endpoint.api_key):
            raise error_text.KeyUnwritable("the key cannot be sent")
        headers["authorization"] = f"Bearer {endpoint.api_key}"
    elif userinfo:
        headers["authorization"] = f"Basic {b64encode(unquote_to_bytes(userinfo)).decode()}"
    # The pool's time is the only one that covers looking up the name.
    limits = {"connect": endpoint.limits.connect, "pool": endpoint.limits.connect, "read": None, "write": None}
    method = method or ("GET" if body is None else "POST")
    stream, extensions = httpx.ByteStream(body or b""), {"timeout": limits}
    made = httpx.Request(method, bare, headers=headers, stream=stream, extensions=extensions)
    made.read()
    return made


async def read(response: httpx.Response, limit: int) -> bytes:
    """Return the body up to `limit` bytes; one byte more means that there was more."""
    body = bytearray()
    async with aclosing(pieces(response)) as received:
        async for piece in received:
            body += piece
            if len(body) > limit:
                break
    return bytes(body[: limit + 1])


def pieces(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """Yield the body as it arrives; the caller closes this."""
    return cast(AsyncGenerator[bytes, None], aiter(cast(httpx.AsyncByteStream, response.stream)))


def _content(response: httpx.Response) -> Any:
    """Return what aiohttp received of a body; None for another transport."""
    return getattr(getattr(response.stream, "_aiohttp_response", None), "content", None)


def received(response: httpx.Response) -> Callable[[], bytes]:
    """Return a function that takes the received part of a body; b"" where `pieces` must wait, or would raise or end.

    To wait for more needs a limit of time, which costs more than most pieces.
    """
    content = _content(response)
    if not isinstance(content, aiohttp.StreamReader):
        return bytes
    return lambda: content.read_nowait(PIECE) if content.exception() is None else b""


def unread(response: httpx.Response) -> bytes:
    """Return the received part of a body that was not read yet: aiohttp withholds it once its connection is lost."""
    content = _content(response)
    # An answer without a body has no buffer.
    return b"".join(content._read_nowait_chunk(-1) for _ in range(len(getattr(content, "_buffer", ()))))


async def get_json(endpoint: Endpoint, path: str) -> Any:
    """Return the JSON answer to a GET. Raises ProviderError; set a time limit around it."""
    return await _parsed(endpoint, await _answer(endpoint, path, None))


async def post_json(endpoint: Endpoint, path: str, body: Any) -> Any:
    """Return the JSON answer to a POST of `body`. Raises ProviderError; set a time limit around it."""
    return await _parsed(endpoint, await _answer(endpoint, path, orjson.dumps(body)))


async def delete(endpoint: Endpoint, path: str, body: Any) -> None:
    """Send a DELETE with `body`; its answer may be empty. Raises ProviderError; set a time limit around it."""
    await _answer(endpoint, path, orjson.dumps(body), "DELETE")


async def _answer(endpoint: Endpoint, path: str, body: bytes | None, method: str = "") -> bytes:
    try:
        response = await send(endpoint, request(endpoint, path, body, method))
        try:
            answer = await read(response, LARGEST_ANSWER)
        finally:
            await response.aclose()
    except error_text.FAULTS as error:
        raise raised(error_text.not_reached(endpoint, error)) from error
    if response.status_code != 200:
        text = answer[:LARGEST_ERROR].decode(errors="replace")
        raise raised(error_text.answered(endpoint, response.status_code, text))
    return answer


async def _parsed(endpoint: Endpoint, answer: bytes) -> Any:
    try:
        return await loop_share.apart(lambda: orjson.loads(answer[:LARGEST_ANSWER]), len(answer))
    except orjson.JSONDecodeError as error:
        raise raised(error_text.failed(endpoint, "garbled", sentence("not_json"))) from error


def raised(failure: Failed) -> ProviderError:
    """Return the exception for a failure, for callers that need a value instead of a stream of events."""
    kind = ERRORS.get(failure.kind, RequestRefused)
    return kind(failure.message, kind=failure.kind, status=failure.status, body=failure.body)
