"""Requests of chat completions with parts in the form of the other two APIs, as Cursor sends them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest

from tests.tables import every
from tests.toolsupport.gateway.conftest import FOLDER, PATH, Program
from tests.toolsupport.gateway.test_chat_request import CALL, FLAT, HELLO, OTHER, TOOL, asked
from toolsupport.core.types import ChatMessage, Role, ToolCall
from toolsupport.gateway.chat_request import read
from toolsupport.gateway.request_errors import InvalidField
from toolsupport.gateway.responses.request import read as read_responses

SPACE = {"type": "namespace", "name": "mcp", "tools": [FLAT]}
USE = {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 1}}
USED = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "3"}
PICTURE = {"type": "image", "source": {"type": "url", "url": "https://a/b.png"}}
THERE = "messages[0].content[0]"
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


@every(
    "tool",
    [
        {"name": "add", "description": "Adds.", "input_schema": SCHEMA},
        {"name": "add", "description": "Adds.", "parameters": SCHEMA, "type": None},
        {"name": "add", "description": "Adds.", "parameters": SCHEMA, "type": "function"},
        {"name": "add", "description": "Adds.", "parameters": None, "input_schema": SCHEMA, "type": "function"},
    ],
)
def test_a_function_in_the_form_of_another_api_is_read(tool: dict[str, Any]) -> None:
    """Cursor sends these for models whose name holds "claude"."""
    usual = {"name": "add", "description": "Adds.", "parameters": SCHEMA, "strict": True}
    [expected] = asked(tools=[{"type": "function", "function": usual}]).tools
    found = asked(tools=[tool | {"strict": True}, OTHER], tool_choice={"type": "function", "function": {"name": "add"}})
    assert (found.tools, found.choice, found.skipped) == ((expected,), "required", ())


def test_a_function_in_the_form_of_another_api_may_have_no_parameters() -> None:
    assert asked(tools=[{"name": "other"}]).tools == asked(tools=[OTHER]).tools


PNG = {"type": "base64", "media_type": "image/png", "data": b64encode(b"PNG").decode()}
AS_URL = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG['data']}"}}
SAID = {"type": "text", "text": "Go on."}
ANSWER = {"role": "assistant", "content": [SAID, USE]}
CALLED = ToolCall("toolu_1", "add", {"a": 1})


@every(
    ("message", "expected"),
    [
        (ANSWER, [ChatMessage(Role.ASSISTANT, "Go on.", calls=(CALLED,))]),
        (ANSWER | {"tool_calls": []}, [ChatMessage(Role.ASSISTANT, "Go on.", calls=(CALLED,))]),
        (
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm", "signature": "s"}, USE]},
            [ChatMessage(Role.ASSISTANT, "", "Hm", (CALLED,))],
        ),
        ({"role": "user", "content": [USED]}, [ChatMessage(Role.TOOL, "3", call_id="toolu_1")]),
        (
            {"role": "user", "content": [SAID, USED | {"content": [SAID], "is_error": True}, AS_URL]},
            [
                ChatMessage(Role.TOOL, "Error: Go on.", call_id="toolu_1"),
                ChatMessage(Role.USER, "Go on.", images=(b"PNG",)),
            ],
        ),
        (
            {"role": "user", "content": [USED | {"content": [{"type": "image", "source": PNG}, AS_URL]}]},
            [ChatMessage(Role.TOOL, "", call_id="toolu_1", images=(b"PNG", b"PNG"))],
        ),
        (
            {"role": "user", "content": [USED | {"content": None}, USED | {"tool_use_id": "toolu_2"}]},
            [ChatMessage(Role.TOOL, "", call_id="toolu_1"), ChatMessage(Role.TOOL, "3", call_id="toolu_2")],
        ),
        ({"role": "user", "content": []}, [ChatMessage(Role.USER, "")]),
        (
            {"role": "user", "content": [{"type": "document", "title": "T", "source": {"type": "text", "data": "a"}}]},
            [ChatMessage(Role.USER, "T:\na")],
        ),
        # What only looks like a block is text.
        (
            {"role": "user", "content": [{"type": "text", "text": str(USED), "tool_use_id": "toolu_1"}]},
            [ChatMessage(Role.USER, str(USED))],
        ),
    ],
)
def test_blocks_of_the_messages_api_are_read(message: dict[str, Any], expected: list[ChatMessage]) -> None:
    """Cursor sends these for models whose name holds "claude"."""
    assert list(asked(messages=[message]).log) == expected


def test_a_system_prompt_may_have_a_field_of_its_own() -> None:
    """Cursor sends it so for models whose name holds "claude"; without it the model would have no instructions."""
    told = ChatMessage(Role.SYSTEM, "Go on.")
    assert asked(system="Go on.").log == asked(system=[SAID]).log == (told, ChatMessage(Role.USER, "Hello"))
    assert asked(system="").log == asked(system=[]).log == asked().log


@every(
    ("choice", "expected"),
    [
        ({"type": "auto"}, ("auto", 2, None)),
        ({"type": "auto", "disable_parallel_tool_use": True}, ("auto", 2, False)),
        ({"type": "none"}, ("none", 2, None)),
        ({"type": "any"}, ("required", 2, None)),
        ({"type": "required"}, ("required", 2, None)),
        ({"type": "tool", "name": "other"}, ("required", 1, None)),
        ({"type": "function", "name": "other"}, ("required", 1, None)),
    ],
)
def test_a_choice_in_the_form_of_another_api_is_read(choice: dict[str, Any], expected: tuple[Any, ...]) -> None:
    found = asked(tools=[TOOL, OTHER], tool_choice=choice)
    assert (found.choice, len(found.tools), found.parallel) == expected


def test_a_request_of_the_responses_api_is_read() -> None:
    """Cursor sends these for models of OpenAI, and reads chat completions."""
    body = {
        "model": "m",
        "instructions": "Be brief.",
        "input": [HELLO, {"type": "function_call", "call_id": "c1", "name": "add", "arguments": "{}"}],
        "tools": [FLAT, {"type": "custom", "name": "ApplyPatch", "format": {"type": "text"}}],
        "tool_choice": "auto",
        "reasoning": {"effort": "high"},
        "max_output_tokens": 9,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    found = read(orjson.dumps(body))
    assert found == replace(read_responses(orjson.dumps(body)), include_usage=True, echo={})
    assert [message.role for message in found.log] == [Role.SYSTEM, Role.USER, Role.ASSISTANT]
    assert found.custom == {"ApplyPatch"}
    assert asked(input="Another question").log == asked().log, "messages are the field of this API"


@pytest.mark.asyncio
async def test_the_answer_is_a_chat_completion(program: Program, knows: Callable[..., Any]) -> None:
    await knows("sim-honest", tools=True)
    flat = {"name": "list_directory", "description": "Lists.", "parameters": PATH}
    first = await program.post({"model": "box/sim-honest", "input": [FOLDER], "tools": [{"type": "function", **flat}]})
    [call] = first.json()["choices"][0]["message"]["tool_calls"]
    assert first.json()["object"] == "chat.completion" and call["function"]["name"] == "list_directory"
    use = {"type": "tool_use", "id": call["id"], "name": "list_directory", "input": {"path": "."}}
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "cake.txt"}
    log = [FOLDER, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    claude = {"name": "list_directory", "description": "Lists.", "input_schema": PATH}
    last = await program.ask("box/sim-honest", messages=log, tools=[claude], tool_choice={"type": "auto"})
    assert "cake.txt" in last.json()["choices"][0]["message"]["content"]


@every(
    ("fields", "param"),
    [
        ({"messages": [{"role": "assistant", "content": [USE | {"id": ""}]}]}, "messages[0].content[0].id"),
        ({"messages": [{"role": "assistant", "content": [USE | {"name": "a b"}]}]}, "messages[0].content[0].name"),
        ({"messages": [{"role": "assistant", "content": [USE | {"input": "{}"}]}]}, "messages[0].content[0].input"),
        ({"messages": [HELLO, {"role": "user", "content": [USE]}]}, "messages[1].content[0]"),
        ({"messages": [{"role": "tool", "tool_call_id": "c1", "content": [USED]}]}, "messages[0].content[0]"),
        ({"messages": [{"role": "assistant", "content": [USE, USED]}]}, "messages[0].content[1]"),
        ({"messages": [{"role": "system", "content": [{"type": "thinking", "thinking": "Hm"}]}]}, THERE),
        ({"messages": [{"role": "user", "content": [{"type": "redacted_thinking", "data": "x"}]}]}, THERE),
        ({"messages": [{"role": "assistant", "content": [USE], "tool_calls": [CALL]}]}, "messages[0]"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}, f"{THERE}.tool_use_id"),
        ({"messages": [{"role": "user", "content": [USED | {"content": [USED]}]}]}, f"{THERE}.content[0]"),
        ({"messages": [{"role": "user", "content": [USED | {"content": [PICTURE]}]}]}, f"{THERE}.content[0]"),
        ({"system": [{"type": "image"}]}, "system[0]"),
        ({"system": {}}, "system"),
        ({"tools": [TOOL], "tool_choice": {"type": "maybe"}}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": {"type": "tool"}}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": {"type": "tool", "name": "other"}}, "tool_choice"),
        ({"tool_choice": {"type": "any"}}, "tool_choice"),
        ({"messages": None, "input": []}, "input"),
        ({"messages": None, "input": [{"role": "tool", "content": "3"}]}, "input[0].role"),
        ({"messages": None, "input": "Hello", "stream_options": "all"}, "stream_options"),
        ({"messages": None, "input": "Hello", "previous_response_id": "r"}, "previous_response_id"),
        ({"messages": None, "input": "Hello", "tools": [SPACE]}, "tools[0].type"),
    ],
)
def test_what_can_be_read_in_several_ways_is_refused_by_its_name(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(InvalidField) as wrong:
        asked(**fields)
    assert (wrong.value.param, str(wrong.value) != "") == (param, True)
