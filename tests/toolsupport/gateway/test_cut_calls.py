"""A call that its server cut is left out on the three APIs, with every name for the end of the reply."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest
from channels.db import database_sync_to_async as in_database

from tests.toolsupport.gateway.conftest import Program
from tests.toolsupport.gateway.test_broken_streams import DONE, call
from tests.toolsupport.gateway.test_required_calls import ASKED, HEAD, post, row, said
from tests.toolsupport.providers.scripted import LAST_CHUNK, scripted

LIMITS = ("length", "max_tokens", "MAX_TOKENS", "model_length", "incomplete", "maxTokensReached", "ERROR_LIMIT")
BROKEN_OFF = ("content_filter", "abort", "insufficient_system_resource", "SAFETY", "network_error")
# How each API begins a call.
CALLED = re.compile(rb'"tool_calls": ?\[|"type": ?"(?:tool_use|function_call)"')
HALF = '<tool_call>\n{"name": "list_directory", "arguments": {"path": "."}'


def end_of(path: str, answer: dict[str, Any]) -> str:
    """Return how a program is shown the end."""
    if path == "/v1/chat/completions":
        return str(answer["choices"][0]["finish_reason"])
    return str(answer["stop_reason"] if path == "/v1/messages" else answer["status"])


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize("written", [True, False])
async def test_a_cut_call_is_no_call(program: Program, path: str, written: bool) -> None:
    auto = {"type": "auto"} if path == "/v1/messages" else "auto"
    body = ASKED[path][0] | {"tool_choice": auto, "model": "made/m"}
    limited = {"/v1/chat/completions": "length", "/v1/messages": "max_tokens", "/v1/responses": "incomplete"}[path]
    async with scripted((HEAD,)) as server:
        await in_database(row)(server, "vllm", **({"tools": False, "format": "hermes"} if written else {"tools": True}))
        for word in (*LIMITS, *BROKEN_OFF):
            beginning = said(delta={"content": "I look. "})
            half = said(delta={"content": HALF}) if written else call('{"path": "."')
            server.answers[:] = [(HEAD, beginning, half, said(finish_reason=word), DONE, LAST_CHUNK)]
            whole = await post(program, path, **body)
            assert whole.status_code == 200, (word, whole.content)
            answer = orjson.loads(whole.content)
            assert not CALLED.search(whole.content), (word, whole.content)
            if word in LIMITS:
                assert end_of(path, answer) == limited, (word, whole.content)


STOPPED = '<tool_call>\n{"name": "list_directory"'
STOPS = {"/v1/chat/completions": ("stop", "stop"), "/v1/messages": ("stop_sequences", "end_turn")}


@pytest.mark.asyncio
@pytest.mark.parametrize("path", STOPS)
async def test_half_a_call_behind_a_stop_string_of_the_program_is_no_call(program: Program, path: str) -> None:
    stops, end = STOPS[path]
    auto = {"type": "auto"} if path == "/v1/messages" else "auto"
    body = ASKED[path][0] | {"tool_choice": auto, "model": "made/m", stops: [","]}
    async with scripted((HEAD,)) as server:
        await in_database(row)(server, "vllm", tools=False, format="hermes")
        for stream in (False, True):
            half = (said(delta={"content": "I look. "}), said(delta={"content": STOPPED}), said(finish_reason="stop"))
            server.answers[:] = [(HEAD, *half, DONE, LAST_CHUNK)]
            answered = await post(program, path, **body, stream=stream)
            whole = b"".join([one async for one in answered]) if stream else answered.content
            assert answered.status_code == 200, whole
            assert not CALLED.search(whole), whole
            assert stream or end_of(path, orjson.loads(whole)) == end
