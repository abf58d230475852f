"""Vectors arrive in the order of their texts, or an error is reported."""

from __future__ import annotations

import pytest

from tests.toolsupport.providers.scripted import answer, scripted, told
from toolsupport import providers
from toolsupport.core.errors import GarbledReply, RequestRefused


@pytest.mark.asyncio
async def test_ollama_and_others_are_asked_in_their_own_way() -> None:  # T5
    two = [[1.0, 0.0], [0.0, 1]]
    of_ollama, of_others = {"embeddings": two}, {"data": [{"embedding": vector} for vector in two]}
    async with scripted(told(of_ollama), told(of_others)) as server:
        assert await providers.embed(server.endpoint(), "small", ["a", "b"]) == two
        assert await providers.embed(server.endpoint(kind="openai"), "small", ["a", "b"]) == two
    assert [head.split()[1] for head, _ in server.requests] == ["/api/embed", "/v1/embeddings"]
    assert server.bodies == [{"model": "small", "input": ["a", "b"]}] * 2


@pytest.mark.parametrize(
    "odd", [{}, [], {"embeddings": [[1.0]]}, {"embeddings": [[1.0], [1.0, 2.0]]}, {"data": ["x", 1]}, {"embeddings": 1}]
)
@pytest.mark.asyncio
async def test_odd_answers_are_garbled(odd: object) -> None:
    async with scripted(told(odd)) as server:
        with pytest.raises(GarbledReply):
            await providers.embed(server.endpoint(), "small", ["a", "b"])


@pytest.mark.asyncio
async def test_a_refusal_is_told() -> None:
    async with scripted(answer(400, b'{"error": "this model does not support embeddings"}')) as server:
        with pytest.raises(RequestRefused, match="embeddings"):
            await providers.embed(server.endpoint(), "small", ["a"])
