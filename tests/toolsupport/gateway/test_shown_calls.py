"""A call that a reply only shows stays text at the gateway; behind results of tools it is made."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from channels.db import database_sync_to_async as in_database

from tests.toolsupport.gateway.conftest import Program
from tests.toolsupport.gateway.test_broken_streams import DONE
from tests.toolsupport.gateway.test_required_calls import HEAD, post, row, said
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
REMINDER = "<system-reminder>\nThe list of tasks is empty.\n</system-reminder>"
STATEMENT = f"Nobody has read this log for a year.\n{CALL}"
ROWS: tuple[tuple[list[dict[str, Any]], str, bool], ...] = (
    (ASKED, STATEMENT, False),
    (BEHIND_RESULTS, STATEMENT, True),
    ([*BEHIND_RESULTS, {"role": "user", "content": REMINDER}], STATEMENT, True),
    ([*BEHIND_RESULTS, {"role": "user", "content": "What was that log?"}], STATEMENT, False),
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


@pytest.mark.asyncio
@pytest.mark.parametrize("reminded", [True, False])
async def test_an_agent_goes_on_behind_its_own_reminder(program: Program, reminded: bool) -> None:
    """Claude Code puts one into the message that holds the results."""
    words = {"type": "text", "text": REMINDER if reminded else "What was that log?"}
    messages = [
        *ASKED,
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "1", "name": "delete_file", "input": {"path": "b"}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "deleted"}, words]},
    ]
    tools = [{"name": "delete_file", "input_schema": PATH}]
    async with scripted((HEAD,)) as server:
        await in_database(row)(server, "vllm", tools=False, format="hermes")
        server.answers[:] = [(HEAD, said(delta={"content": STATEMENT}), said(finish_reason="stop"), DONE, LAST_CHUNK)]
        whole = await post(program, "/v1/messages", model="made/m", max_tokens=99, messages=messages, tools=tools)
    assert whole.status_code == 200, whole.content
    assert (orjson.loads(whole.content)["stop_reason"] == "tool_use") is reminded
