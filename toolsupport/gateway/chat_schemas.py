"""Declares the fields of a request to /v1/chat/completions, for the API description and for validation."""

from __future__ import annotations

from toolsupport.core.types import JSON
from toolsupport.gateway.messages.schemas import CALL_ID, INPUT, RESULT_BLOCK, TEXT_FIELD, of_type
from toolsupport.gateway.request_schemas import (
    CHOICES,
    GRAMMAR,
    MODE,
    MODEL,
    OBJECT,
    OPTIONS,
    PARAMETERS,
    SWITCH,
    TEXT,
    TEXT_OR_NULL,
    TOOL_NAME,
    TOOLS,
    BodyCheck,
    custom_format,
    whole_number,
)
from toolsupport.gateway.responses.schemas import FUNCTION as FUNCTION_TOOL
from toolsupport.gateway.responses.schemas import REQUEST

ROLES = ("system", "developer", "user", "assistant", "tool")
FUNCTION = {"const": "function", "description": "the text function"}
# An image is a data URL: an address is never fetched. `conversation` refuses any other text with that reason.
IMAGE: JSON = {"type": "object", "required": ["url"], "properties": {"url": TEXT}}
# A file that holds text; `conversation` refuses all others with the reason.
FILE: JSON = {"type": "object", "properties": {"file_data": TEXT, "filename": {"type": ["string", "null"]}}}
# Blocks of the Messages API too, as Cursor sends them: what they mean is certain.
PART_TYPES = ("text", "refusal", "image_url", "file", "image", "document", "search_result")
PARTS_OF_A_TYPE: list[JSON] = [
    *RESULT_BLOCK["allOf"],
    of_type("refusal", ["refusal"], refusal=TEXT),
    of_type("image_url", ["image_url"], image_url=IMAGE),
    of_type("file", ["file"], file=FILE),
]


def _parts(*more: str) -> JSON:
    """Return the schema of a part of one of these types, without the fields that they need."""
    types = (*PART_TYPES, *more)
    words = f"a part of the type {', '.join(types[:-1])} or {types[-1]}"
    return {"type": "object", "required": ["type"], "properties": {"type": {"enum": list(types)}}, "description": words}


