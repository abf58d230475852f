"""The HTTP transport with the rules for outgoing calls; importing it imports the SDK.

A name is resolved once per request, its addresses are checked, and the connection uses a checked one. No redirect is
followed, no proxy comes from the environment, and no answer is decompressed.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from functools import cache

import httpx2

from chat.mcp.client.address_check import judged_address
from chat.mcp.client.message_guard import MessageGuard, ServerBroke, StreamCounter
from toolsupport.core.errors import ConfigError

REFUSED = {
    401: "It requires another token",
    403: "It refuses this token",
    407: "A proxy in between requires a password",
}


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

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        host = request.url.host
        request.extensions = {**request.extensions, "sni_hostname": host}
        request.url = request.url.copy_with(host=await judged_address(host))
        response = await self.inner.handle_async_request(request)
        complaint = complaint_about(response)
        if complaint:
            await response.aclose()
            raise ConfigError(complaint)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        events = response.headers.get("content-type", "").startswith("text/event-stream")
        response.stream = BoundedStream(response.stream, StreamCounter(self._guard, events=events))
        return response

    async def aclose(self) -> None:
        await self.inner.aclose()


def complaint_about(response: httpx2.Response) -> str:
    """Return why an answer is not read, "" if it is."""
    status = response.status_code
    if status in REFUSED:
        return f"{REFUSED[status]} (status {status})."
    if response.is_redirect:
        return f"It redirects (status {status}), which is not followed. Enter the address it sends to."
    if response.headers.get("content-encoding", "identity") != "identity":
        return "It sends compressed answers, which were not requested."
    return ""
