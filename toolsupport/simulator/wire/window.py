"""Truncates a prompt to its context silently, as servers do."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.simulator.loaded_models import CONTEXT
from toolsupport.simulator.types import HistoryMessage, ModelInput
from toolsupport.simulator.wire.ollama_stream import ChatRequest


def cut(request: ChatRequest) -> ChatRequest:
    """Return the part of the request that fits: without tools and the oldest messages. It counts as the limit."""
    limit = max(1, request.whole("num_ctx", CONTEXT))
    if request.read <= limit:
        return request
    prompt = ModelInput((), think=request.prompt.think)
    for message in reversed(request.prompt.messages):
        more = replace(prompt, messages=(message, *prompt.messages))
        if replace(request, prompt=more).read > limit:
            prompt = replace(more, messages=(_end(message, limit), *prompt.messages)) if not prompt.messages else prompt
            break
        prompt = more
    return replace(request, prompt=prompt, pinned=limit)


def _end(message: HistoryMessage, limit: int) -> HistoryMessage:
    """Return the end of a message that alone is too long, measured roughly in characters."""
    return replace(message, content=message.content[-limit * 4 :])
