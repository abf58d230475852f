"""Declares the fields of a request to /v1/messages, for the API description and for validation."""

from __future__ import annotations

from typing import Any

from toolsupport.core.types import JSON
from toolsupport.gateway.request_schemas import (
    MODEL,
    MOST_STOPS,
    OPTIONS,
    PARAMETERS,
    SWITCH,
    TEXT,
    TOOL_NAME,
    TOOLS,
    BodyCheck,
    whole_number,
)


def of_type(kind: str, needed: list[str], **properties: Any) -> JSON:
    """Return the schema of a block of this type."""
    return {
        "if": {"properties": {"type": {"const": kind}}},
        "then": {"required": needed, "properties": properties},
    }


# Claude Code names the tools of MCP servers like this, with their plugins: Anthropic accepts 128 characters.
CALLED: JSON = {
    **TOOL_NAME,
    "pattern": r"^(?:mcp__[a-zA-Z0-9_-]{1,123}|[a-zA-Z0-9_-]{1,64})$",
    "description": f"{TOOL_NAME['description']}, or up to 128 that begin with mcp__",
}
TEXT_FIELD: JSON = {"type": "string", "description": "a text"}
SOURCE: JSON = {
    "type": "object",
    "required": ["type"],
    "properties": {"type": TEXT, "media_type": TEXT, "data": TEXT, "url": TEXT},
    "description": "an object with a type",
}
TYPED: JSON = {"type": "object", "required": ["type"], "properties": {"type": TEXT}}
TITLE: JSON = {"type": ["string", "null"], "description": "a text"}
CONTENT: JSON = {
    "type": ["string", "array", "null"],
    "items": {"type": "object", "properties": {"text": {"type": ["string", "null"], "description": "a text"}}},
    "description": "a text or a list of blocks",
}
DOCUMENT: JSON = SOURCE | {"properties": {**SOURCE["properties"], "content": CONTENT}}
RESULT_BLOCK: JSON = {
    **TYPED,
    "allOf": [
        of_type("text", ["text"], text=TEXT_FIELD),
        of_type("image", ["source"], source=SOURCE),
        of_type("document", ["source"], source=DOCUMENT, title=TITLE),
        of_type("search_result", ["content"], content=CONTENT, title=TITLE),
        of_type("container_upload", [], title=TITLE),
    ],
    "description": "a block with a type",
}
RESULT: JSON = {
    "type": ["string", "array", "null"],
    "items": RESULT_BLOCK,
    "description": "a text or a list of blocks",
}
CALL_ID: JSON = {"type": "string", "minLength": 1, "description": "the id of a call"}
INPUT: JSON = {"type": "object", "description": "an object"}
BLOCK: JSON = {
    **TYPED,
    "allOf": [
        *RESULT_BLOCK["allOf"],
        of_type("thinking", ["thinking"], thinking=TEXT_FIELD),
        of_type(
            "tool_use",
            ["id", "name", "input"],
            id=CALL_ID,
            name=CALLED,
            input=INPUT,
        ),
        of_type("tool_result", ["tool_use_id"], tool_use_id=CALL_ID, content=RESULT, is_error=SWITCH),
    ],
    "description": "a block with a type and what that type needs",
}
MESSAGE: JSON = {
    "type": "object",
    "required": ["role", "content"],
    "properties": {
        "role": {"enum": ["user", "assistant", "system"], "description": "user or assistant"},
        "content": {"type": ["string", "array"], "items": BLOCK, "description": "a text or a list of blocks"},
    },
    "description": "a message with a role and a content",
}
TOOL: JSON = {
    "type": "object",
    "properties": {
        # The type of OpenAI's tools, whose fields are others.
        "type": {"type": ["string", "null"], "not": {"const": "function"}, "description": "custom or left out"},
        "description": {"type": ["string", "null"], "description": "a text"},
        "strict": SWITCH,
    },
    # Other types are tools of the hosted service.
    "if": {"properties": {"type": {"enum": ["custom", None]}}},
    "then": {
        "required": ["name", "input_schema"],
        "properties": {"name": CALLED, "input_schema": PARAMETERS | {"type": "object"}},
    },
    "description": "a tool with a name and an input_schema",
}
CHOICE: JSON = {
    "type": ["object", "null"],
    "required": ["type"],
    "properties": {
        "type": {"enum": ["auto", "any", "tool", "none"], "description": "one of auto, any, tool, none"},
        "name": TEXT_FIELD,
        "disable_parallel_tool_use": SWITCH,
    },
    "if": {"properties": {"type": {"const": "tool"}}},
    "then": {"required": ["name"]},
    "description": "an object of the type auto, any, tool or none; the type tool has a name",
}
FORMAT: JSON = {
    "type": ["object", "null"],
    "required": ["type", "schema"],
    "properties": {"type": {"const": "json_schema"}, "schema": {"type": "object"}},
    "description": "an object of the type json_schema with a schema",
}
COUNTED: JSON = {
    "model": MODEL,
    "messages": {
        "type": "array",
        "minItems": 1,
        "items": MESSAGE,
        "description": "a list of at least one message",
    },
    "system": {"type": ["string", "array", "null"], "items": RESULT_BLOCK, "description": "a text or a list of blocks"},
    "tools": TOOLS | {"items": TOOL},
    "tool_choice": CHOICE,
    "output_format": FORMAT,
    "output_config": {"type": ["object", "null"], "properties": {"format": FORMAT}, "description": "an object"},
    "thinking": {"type": ["object", "null"], "required": ["type"], "description": "an object with a type"},
}
COUNT: JSON = {
    "type": "object",
    "required": ["model", "messages"],
    "properties": COUNTED,
    "description": "a JSON object",
}
REQUEST: JSON = {
    "type": "object",
    "required": ["model", "max_tokens", "messages"],
    "properties": {
        **COUNTED,
        "max_tokens": OPTIONS["max_tokens"] | {"type": "integer"},
        "stream": SWITCH,
        "stop_sequences": {
            "type": ["array", "null"],
            "maxItems": MOST_STOPS,
            "items": TEXT,
            "description": f"a list of at most {MOST_STOPS} texts",
        },
        "temperature": OPTIONS["temperature"],
        "top_p": OPTIONS["top_p"],
        "top_k": whole_number(0, "a whole number of 0 or more"),
        # Fields of the hosted service that change nothing here, but must have the same form as there.
        "metadata": {"type": ["object", "null"], "description": "an object"},
        "service_tier": {"type": ["string", "null"], "description": "a text"},
    },
    "description": "a JSON object",
}
CHECK, COUNT_CHECK = BodyCheck(REQUEST), BodyCheck(COUNT)
