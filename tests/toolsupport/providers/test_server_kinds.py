"""Where under an address something is asked for."""

from __future__ import annotations

import pytest

from tests.tables import every
from toolsupport.core.types import Endpoint
from toolsupport.providers import PROVIDERS, http_client
from toolsupport.providers.server_kinds import path_at

CHAT = "/v1/chat/completions"


# M1
@every(
    ("base", "path", "asked"),
    [
        ("http://box:8080", CHAT, CHAT),
        ("http://box:8080/groq", "/v1/models", "/v1/models"),
        ("https://box/v1beta/openai", CHAT, "/chat/completions"),
        ("https://box/api/paas/v4", "/v1/models", "/models"),
        ("https://box/client/v4/ai/v1", CHAT, "/chat/completions"),
        ("http://v1", CHAT, CHAT),
        ("https://v2.example.org", "/version", "/version"),
        ("http://box/vllm", CHAT, CHAT),
        ("http://box/v2", "/api/chat", "/api/chat"),
    ],
)
def test_a_version_is_added_where_the_address_has_none(base: str, path: str, asked: str) -> None:
    assert path_at(base, path) == asked


@pytest.mark.asyncio
async def test_gemini_is_asked_where_its_manual_says() -> None:
    row = PROVIDERS["gemini"]
    request = http_client.request(Endpoint(row.kind, row.default_url, "key"), row.chat_path, b"{}")
    assert str(request.url) == "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions"
    assert request.headers["authorization"] == "Bearer key"
    await http_client.close()
