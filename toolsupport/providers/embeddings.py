"""Requests embeddings of texts from a server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, TypeGuard

from toolsupport.core.types import Endpoint
from toolsupport.providers import error_text, http_client
from toolsupport.providers.server_kinds import provider

SECONDS = 3.0
# Wire → where to ask, and under which name the vectors stand in the answer.
PATHS = {"ollama": "/api/embed", "openai": "/v1/embeddings"}


async def embed(endpoint: Endpoint, model: str, texts: Sequence[str]) -> list[list[float]]:
    """Return one vector for each text, in their order, within 3 s. Raises core.errors.ProviderError."""
    path = PATHS[provider(endpoint.kind).wire]
    try:
        async with asyncio.timeout(SECONDS):
            answer = await http_client.post_json(endpoint, path, {"model": model, "input": list(texts)})
    except TimeoutError as error:
        raise http_client.raised(error_text.failed(endpoint, "timeout", f"nothing came for {SECONDS:g} s")) from error
    vectors = _vectors(answer)
    if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
        raise http_client.raised(error_text.failed(endpoint, "garbled", "it gave other vectors than it was asked for"))
    return vectors


def _vectors(answer: Any) -> list[list[float]]:
    """Parse the answer of Ollama (`embeddings`) or of an OpenAI-like server (`data`, each with its `embedding`)."""
    if not isinstance(answer, dict):
        return []
    found = answer.get("embeddings", answer.get("data"))
    vectors = [
        one.get("embedding") if isinstance(one, dict) else one for one in (found if isinstance(found, list) else ())
    ]
    return [vector for vector in vectors if _is_vector(vector)]


def _is_vector(value: Any) -> TypeGuard[list[float]]:
    return isinstance(value, list) and bool(value) and all(isinstance(number, int | float) for number in value)
