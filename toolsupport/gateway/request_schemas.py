"""Declares the fields of requests once, for the API description and for validation."""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from toolsupport.core.types import JSON
from toolsupport.gateway.first_schema_error import first_error
from toolsupport.gateway.request_errors import InvalidField

MOST_TOOLS = 256
MOST_STOPS = 16
CHOICES = ("auto", "none", "required")
ROLES = ("system", "developer", "user", "assistant", "tool")
LARGEST = 2**63 - 1

TEXT: JSON = {"type": "string"}
OBJECT: JSON = {"type": "object"}
# Programs send null for fields that they leave open.
SWITCH: JSON = {"type": ["boolean", "null"], "description": "true or false"}
# Not only spaces, and no NUL, which databases cannot compare.
NAME = r"^[^\x00]*[^\x00\s][^\x00]*$"
# The names of tools that OpenAI and Anthropic accept.
TOOL_NAME: JSON = {
    "type": "string",
    "pattern": r"^[a-zA-Z0-9_-]{1,64}$",
    "description": "a name of 1 to 64 letters (a-z, A-Z), digits, _ and -",
}
TEXT_OR_NULL: JSON = {"type": ["string", "null"], "description": "a text"}
FUNCTION = {"const": "function", "description": "the text function"}
MODEL: JSON = {
    "type": "string",
    "pattern": NAME,
    "description": "`server/name`, or a name that only one server has",
}


def number(least: float, most: float) -> JSON:
    words = f"a number from {least} to {most}"
    return {"type": ["number", "null"], "minimum": least, "maximum": most, "description": words}


def whole_number(least: int, words: str) -> JSON:
    return {"type": ["integer", "null"], "minimum": least, "maximum": LARGEST, "description": words}


def part(kind: str, schema: JSON) -> JSON:
    properties = {"type": {"const": kind}, kind: schema}
    return {"type": "object", "required": ["type", kind], "properties": properties}


