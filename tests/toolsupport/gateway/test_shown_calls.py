"""A call that a reply only shows stays text at the gateway; behind results of tools it is made."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from channels.db import database_sync_to_async as in_database

from tests.toolsupport.gateway.conftest import Program
from tests.toolsupport.gateway.test_broken_streams import DONE
from tests.toolsupport.gateway.test_required_calls import HEAD, row, said
from tests.toolsupport.providers.scripted import LAST_CHUNK, scripted

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
DELETE = {"type": "function", "function": {"name": "delete_file", "description": "Deletes.", "parameters": PATH}}
CALL = '<tool_call>\n{"name": "delete_file", "arguments": {"path": "a.txt"}}\n</tool_call>'
ASKED: list[dict[str, Any]] = [{"role": "user", "content": "Look after the log."}]
WANTS_TO_SEE: list[dict[str, Any]] = [{"role": "user", "content": "Show me a call that deletes a.txt"}]
MADE = {"id": "1", "type": "function", "function": {"name": "delete_file", "arguments": '{"path": "b.txt"}'}}
BEHIND_RESULTS: list[dict[str, Any]] = [
    *ASKED,
    {"role": "assistant", "content": None, "tool_calls": [MADE]},
    {"role": "tool", "tool_call_id": "1", "content": "deleted"},
]
STATEMENT = f"Nobody has read this log for a year.\n{CALL}"
ROWS: tuple[tuple[list[dict[str, Any]], str, bool], ...] = (
    (ASKED, STATEMENT, False),
    (BEHIND_RESULTS, STATEMENT, True),
    (ASKED, f"I'll delete the log now.\n{CALL}", True),
    (ASKED, CALL, True),
    (WANTS_TO_SEE, CALL, False),
)


@pytest.mark.asyncio
async def test_what_the_log_shows_decides(program: Program) -> None:
    async with scripted((HEAD,)) as server:
        await in_database(row)(server, "vllm", tools=False, format="hermes")
        for messages, reply, made in ROWS:
            server.answers[:] = [(HEAD, said(delta={"content": reply}), said(finish_reason="stop"), DONE, LAST_CHUNK)]
            whole = await program.post({"model": "made/m", "messages": messages, "tools": [DELETE]})
            assert whole.status_code == 200, whole.content
            message = orjson.loads(whole.content)["choices"][0]["message"]
            assert bool(message.get("tool_calls")) is made, (messages, reply)
            assert made or message["content"] == reply
        server.answers[:] = [(HEAD, said(delta={"content": STATEMENT}), said(finish_reason="stop"), DONE, LAST_CHUNK)]
        demanded = {"messages": ASKED, "tools": [DELETE], "tool_choice": "required"}
        whole = await program.post({"model": "made/m"} | demanded)
        assert orjson.loads(whole.content)["choices"][0]["message"]["tool_calls"]
