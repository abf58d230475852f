"""The HTTP transport with the rules for outgoing calls; importing it imports the SDK.

A name is resolved once per request, its addresses are checked, and the connection uses a checked one. No redirect is
followed, no proxy comes from the environment, and no answer is decompressed.
"""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import cache

import httpx2
from mcp_types import JSONRPCError, jsonrpc_message_adapter

from chat.mcp.client.address_check import judged_addresses
from chat.mcp.client.http import NO_TOKEN, NO_TOKEN_OAUTH, NO_TOKEN_REFUSED, REFUSED
from chat.mcp.client.message_guard import MessageGuard, ServerBroke, StreamCounter
from toolsupport.core.errors import ConfigError

STATUS_ALONE = -32000  # the code of JSON-RPC for any error of a server


class BoundedStream(httpx2.AsyncByteStream):
    """The body of an answer: of a stream of events, which may continue for hours, each event is limited."""

    def __init__(self, inner: httpx2.AsyncByteStream, counter: StreamCounter) -> None:
        self.inner = inner
        self._counter = counter

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self.inner:
                self._counter.feed(piece)
                yield piece
            self._counter.end()
        except ServerBroke as error:
            raise httpx2.StreamError(str(error)) from error

    async def aclose(self) -> None:
        await self.inner.aclose()


@cache
def _trusted_certificates() -> ssl.SSLContext:
    """Return the trusted certificates; loading them keeps the event loop busy for 20 ms, so it is done once."""
    return httpx2.create_ssl_context(trust_env=False)


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Connects to permitted addresses only. Raises ConfigError for refused answers."""

    def __init__(self, guard: MessageGuard) -> None:
        self.inner = httpx2.AsyncHTTPTransport(verify=_trusted_certificates(), trust_env=False)
        self._guard = guard
        self._last = ""  # the last address that could be reached

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        host = request.url.host
        request.extensions = {**request.extensions, "sni_hostname": host}
        response = await self._first_reached(request, await judged_addresses(host))
        complaint = complaint_about(response)
        if complaint:
            await response.aclose()
            raise ConfigError(complaint)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        events = response.headers.get("content-type", "").startswith("text/event-stream")
        response.stream = BoundedStream(response.stream, StreamCounter(self._guard, events=events))
        return await explained(request, response)

    async def _first_reached(self, request: httpx2.Request, addresses: list[str]) -> httpx2.Response:
        """Send it to the first address that can be reached: `localhost` has two, and most servers use one of them."""
        *others, last = sorted(addresses, key=lambda address: address == self._last, reverse=True)
        for address in others:
            with suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                return await self._sent(request, address)
        return await self._sent(request, last)

    async def _sent(self, request: httpx2.Request, address: str) -> httpx2.Response:
        request.url = request.url.copy_with(host=address)
        response = await self.inner.handle_async_request(request)
        self._last = address
        return response

    async def aclose(self) -> None:
        await self.inner.aclose()


def complaint_about(response: httpx2.Response) -> str:
    """Return why an answer is not read, "" if it is."""
    if response.is_redirect:
        # Without what may hold a secret: a query, a name with a password.
        place = re.split(r"[?#]", response.headers.get("location", ""))[0][:200]
        advice = f" Enter the address it sends to: {place}." if place and "@" not in place else ""
        return f"It redirects (status {response.status_code}), which is not followed.{advice}"
    if response.headers.get("content-encoding", "identity") != "identity":
        return "It sends compressed answers, which were not requested."
    return ""


async def explained(request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
    """Return an answer whose error the SDK passes on to the request that it answers, and to no other.

    The SDK has one text for every status without a message of the protocol. It handles 404 itself, which means an
    unknown method, or a session that has ended.
    """
    if request.method != "POST" or not response.is_error or response.status_code == 404:
        return response
    try:
        body = await response.aread()
    except httpx2.StreamError:  # too long; the connection ends for that
        body = b""
    finally:
        await response.aclose()
    # A server's own words explain its errors best, but a person must read which key is wrong.
    if response.status_code in (401, 407) or not _is_message(body):
        error = {"code": STATUS_ALONE, "message": reason_of(request, response)}
        body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    return httpx2.Response(response.status_code, headers={"content-type": "application/json"}, content=body)


def reason_of(request: httpx2.Request, response: httpx2.Response) -> str:
    """Return what a status without a message means."""
    status = response.status_code
    if status == 401 and "authorization" not in request.headers:
        oauth = "resource_metadata" in response.headers.get("www-authenticate", "")
        return NO_TOKEN_OAUTH if oauth else NO_TOKEN
    if status == 403 and "authorization" not in request.headers:
        return NO_TOKEN_REFUSED
    return REFUSED.get(status) or f"status {status} {response.reason_phrase}".strip()


def _is_message(body: bytes) -> bool:
    try:
        return isinstance(jsonrpc_message_adapter.validate_json(body, by_name=False), JSONRPCError)
    except ValueError:
        return False
