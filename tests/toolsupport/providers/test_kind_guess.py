"""The kind of a server is guessed from its answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from tests.tables import every
from tests.toolsupport.providers.scripted import scripted
from toolsupport import providers
from toolsupport.core.errors import ProviderError

LIST = {"object": "list", "data": [{"id": "m", "object": "model"}]}


def owned(owner: str) -> dict[str, Any]:
    return {"object": "list", "data": [{"id": "m", "owned_by": owner}]}


def answer(body: Any) -> list[bytes]:
    text = b"<html>Nothing here</html>" if body is None else orjson.dumps(body)
    status = b"404 Not Found" if body is None else b"200 OK"
    return [b"HTTP/1.1 %s\r\ncontent-length: %d\r\n\r\n%s" % (status, len(text), text)]


@pytest.mark.asyncio
@every(
    ("answers", "kind"),
    [
        ([owned("llamacpp")], "llamacpp"),
        ([owned("vllm")], "vllm"),
        ([owned("sglang")], "sglang"),
        ([owned("library"), {"models": []}], "ollama"),
        ([None, {"models": []}], "ollama"),
        ([{"object": "list", "data": None}, {"models": []}], "ollama"),
        ([owned("koboldcpp"), {"models": [{"name": "koboldcpp"}]}], "openai"),
        ([owned("lemonade"), {"models": [{"name": "m"}]}], "openai"),
        ([owned("organization_owner"), None, {"data": [{"id": "m", "state": "loaded"}]}], "lmstudio"),
        ([owned("somebody"), None, None], "openai"),
        ([LIST, {"data": [{"id": "m", "state": "loaded"}]}], "lmstudio"),
        ([LIST, None], "openai"),
        ([[{"id": "m"}], None], "openai"),
        ([{"object": "list", "data": []}, {"error": "no"}, None], "openai"),
        ([None, None, None], ""),
        ([{"data": "x"}, [], "text"], ""),
    ],
)
async def test_the_kind(answers: list[Mapping[str, Any] | None], kind: str) -> None:
    async with scripted(*(answer(body) for body in answers)) as server:
        assert await providers.guess(f"http://127.0.0.1:{server.port}") == kind


@pytest.mark.asyncio
async def test_where_nothing_answers() -> None:
    async with scripted(answer(None)) as server:
        closed = f"http://127.0.0.1:{server.port}"
    with pytest.raises(ProviderError):
        await providers.guess(closed)


@pytest.mark.asyncio
@pytest.mark.parametrize("status", [b"401 Unauthorized", b"403 Forbidden"])
async def test_a_server_that_requires_a_key(status: bytes) -> None:
    async with scripted([b"HTTP/1.1 %s\r\ncontent-length: 2\r\n\r\n{}" % status]) as server:
        with pytest.raises(ProviderError) as refused:
            await providers.guess(f"http://127.0.0.1:{server.port}")
    assert refused.value.kind == "unauthorized"