# An image is a data URL: an address is never fetched. `conversation` refuses any other text with that reason.
IMAGE: JSON = {"type": "object", "required": ["url"], "properties": {"url": TEXT}}
# A file that holds text; `conversation` refuses all others with the reason.
FILE: JSON = {"type": "object", "properties": {"file_data": TEXT, "filename": {"type": ["string", "null"]}}}
PART: JSON = {
    "anyOf": [part("text", TEXT), part("refusal", TEXT), part("image_url", IMAGE), part("file", FILE)],
    "description": "a part of the type text, refusal, image_url or file",
}
# A custom tool takes one text. None is offered here, but a conversation may have begun elsewhere.
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
PARAMETERS: JSON = {
    "type": ["object", "null"],
    "properties": {
        # As programs write it: whether `object` is meant is checked when the schema is in the spelling of JSON Schema.
        "type": {"type": ["string", "null"]},
        "properties": {"type": ["object", "null"]},
        "required": {"type": ["array", "boolean", "null"], "items": TEXT},
    },
    "description": "a JSON Schema of the type object",
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
    "description": "a tool with a type; one of the type function has a function with a name",
}
TOOLS: JSON = {
    "type": ["array", "null"],
    "maxItems": MOST_TOOLS,
    "items": TOOL,
    "description": f"a list of at most {MOST_TOOLS} tools",
}
NAMED: JSON = {
    "type": "object",
    "required": ["function"],
    "properties": {
        "type": FUNCTION,
        "function": {"type": "object", "required": ["name"], "properties": {"name": TEXT}},
    },
}
# Allowed tools of other types are left out, as in `tools`.
ALLOWED: JSON = {
    "type": "object",
    "properties": {"type": TEXT},
    "if": {"properties": {"type": FUNCTION}},
    "then": NAMED,
}
MODE: JSON = {"enum": ["auto", "required"]}
CHOICE: JSON = {
    "anyOf": [
        {"enum": [*CHOICES, None]},
        NAMED,
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
# The options of sampling: what each may be, under the name that the programs use.
OPTIONS: JSON = {
    "temperature": number(0, 2),
    "top_p": number(0, 1),
    "presence_penalty": number(-2, 2),
    "frequency_penalty": number(-2, 2),
    "max_tokens": whole_number(1, "a whole number of 1 or more"),
    "max_completion_tokens": whole_number(1, "a whole number of 1 or more"),
    "seed": whole_number(-LARGEST - 1, "a whole number of at most 64 bits"),
    "stop": {
        "anyOf": [{"type": ["string", "null"]}, {"type": "array", "maxItems": MOST_STOPS, "items": TEXT}],
        "description": f"a text, or a list of at most {MOST_STOPS}",
    },
    "response_format": {
        "type": ["object", "null"],
        "required": ["type"],
        "properties": {
            # The last one is of vLLM and SGLang.
            "type": {"enum": ["text", "json_object", "json_schema", "structural_tag"]},
            "json_schema": {"type": "object", "properties": {"schema": {"type": "object"}}},
        },
        "if": {"properties": {"type": {"const": "json_schema"}}},
        "then": {"required": ["json_schema"]},
        "description": "an object of the type text, json_object, json_schema (with a json_schema) or structural_tag",
    },
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
        "tools": TOOLS,
        "tool_choice": CHOICE,
        "parallel_tool_calls": SWITCH,
        "stream": SWITCH,
        "stream_options": {
            "type": ["object", "null"],
            "properties": {"include_usage": {"type": ["boolean", "null"]}},
            "description": "an object, whose include_usage is true or false",
        },
        "n": {"enum": [1, None], "description": "1, or left out: only one answer at a time can be given"},
        # OpenAI's earlier field for tools; it is named in a header as left out.
        "functions": {"type": ["array", "null"], "description": "a list"},
        **OPTIONS,
        **UNUSED,
    },
    "description": "a JSON object",
}
CALL: JSON = {
    "type": "object",
    "required": ["model", "name"],
    "properties": {
        "model": MODEL,
        "name": {"type": "string", "pattern": NAME, "description": "a text, the name of a tool"},
        "arguments": {"type": "object", "description": "an object"},
        "conversation": {"type": ["string", "null"], "description": "the id of one of your own conversations"},
    },
    "description": "a JSON object",
}


class BodyCheck:
    """Validates bodies against one of the schemas."""

    def __init__(self, schema: JSON) -> None:
        self._schema = schema
        self._validator = jsonschema_rs.validator_for(schema)

    def check(self, body: Any) -> None:
        """Raise InvalidField for the first wrong field, with its description as the message."""
        try:
            found = first_error(self._validator, body)
        except LookupError:
            raise InvalidField(f"The body must be {self._schema['description']} as /api/openapi.json has it.") from None
        if found is None:
            return
        error, place = found
        path = error.schema_path[:-1]
        if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Required):
            place, path = [*place, error.kind.property], [*path, "properties", error.kind.property]
        depth, words = self._described(path)
        field = written(place[:depth])
        raise InvalidField(f"{f'`{field}`' if field else 'The body'} must be {words}.", field)

    def _described(self, path: list[Any]) -> tuple[int, str]:
        """Return the innermost part of this path that has a description: its depth, and the description."""
        node: Any = self._schema
        depth, named = 0, False
        found = (0, str(node["description"]))
        for step in path:
            if isinstance(node, dict) and step not in node:
                return depth + 1, "given"  # only the type of its object requires it
            node = node[step]
            if step == "properties" and not named:
                named = True
                continue
            depth, named = depth + (named or step == "items"), False
            if "description" in node:
                found = (depth, node["description"])
        return found


def written(place: list[str | int]) -> str:
    """Return the path of a field as programs write it: `messages[0].content`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).lstrip(".")


QUESTIONS = BodyCheck(QUESTION)
CALLS = BodyCheck(CALL)
