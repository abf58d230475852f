"""Declares the fields of a request to /v1/responses, for the API description and for validation."""

from __future__ import annotations

from toolsupport.core.types import JSON
from toolsupport.gateway.request_schemas import (
    CHOICES,
    GRAMMAR,
    MODE,
    MODEL,
    NAME,
    OPTIONS,
    PARAMETERS,
    SWITCH,
    TEXT,
    TOOL_NAME,
    TOOLS,
    BodyCheck,
    custom_format,
    whole_number,
)

OPEN: JSON = {"type": ["string", "null"], "description": "a text"}
NOT_STORED = "left out: nothing is stored here, so send the whole conversation as input"
PARTS = ("input_text", "output_text", "text", "refusal", "input_image", "input_file", "reasoning_text", "summary_text")
PART: JSON = {
    "type": "object",
    "required": ["type"],
    "properties": {
        "type": {"enum": list(PARTS), "description": f"one of {', '.join(PARTS)}"},
        "text": OPEN,
        "refusal": OPEN,
        "image_url": {"type": ["string", "null"], "description": "a data URL"},
        "file_data": {"type": ["string", "null"], "description": "a data URL"},
        "filename": OPEN,
    },
    "description": "a part of a message",
}
CONTENT: JSON = {"type": ["string", "array", "null"], "items": PART, "description": "a text or a list of parts"}
CALL_ID: JSON = {"type": "string", "minLength": 1, "description": "the id of a call"}
ROLE: JSON = {"enum": ["system", "developer", "user", "assistant"], "description": "the author of a message"}
ARGUMENTS: JSON = {"type": ["string", "object", "null"], "description": "the arguments as JSON text"}
WRITTEN: JSON = {"type": "string", "description": "a text"}
NAMESPACE: JSON = {"type": ["string", "null"], "description": "the name of the namespace that holds the tool"}
CALLED: JSON = {"call_id": CALL_ID, "namespace": NAMESPACE}


def _item(kind: str, needed: list[str], **properties: JSON) -> JSON:
    """Return the schema of an item of this type."""
    return {
        "if": {"properties": {"type": {"const": kind}}, "required": ["type"]},
        "then": {"required": needed, "properties": properties},
    }


