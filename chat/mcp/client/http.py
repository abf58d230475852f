"""Connects to an MCP server over HTTP, through the guarded transport."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from chat.mcp.client.message_guard import LINE_BYTES, MessageGuard
from toolsupport.core.remote_tools import RemoteServer

MODULES = ("chat.mcp.client.guarded_http", "httpx2", "mcp.client.streamable_http")
CONNECT, WRITE, SILENCE = 5.0, 30.0, 300.0  # seconds
OAUTH = "It signs people in with OAuth, which is not supported: enter a token that it accepts."
# Answers of a status alone, as errors of the request that they answer.
NO_TOKEN, NO_TOKEN_OAUTH = "It requires a token (status 401).", f"It requires a token (status 401). {OAUTH}"
NO_TOKEN_REFUSED = "It refuses requests without a token (status 403)."
REFUSED = {
    401: "It requires another token (status 401).",
    403: "It refuses this token (status 403).",
    405: "It takes no messages at this address (status 405), which may be that of the older transport with SSE.",
    407: "A proxy in between requires a password (status 407).",
}
REFUSALS = frozenset({NO_TOKEN, NO_TOKEN_OAUTH, NO_TOKEN_REFUSED, *REFUSED.values()})


@asynccontextmanager
async def opened(server: RemoteServer, lost: Callable[[], None], guard: MessageGuard) -> AsyncIterator[Any]:
    """Open the streams for the SDK's client. Nothing reports the loss of an HTTP server: it is polled."""
    # In a thread: the first import takes 0.4 s.
    careful, http, sdk = [await asyncio.to_thread(import_module, name) for name in MODULES]
    headers = {"accept-encoding": "identity"}
    if server.token:
        headers["authorization"] = f"Bearer {server.token}"
    limits = http.Timeout(SILENCE, connect=CONNECT, write=WRITE, pool=CONNECT)
    client = http.AsyncClient(
        transport=careful.GuardedTransport(guard), headers=headers, timeout=limits, trust_env=False
    )
    spoken = sdk.streamable_http_client(server.url, http_client=client, max_sse_event_size=LINE_BYTES)
    async with client, spoken as streams:
        yield streams
