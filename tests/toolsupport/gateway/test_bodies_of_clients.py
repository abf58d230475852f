"""Bodies of real clients are read, and any changed part is refused by the name of a field."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest

from tests.tables import every
from toolsupport.core.types import JSON
from toolsupport.gateway import chat_request
from toolsupport.gateway.messages import request as messages_request
from toolsupport.gateway.request_errors import InvalidField
from toolsupport.gateway.responses import request as responses_request

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": False}
FUNCTION = {"name": "mcp__files__read", "description": "Reads.", "parameters": SCHEMA}
PIXEL = "data:image/png;base64,AAAA"
PICTURE = {"type": "image_url", "image_url": {"url": PIXEL, "detail": "low"}}
CALL = {"id": "call_1", "type": "function", "index": 0, "function": {"name": "read", "arguments": ""}}
GRAMMAR = {"syntax": "lark", "definition": "x"}
PATCH = {"name": "x", "description": "Edits.", "format": {"type": "grammar", "grammar": GRAMMAR}}
CODEX: JSON = {
    "model": "m",
    "instructions": "You are Codex.",
    "input": [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "<permissions>"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}], "phase": "commentary"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": None, "encrypted_content": "abc"},
        {"type": "function_call", "id": "fc_1", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "c1"},
        {"type": "function_call", "name": "read", "namespace": "mcp__files", "arguments": "{}", "call_id": "c4"},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_image", "image_url": PIXEL}]},
        {"type": "function_call_output", "id": "fco_1", "name": "automation_update", "output": "It is due."},
        {"type": "custom_tool_call", "status": "completed", "call_id": "c2", "name": "apply_patch", "input": "***"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "Done"},
        {"type": "local_shell_call", "call_id": "c3", "action": {"type": "exec", "command": ["ls"]}},
        {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "x"}},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "y", "annotations": []}]},
    ],
    "tools": [
        {"type": "function", "strict": False, **FUNCTION},
        {"type": "custom", "name": "apply_patch", "format": {"type": "grammar", "syntax": "lark", "definition": "x"}},
        {"type": "web_search", "external_web_access": False},
        {"type": "namespace", "name": "mcp", "tools": [{"type": "function", **FUNCTION}]},
    ],
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "reasoning": {"effort": "medium", "summary": "auto"},
    "store": False,
    "stream": True,
    "include": ["reasoning.encrypted_content"],
    "prompt_cache_key": "k",
    "text": {"verbosity": "medium"},
    "service_tier": "priority",
    "truncation": "auto",
}
CLAUDE_CODE: JSON = {
    "model": "m",
    "max_tokens": 32000,
    "system": [{"type": "text", "text": "You are Claude Code.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "h", "signature": "s"},
                {"type": "redacted_thinking", "data": "x"},
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}, "caller": {"type": "direct"}},
                {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
                {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "is_error": False,
                    "content": [
                        {"type": "text", "text": "x"},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": ""}},
                        {"type": "tool_reference", "tool_name": "x"},
                    ],
                },
                {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "f"}]},
            ],
        },
        {"role": "system", "content": "Be brief."},
    ],
    "tools": [
        {"name": "read", "input_schema": SCHEMA, "eager_input_streaming": True, "cache_control": {"type": "ephemeral"}},
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 8},
        {"type": "mcp_toolset", "mcp_server_name": "x"},
    ],
    "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
    "metadata": {"user_id": "u"},
    "thinking": {"type": "adaptive"},
    "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
    "output_config": {"effort": "medium"},
    "stream": True,
}
# Zed, Cline, LiteLLM, Open WebUI and the AI SDK: what is peculiar to each, in one body.
CHAT: JSON = {
    "model": "m",
    "messages": [
        {"role": "system", "content": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}]},
        {
            "role": "user",
            "name": "bob",
            "content": [{"type": "image_url", "image_url": {"url": PIXEL, "detail": "low"}}],
        },
        {"role": "assistant", "content": "", "tool_calls": [CALL], "function_call": None, "thinking_blocks": None},
        {"role": "tool", "tool_call_id": "call_1", "name": "read", "content": [{"type": "text", "text": "x"}]},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}], "annotations": [], "audio": None},
        {"role": "user", "content": [{"type": "file", "file": {"file_data": "data:text/plain;base64,AAAA"}}]},
    ],
    "tools": [{"type": "function", "function": FUNCTION}, {"type": "custom", "custom": PATCH}],
    "tool_choice": {
        "type": "allowed_tools",
        "allowed_tools": {
            "mode": "auto",
            "tools": [
                {"type": "function", "function": {"name": FUNCTION["name"]}},
                {"type": "custom", "custom": {"name": "x"}},
            ],
        },
    },
    "stream": True,
    "stream_options": {"include_usage": True, "include_obfuscation": False},
    "stop": [],
    "logprobs": True,
    "top_logprobs": 2,
    "n": 1,
    "response_format": {"type": "json_schema", "json_schema": {"name": "a", "strict": True, "schema": SCHEMA}},
    "prediction": None,
    "logit_bias": {"50256": -100},
    "reasoning_effort": "minimal",
    "features": {"web_search": False},
    "extra_body": {},
}
# Cursor, for models whose name holds "claude" and for those of OpenAI; both go to /v1/chat/completions.
CURSOR: JSON = {
    "model": "m",
    "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I read it."},
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "x"}]},
                {"type": "text", "text": "Go on."},
                PICTURE,
            ],
        },
    ],
    "tools": [
        {"name": "read", "description": "Reads.", "input_schema": SCHEMA},
        {"type": "custom", "name": "ApplyPatch", "format": {"type": "grammar", "syntax": "lark", "definition": "x"}},
    ],
    "tool_choice": {"type": "auto"},
    "max_tokens": 4096,
    "stream": True,
    "stream_options": {"include_usage": True},
}
CURSOR_OF_ITEMS: JSON = {
    "user": "u",
    "model": "m",
    "input": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "x"},
    ],
    "tools": [{"type": "function", **FUNCTION}, {"type": "custom", "name": "ApplyPatch", "description": "Edits."}],
    "tool_choice": "auto",
    "store": False,
    "stream": True,
    "include": ["reasoning.encrypted_content"],
    "reasoning": {"effort": "high", "summary": "auto"},
    "text": {"verbosity": "low"},
    "prompt_cache_retention": "24h",
    "stream_options": None,
}
READERS: dict[str, tuple[Callable[[bytes], Any], JSON]] = {
    "codex": (responses_request.read, CODEX),
    "claude code": (messages_request.read, CLAUDE_CODE),
    "claude code, counting": (messages_request.read_count, CLAUDE_CODE),
    "chat": (chat_request.read, CHAT),
    "cursor": (chat_request.read, CURSOR),
    "cursor, items": (chat_request.read, CURSOR_OF_ITEMS),
}
ODD: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 10**30, "", "x", "\0", "😀", "a b", [], {}, [None], [[]], {"type": "x"}, {"": 1}),
    *({"type": None}, {"type": "text"}, [{"type": "text"}], PIXEL, "auto", "function", {"type": "function"}),
]
ADDED = (
    *("type", "content", "name", "id", "input", "source", "extra", "role", "text", "output", "title"),
    *("custom", "function", "format", "grammar", "input_schema", "parameters", "tool"),
)


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values within a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield (*place, name)
        yield from places(one, (*place, name))


def changed(body: JSON, chance: random.Random) -> JSON:
    """The body with a few of its values left out, doubled, added or replaced."""
    body = copy.deepcopy(body)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        *way, last = chance.choice(list(places(body)) or [("model",)])
        inside: Any = body
        for name in way:
            inside = inside[name]
        odd, kind = copy.deepcopy(chance.choice(ODD)), chance.random()
        if kind < 0.2:
            del inside[last]
        elif kind < 0.4 and isinstance(inside, dict):
            inside[chance.choice(ADDED)] = odd
        elif kind < 0.4:
            inside.append(odd)
        else:
            inside[last] = odd
    return body


@pytest.mark.parametrize("client", READERS)
def test_a_body_of_a_client_is_read_and_a_changed_one_names_its_field(client: str) -> None:  # G4 G5 G6
    read, body = READERS[client]
    assert read(orjson.dumps(body)).model == "m"
    chance, refused = random.Random(client), 0
    for _ in range(600):
        made = changed(body, chance)
        try:
            read(json.dumps(made).encode())  # numbers beyond 64 bits too, which orjson does not write
        except InvalidField as wrong:
            assert str(wrong), made
            refused += 1
    assert 100 < refused < 600


@every(
    ("written", "fits"),
    [
        ({"type": "OBJECT"}, True),
        ({"type": "dict"}, True),
        ({"type": "any"}, True),
        ({"type": None}, True),
        ({"required": True}, True),
        ({"required": False}, True),
        ({"required": None, "properties": None}, True),
        ({"type": "array"}, False),
        ({"type": "no type"}, False),
        ({"type": ["object", "null"]}, False),
        ({"required": "path"}, False),
    ],
)
def test_a_whole_schema_may_be_in_another_spelling(written: JSON, fits: bool) -> None:
    for read, body in READERS.values():
        made = copy.deepcopy(body)
        tool = made["tools"][0]
        tool = tool.get("function", tool)
        tool["input_schema" if "input_schema" in tool else "parameters"] = SCHEMA | written
        if fits:
            assert read(orjson.dumps(made)).tools[0].parameters["type"] == "object"
        else:
            with pytest.raises(InvalidField, match="must be a JSON Schema of the type object"):
                read(orjson.dumps(made))
