"""Requests the rendered prompt of a request from a server, without generating an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import orjson

from toolsupport.core.errors import ProviderError
from toolsupport.core.types import Endpoint, Request
from toolsupport.providers import http_client
from toolsupport.providers.server_kinds import codec, provider


@dataclass(frozen=True, slots=True)
class RenderedPrompt:
    """A prompt, or its template. `proves`: the template takes tools, even if no tool is in the text."""

    by: str
    text: str
    proves: bool = False


async def rendered(endpoint: Endpoint, request: Request) -> RenderedPrompt | None:
    """Return the prompt, None if this server does not show it. Raises ProviderError."""
    ask = RENDERERS.get(endpoint.kind) or RENDERERS.get(provider(endpoint.kind).wire)
    return await ask(endpoint, request) if ask else None


async def _by_ollama(endpoint: Endpoint, request: Request) -> RenderedPrompt | None:
    """Use Ollama's debug render; older servers ignore that option and answer, so only one token is requested."""
    options = {**body["options"], "num_predict": 1} if "options" in (body := _body(endpoint, request)) else {}
    asked = {**body, "stream": False, "options": options, "_debug_render_only": True}
    try:
        answer = await http_client.post_json(endpoint, provider(endpoint.kind).chat_path, asked)
    except ProviderError:
        answer = {}
    shown = _text(answer, "_debug_info", "rendered_template")
    if shown:
        return RenderedPrompt("debug render", shown)
    template = _text(await http_client.post_json(endpoint, "/api/show", {"model": request.model}), "template")
    # A template that does not name tools proves nothing: some models have a renderer of their own beside it.
    return RenderedPrompt("template", template, proves=True) if ".Tools" in template else None


async def _by_llama_server(endpoint: Endpoint, request: Request) -> RenderedPrompt | None:
    answer = await http_client.post_json(endpoint, "/apply-template", _body(endpoint, request))
    prompt = _text(answer, "prompt")
    return RenderedPrompt("template", prompt) if prompt else None


RENDERERS: Mapping[str, Callable[[Endpoint, Request], Awaitable[RenderedPrompt | None]]] = MappingProxyType(
    {"ollama": _by_ollama, "llamacpp": _by_llama_server}
)


def _body(endpoint: Endpoint, request: Request) -> dict[str, Any]:
    body: dict[str, Any] = orjson.loads(codec(endpoint.kind).encode(request))
    return body


def _text(answer: Any, *keys: str) -> str:
    for key in keys:
        answer = answer.get(key) if isinstance(answer, dict) else None
    return answer if isinstance(answer, str) else ""
