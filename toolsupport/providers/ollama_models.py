"""Pulls, deletes and unloads the models of an Ollama server, and lists those in its memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from toolsupport.core.reported_numbers import MOST_BYTES, whole
from toolsupport.core.types import Endpoint
from toolsupport.providers import error_text, http_client
from toolsupport.providers.line_splitter import LineSplitter

LONGEST_LINE = 65_536
# Verifying a large file takes minutes, in which nothing comes.
SILENCE = 600.0
SECONDS = 5.0
DELETE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class RunningModel:
    """A model in the server's memory: `size` bytes, `on_gpu` of them on graphics cards; `until` None: unknown."""

    name: str
    size: int
    on_gpu: int
    until: datetime | None
    context: int | None = None


async def pull(endpoint: Endpoint, name: str) -> AsyncGenerator[bytes, None]:
    """Yield the lines of a download. Raises ProviderError. Closing it stops the download; its parts are kept."""
    try:
        sent = http_client.request(endpoint, "/api/pull", orjson.dumps({"model": name}))
        async with asyncio.timeout(SILENCE):
            response = await http_client.send(endpoint, sent)
    except error_text.FAULTS as error:
        raise http_client.raised(error_text.not_reached(endpoint, error)) from error
    try:
        if response.status_code != 200:
            body = await http_client.read(response, http_client.LARGEST_ERROR)
            text = body.decode(errors="replace")
            raise http_client.raised(error_text.answered(endpoint, response.status_code, text))
        lines = LineSplitter(LONGEST_LINE)
        async with aclosing(http_client.pieces(response)) as pieces:
            while piece := await _next(endpoint, pieces):
                for line in lines.feed(piece):
                    yield line
        yield lines.flush()
    finally:
        await response.aclose()


async def delete(endpoint: Endpoint, name: str) -> None:
    """Delete a model from the server's disk. Raises ProviderError."""
    await _within(DELETE_SECONDS, endpoint, http_client.delete(endpoint, "/api/delete", {"model": name}))


async def unload(endpoint: Endpoint, name: str) -> None:
    """Remove a model from the server's memory. Raises ProviderError."""
    body = {"model": name, "messages": [], "keep_alive": 0}
    await _within(SECONDS, endpoint, http_client.post_json(endpoint, "/api/chat", body))


async def running(endpoint: Endpoint) -> tuple[RunningModel, ...]:
    """Return the models in the server's memory. Raises ProviderError."""
    answer = await _within(SECONDS, endpoint, http_client.get_json(endpoint, "/api/ps"))
    models = answer.get("models") if isinstance(answer, dict) else None
    found = models if isinstance(models, list) else []
    return tuple(_loaded(entry) for entry in found if isinstance(entry, dict) and entry.get("name"))


async def _within(seconds: float, endpoint: Endpoint, asked: Awaitable[Any]) -> Any:
    try:
        async with asyncio.timeout(seconds):
            return await asked
    except TimeoutError as error:
        raise http_client.raised(error_text.too_late(endpoint, seconds)) from error


async def _next(endpoint: Endpoint, pieces: Any) -> bytes:
    try:
        async with asyncio.timeout(SILENCE):
            piece: bytes = await anext(pieces, b"")
    except error_text.FAULTS as error:
        raise http_client.raised(error_text.broken_off(error)) from error
    return piece


def _loaded(entry: dict[str, Any]) -> RunningModel:
    return RunningModel(
        name=str(entry["name"])[:200],
        size=whole(entry.get("size"), MOST_BYTES) or 0,
        on_gpu=whole(entry.get("size_vram"), MOST_BYTES) or 0,
        until=_moment(entry.get("expires_at")),
        context=whole(entry.get("context_length")) or None,
    )


def _moment(value: Any) -> datetime | None:
    """Read Go's time, whose nanoseconds Python cuts."""
    try:
        moment = datetime.fromisoformat(str(value))
        return moment.astimezone(UTC) if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None