OUTPUTS = ("function_call_output", "custom_tool_call_output")
# A result belongs to a call; one that names its tool may stand alone.
RESULT: JSON = {
    "if": {"properties": {"type": {"enum": list(OUTPUTS)}}, "required": ["type"]},
    "then": {
        "if": {"properties": {"name": {"type": "string", "pattern": NAME}}, "required": ["name"]},
        "then": {"properties": {"call_id": CALL_ID | {"type": ["string", "null"]}}},
        "else": {"required": ["call_id"], "properties": {"call_id": CALL_ID}},
    },
}
ITEM: JSON = {
    "type": "object",
    "properties": {"type": {"type": ["string", "null"], "minLength": 1, "description": "the type of the item"}},
    # Type → required fields; other types are those of tools at hosted services, and are left out.
    "allOf": [
        _item("function_call", ["call_id", "name"], **CALLED, name=TOOL_NAME, arguments=ARGUMENTS),
        *(_item(kind, ["output"], output=CONTENT) for kind in OUTPUTS),
        RESULT,
        _item("custom_tool_call", ["call_id", "name", "input"], **CALLED, name=WRITTEN, input=WRITTEN),
        _item("reasoning", [], content=CONTENT, summary=CONTENT | {"type": ["array", "null"]}),
        {
            "if": {"properties": {"type": {"enum": ["message", None]}}},
            "then": {"required": ["role", "content"], "properties": {"role": ROLE, "content": CONTENT}},
        },
    ],
    "description": "a message, a function_call, a function_call_output or another item",
}
FUNCTION: JSON = {
    "type": "object",
    "required": ["type"],
    "properties": {
        "type": {"type": "string", "minLength": 1, "description": "the type of the tool"},
        "description": OPEN,
        "strict": SWITCH,
    },
    "if": {"properties": {"type": {"const": "function"}}},
    "then": {"required": ["name"], "properties": {"name": TOOL_NAME, "parameters": PARAMETERS}},
    "allOf": [
        {
            "if": {"properties": {"type": {"const": "custom"}}, "required": ["type"]},
            "then": {"required": ["name"], "properties": {"name": TOOL_NAME, "format": custom_format(GRAMMAR)}},
        }
    ],
    "description": "a tool with a type; one of the type function or custom has a name",
}
SPACE: JSON = {"type": "string", "pattern": NAME, "description": "a text, the name of the namespace"}
TOOL: JSON = {
    **FUNCTION,
    # Codex sends the tools of each MCP server in a namespace.
    "allOf": [
        *FUNCTION["allOf"],
        {
            "if": {"properties": {"type": {"const": "namespace"}}},
            "then": {"required": ["name"], "properties": {"name": SPACE, "tools": TOOLS | {"items": FUNCTION}}},
        },
    ],
    "description": "a tool with a type; one of the type function, custom or namespace has a name",
}
NAMED: JSON = {"type": "object", "properties": {"name": {}, "namespace": NAMESPACE}}
CHOICE: JSON = {
    "anyOf": [
        {"enum": [*CHOICES, None]},
        {
            "type": "object",
            "required": ["type"],
            "properties": {"type": TEXT, "name": TEXT, "namespace": NAMESPACE},
            "if": {"properties": {"type": {"const": "allowed_tools"}}},
            "then": {
                "required": ["mode", "tools"],
                "properties": {"mode": MODE, "tools": {"type": "array", "items": NAMED}},
            },
        },
    ],
    "description": "auto, none, required, or an object that names one of the tools or the allowed ones",
}
FORMAT: JSON = {
    "type": ["object", "null"],
    "required": ["type"],
    "properties": {
        "type": {"enum": ["text", "json_object", "json_schema"]},
        "name": {"type": ["string", "null"]},
        "schema": {"type": "object"},
    },
    "if": {"properties": {"type": {"const": "json_schema"}}},
    "then": {"required": ["schema"]},
    "description": "an object of the type text, json_object or json_schema; the last one has a schema",
}
# Fields of hosted services that change nothing here, but must have the same form as there.
UNUSED: JSON = {
    "include": {"type": ["array", "null"], "items": TEXT, "description": "a list of texts"},
    "max_tool_calls": OPTIONS["max_tokens"],
    "reasoning": {"type": ["object", "null"], "description": "an object"},
    "service_tier": OPEN,
    "top_logprobs": whole_number(0, "a whole number of 0 or more"),
    "truncation": {"enum": ["auto", "disabled", None], "description": "auto or disabled"},
    "user": OPEN,
}
REQUEST: JSON = {
    "type": "object",
    "required": ["model", "input"],
    "properties": {
        "model": MODEL,
        "input": {
            "type": ["string", "array"],
            "minItems": 1,
            "items": ITEM,
            "description": "a text, or a list of at least one item",
        },
        "instructions": OPEN,
        "tools": TOOLS | {"items": TOOL},
        "tool_choice": CHOICE,
        "parallel_tool_calls": SWITCH,
        "stream": SWITCH,
        "store": SWITCH,
        "text": {"type": ["object", "null"], "properties": {"format": FORMAT}, "description": "an object"},
        "max_output_tokens": OPTIONS["max_tokens"],
        "temperature": OPTIONS["temperature"],
        "top_p": OPTIONS["top_p"],
        "metadata": {"type": ["object", "null"], "description": "an object"},
        **UNUSED,
        "previous_response_id": {"type": "null", "description": NOT_STORED},
        "conversation": {"type": "null", "description": NOT_STORED},
        "prompt": {"type": "null", "description": NOT_STORED},
        "background": {"enum": [False, None], "description": f"false, or {NOT_STORED}"},
    },
    "description": "a JSON object",
}
CHECK = BodyCheck(REQUEST)
