"""Recognises the kind of a model server by its answers."""

from __future__ import annotations

import asyncio
from typing import Any

from toolsupport.core.errors import ProviderError
from toolsupport.core.types import Endpoint
from toolsupport.providers import error_text, http_client, openai_survey

SECONDS = 3.0
# `owned_by` of the first listed model → kind. KoboldCpp and Lemonade also imitate Ollama's list, but only a part of its
# protocol.
OWNERS = {"llamacpp": "llamacpp", "vllm": "vllm", "sglang": "sglang", "koboldcpp": "openai", "lemonade": "openai"}
# Kinds with a list of models of their own beside that of OpenAI: (kind, path, field of the list).
LISTS = (("ollama", "/api/tags", "models"), ("lmstudio", "/api/v0/models", "data"))


async def guess(address: str) -> str:
    """Return a key of PROVIDERS for the server at a base address; "" if it answers as none of them.

    Raises ProviderError where nothing answers, or where the server requires a key (`kind` unauthorized).
    """
    endpoint = Endpoint("openai", address)
    try:
        async with asyncio.timeout(SECONDS):
            return await _guess(endpoint)
    except TimeoutError as error:
        raise http_client.raised(error_text.not_reached(endpoint, error)) from error


async def _guess(endpoint: Endpoint) -> str:
    listed = await _answer(endpoint, openai_survey.LIST)
    entries = listed.get("data") if isinstance(listed, dict) else listed
    first = entries[0] if isinstance(entries, list) and entries and isinstance(entries[0], dict) else {}
    if kind := OWNERS.get(str(first.get("owned_by", ""))):
        return kind
    for kind, path, field in LISTS:
        if kind == "ollama" and first and not first.get("owned_by"):
            continue  # LocalAI, which imitates its list as well: Ollama's models have owners
        answer = await _answer(endpoint, path)
        if isinstance(answer, dict) and isinstance(answer.get(field), list):
            return kind
    return "openai" if isinstance(entries, list) else ""


async def _answer(endpoint: Endpoint, path: str) -> Any:
    """Return the JSON at a path, None for any other answer.

    Raises ProviderError where nothing answers, or where a key is required.
    """
    try:
        return await http_client.get_json(endpoint, path)
    except ProviderError as error:
        if error.kind in ("unreachable", "unauthorized"):
            raise
        return None
