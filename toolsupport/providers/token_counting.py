"""Asks a server how many tokens a request has, without generating an answer."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import orjson

from toolsupport.core.types import Endpoint, Request
from toolsupport.providers import http_client
from toolsupport.providers.server_kinds import codec

# The path of each kind of server that counts a chat with its tools exactly as it is rendered.
COUNTERS: Mapping[str, str] = MappingProxyType({"llamacpp": "/v1/chat/completions/input_tokens"})


def counts(kind: str) -> bool:
    """Return whether servers of this kind count tokens."""
    return kind in COUNTERS


async def counted(endpoint: Endpoint, request: Request) -> int | None:
    """Return the tokens of the prompt, None if this server does not count them. Raises ProviderError."""
    path = COUNTERS.get(endpoint.kind)
    if path is None:
        return None
    answer = await http_client.post_json(endpoint, path, orjson.loads(codec(endpoint.kind).encode(request)))
    tokens = answer.get("input_tokens") if isinstance(answer, dict) else None
    return tokens if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens > 0 else None
