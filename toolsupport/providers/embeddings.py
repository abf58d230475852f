"""Requests embeddings of texts from a server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from toolsupport.core.sentences import sentence
from toolsupport.core.types import JSON, Endpoint
from toolsupport.providers import error_text, http_client
from toolsupport.providers.server_kinds import provider

SECONDS = 3.0
# Protocol → path and extra fields: a text beyond the context is an error, as at hosted servers.
PATHS: dict[str, tuple[str, JSON]] = {"ollama": ("/api/embed", {"truncate": False}), "openai": ("/v1/embeddings", {})}


@dataclass(frozen=True, slots=True)
class EmbeddingReply:
    """One vector for each input, in their order; `tokens` is the server's count, None without one."""

    vectors: list[list[float]]
    tokens: int | None = None


async def embed(endpoint: Endpoint, model: str, texts: Sequence[str]) -> list[list[float]]:
    """Return one vector for each text, in their order, within 3 s. Raises core.errors.ProviderError."""
    answer = await _answer(endpoint, {"model": model, "input": list(texts)}, SECONDS)
    return _checked(endpoint, answer, len(texts))


async def embed_inputs(endpoint: Endpoint, model: str, inputs: Sequence[Any], dimensions: int | None) -> EmbeddingReply:
    """Return the vectors of a program's inputs, as long as its model may take to load. Raises ProviderError."""
    body: JSON = {"model": model, "input": list(inputs), **PATHS[provider(endpoint.kind).wire][1]}
    if dimensions is not None:
        body["dimensions"] = dimensions
    answer = await _answer(endpoint, body, endpoint.limits.first_token)
    return EmbeddingReply(_checked(endpoint, answer, len(inputs)), _tokens(answer))


async def _answer(endpoint: Endpoint, body: JSON, seconds: float) -> Any:
    try:
        async with asyncio.timeout(seconds):
            return await http_client.post_json(endpoint, PATHS[provider(endpoint.kind).wire][0], body)
    except TimeoutError as error:
        raise http_client.raised(error_text.too_late(endpoint, seconds)) from error


def _checked(endpoint: Endpoint, answer: Any, wanted: int) -> list[list[float]]:
    vectors = _vectors(answer)
    if len(vectors) != wanted or len({len(vector) for vector in vectors}) > 1:
        raise http_client.raised(error_text.failed(endpoint, "garbled", sentence("other_vectors")))
    return vectors


def _vectors(answer: Any) -> list[list[float]]:
    """Parse the answer of Ollama (`embeddings`) or of an OpenAI-like server (`data`, each with its `embedding`)."""
    if not isinstance(answer, dict):
        return []
    found = answer.get("embeddings", answer.get("data"))
    rows = found if isinstance(found, list) else []
    if all(isinstance(row, dict) and isinstance(row.get("index"), int) for row in rows):
        rows = sorted(rows, key=lambda row: row["index"])
    vectors = [one.get("embedding") if isinstance(one, dict) else one for one in rows]
    return [vector for vector in vectors if _is_vector(vector)]


def _tokens(answer: JSON) -> int | None:
    """Return the counted tokens: Ollama's `prompt_eval_count`, or `usage` of the others."""
    usage = answer.get("usage")
    counted = answer.get("prompt_eval_count", usage.get("prompt_tokens") if isinstance(usage, dict) else None)
    return counted if isinstance(counted, int) and not isinstance(counted, bool) and counted >= 0 else None


def _is_vector(value: Any) -> TypeGuard[list[float]]:
    return isinstance(value, list) and bool(value) and all(isinstance(number, int | float) for number in value)
