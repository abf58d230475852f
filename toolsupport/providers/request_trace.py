"""Sends a request to a model server, within a span if spans are recorded."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from urllib.parse import urlsplit

from toolsupport.config import traces
from toolsupport.config.traces import TraceSpan
from toolsupport.core.events import Event, Failed, Finished, Usage
from toolsupport.core.types import Endpoint, Request
from toolsupport.providers import transport
from toolsupport.providers.exchange_recorder import ExchangeRecorder

# Servers may state any reason: others are content.
REASONS = ("stop", "length", "tool_calls", "load", "unload")


def stream(
    endpoint: Endpoint, request: Request, recorder: ExchangeRecorder | None = None
) -> AsyncGenerator[list[Event], None]:
    """Return the batches of transport.stream."""
    batches = transport.stream(endpoint, request, recorder)
    return _watched(endpoint, request, batches) if traces.recording() else batches


async def _watched(
    endpoint: Endpoint, request: Request, batches: AsyncGenerator[list[Event], None]
) -> AsyncGenerator[list[Event], None]:
    span = traces.begin(f"chat {request.model}", kind="client", operation="chat", model=request.model)
    host, port = _place(endpoint.base_url)
    span.add(provider=endpoint.kind, host=host, port=port)
    left = True
    try:
        async with aclosing(batches):
            async for batch in batches:
                left = not _taken(span, batch)
                yield batch
    finally:
        if left:
            span.fail("left")
        span.end()


def _taken(span: TraceSpan, events: Sequence[Event]) -> bool:
    """Record the facts of a batch, and return whether it is the last one."""
    for event in events:
        if isinstance(event, Usage):
            span.add(input_tokens=event.prompt_tokens, output_tokens=event.output_tokens)
        elif isinstance(event, Finished):
            span.add(finish=[event.reason if event.reason in REASONS else "other"])
        elif isinstance(event, Failed):
            span.add(status=event.status or None)
            span.fail(event.kind)
    return isinstance(events[-1], Finished | Failed)


def _place(base_url: str) -> tuple[str, int | None]:
    """Return host and port of an address, which may be wrong and may hold a password."""
    try:
        url = urlsplit(base_url)
        return url.hostname or "", url.port
    except ValueError:
        return "", None