RESULT_PART: JSON = _parts() | {"allOf": PARTS_OF_A_TYPE}
RESULT: JSON = {
    "type": ["string", "array", "null"],
    "items": RESULT_PART,
    "description": "a text or a list of parts",
}
PART: JSON = _parts("thinking", "tool_use", "tool_result") | {
    "allOf": [
        *PARTS_OF_A_TYPE,
        of_type("thinking", ["thinking"], thinking=TEXT_FIELD),
        of_type("tool_use", ["id", "name", "input"], id=CALL_ID, name=TOOL_NAME, input=INPUT),
        of_type("tool_result", ["tool_use_id"], tool_use_id=CALL_ID, content=RESULT, is_error=SWITCH),
    ]
}
# A custom tool takes one text.
CUSTOM_CALL: JSON = {
    "type": "object",
    "required": ["name", "input"],
    "properties": {
        "name": {"type": "string", "description": "a text"},
        "input": {"type": "string", "description": "a text"},
    },
    "description": "an object with a name and an input",
}
MADE_CALL: JSON = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "string", "minLength": 1},
        "type": {"enum": ["function", "custom", None], "description": "function or custom"},
        "function": {
            "type": "object",
            "required": ["name"],
            # Models do not always write an object: the text that a program sends back is kept unchanged.
            "properties": {"name": TOOL_NAME, "arguments": {}},
        },
    },
    "if": {"properties": {"type": {"const": "custom"}}, "required": ["type"]},
    "then": {"required": ["custom"], "properties": {"custom": CUSTOM_CALL}},
    "else": {"required": ["function"], "properties": {"function": {}}},
    "description": "a call with an id and a function, which has a name and arguments",
}
MESSAGE: JSON = {
    "type": "object",
    "required": ["role"],
    "properties": {
        "role": {"enum": list(ROLES), "description": f"one of {', '.join(ROLES)}"},
        "content": {"type": ["string", "array", "null"], "items": PART, "description": "a text or a list of parts"},
        "reasoning_content": {"type": ["string", "null"], "description": "a text"},
        "refusal": {"type": ["string", "null"], "description": "a text, instead of the content"},
        "tool_calls": {"type": ["array", "null"], "items": MADE_CALL, "description": "a list of calls"},
        "tool_call_id": {"type": ["string", "null"], "description": "the id of the call that a result belongs to"},
    },
    "description": "a message with a role",
}
FUNCTION_FIELDS: JSON = {
    "name": TOOL_NAME,
    "description": TEXT_OR_NULL,
    "parameters": PARAMETERS,
    "strict": SWITCH,
}
# As the Responses API and the Messages API have it: Cursor sends these for models whose name holds "claude".
FLAT_TOOL: JSON = {
    "properties": {**FUNCTION_FIELDS, "input_schema": PARAMETERS},
    # Which of two schemas is meant is unknown.
    "not": {
        "required": ["parameters", "input_schema"],
        "properties": {"parameters": OBJECT, "input_schema": OBJECT},
    },
    "description": "a function with one schema, its parameters or its input_schema",
}
# Chat completions nest what a custom tool is; Cursor sends it flat, as in Responses, or a function of Messages.
CUSTOM_FIELDS: JSON = {"name": TOOL_NAME, "description": TEXT_OR_NULL}
CUSTOM_GRAMMAR: JSON = {"required": ["grammar"], "properties": {"grammar": {"type": "object", **GRAMMAR}}}
CUSTOM_TOOL: JSON = {
    "allOf": [
        {
            "if": {"required": ["name"], "not": {"required": ["custom"]}},
            "then": {"properties": {**CUSTOM_FIELDS, "input_schema": PARAMETERS, "format": custom_format(GRAMMAR)}},
        },
        {
            "if": {"anyOf": [{"required": ["custom"]}, {"not": {"required": ["name"]}}]},
            "then": {
                "required": ["custom"],
                "properties": {
                    "custom": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {**CUSTOM_FIELDS, "format": custom_format(CUSTOM_GRAMMAR)},
                        "description": "an object with the name of the tool",
                    }
                },
            },
        },
    ]
}
TOOL: JSON = {
    "type": "object",
    "properties": {
        "type": {"type": ["string", "null"], "minLength": 1, "description": "the type of the tool"},
        "function": {"type": "object", "required": ["name"], "properties": FUNCTION_FIELDS},
    },
    # Other types are tools of hosted services, and are left out.
    "if": {"properties": {"type": {"enum": ["function", None]}}},
    "then": {
        "if": {"required": ["name"], "not": {"required": ["function"]}},
        "then": FLAT_TOOL,
        "else": {"required": ["function"], "properties": {"function": {}}},
    },
    "allOf": [{"if": {"properties": {"type": {"const": "custom"}}, "required": ["type"]}, "then": CUSTOM_TOOL}],
    "description": "a tool with a type; one of the type function or custom has a field of that name with a name",
}
NAMED: JSON = {
    "type": "object",
    "required": ["function"],
    "properties": {
        "type": FUNCTION,
        "function": {"type": "object", "required": ["name"], "properties": {"name": TEXT}},
    },
}
CUSTOM_NAMED: JSON = {
    "type": "object",
    "required": ["type"],
    "properties": {"type": {"const": "custom"}},
    "anyOf": [
        {
            "required": ["custom"],
            "properties": {"custom": {"type": "object", "required": ["name"], "properties": {"name": TEXT}}},
        },
        {"required": ["name"], "properties": {"name": TEXT}, "not": {"required": ["custom"]}},
    ],
}
# Allowed tools of other types are left out, as in `tools`.
ALLOWED: JSON = {
    "type": "object",
    "properties": {"type": TEXT},
    "if": {"properties": {"type": FUNCTION}},
    "then": NAMED,
    "else": {"if": {"properties": {"type": {"const": "custom"}}}, "then": CUSTOM_NAMED},
}
CHOICE: JSON = {
    "anyOf": [
        {"enum": [*CHOICES, None]},
        NAMED,
        CUSTOM_NAMED,
        # In the form of Messages or Responses, as Cursor sends it.
        {
            "type": "object",
            "required": ["type"],
            "properties": {"type": {"enum": [*CHOICES, "any"]}, "disable_parallel_tool_use": SWITCH},
        },
        {
            "type": "object",
            "required": ["type", "name"],
            "properties": {"type": {"enum": ["function", "tool"]}, "name": TEXT, "disable_parallel_tool_use": SWITCH},
        },
        {
            "type": "object",
            "required": ["type", "allowed_tools"],
            "properties": {
                "type": {"const": "allowed_tools"},
                "allowed_tools": {
                    "type": "object",
                    "required": ["mode", "tools"],
                    "properties": {"mode": MODE, "tools": {"type": "array", "items": ALLOWED}},
                },
            },
        },
    ],
    "description": "auto, none, required, or an object that names one of the tools or the allowed ones",
}
# Fields of hosted services that change nothing here, but must have the same form as there.
UNUSED: JSON = {
    "logprobs": SWITCH,
    "top_logprobs": whole_number(0, "a whole number of 0 or more"),
    "logit_bias": {"type": ["object", "null"], "description": "an object"},
    "metadata": {"type": ["object", "null"], "description": "an object"},
    "reasoning_effort": TEXT_OR_NULL,
    "service_tier": TEXT_OR_NULL,
    "store": SWITCH,
    "user": TEXT_OR_NULL,
}
STREAM_OPTIONS: JSON = {
    "type": ["object", "null"],
    "properties": {"include_usage": {"type": ["boolean", "null"]}},
    "description": "an object, whose include_usage is true or false",
}
SYSTEM_PART: JSON = {
    "type": "object",
    "required": ["type", "text"],
    "properties": {"type": {"const": "text"}, "text": TEXT},
    "description": "a part of the type text",
}
QUESTION: JSON = {
    "type": "object",
    "required": ["model", "messages"],
    "properties": {
        "model": MODEL,
        "messages": {
            "type": "array",
            "minItems": 1,
            "items": MESSAGE,
            "description": "a list of at least one message",
        },
        # Where the Messages API has it; Cursor sends it so too.
        "system": {
            "type": ["string", "array", "null"],
            "items": SYSTEM_PART,
            "description": "a text or a list of texts",
        },
        "tools": TOOLS | {"items": TOOL},
        "tool_choice": CHOICE,
        "parallel_tool_calls": SWITCH,
        "stream": SWITCH,
        "stream_options": STREAM_OPTIONS,
        "n": {"enum": [1, None], "description": "1, or left out: only one answer at a time can be given"},
        # OpenAI's earlier field for tools; it is named in a header as left out.
        "functions": {"type": ["array", "null"], "description": "a list"},
        **OPTIONS,
        **UNUSED,
    },
    "description": "a JSON object",
}
# A whole request of the Responses API, which Cursor sends here for some models. It is answered as a chat completion,
# which cannot name the namespace of a call.
ITEMS_TOOL: JSON = FUNCTION_TOOL | {
    "properties": {
        **FUNCTION_TOOL["properties"],
        "type": FUNCTION_TOOL["properties"]["type"]
        | {"not": {"const": "namespace"}, "description": "a type other than namespace, which /v1/responses takes"},
    }
}
ITEMS: JSON = REQUEST | {
    "properties": {
        **REQUEST["properties"],
        "tools": TOOLS | {"items": ITEMS_TOOL},
        "stream_options": STREAM_OPTIONS,
    }
}
QUESTIONS, ITEM_QUESTIONS = BodyCheck(QUESTION), BodyCheck(ITEMS)
