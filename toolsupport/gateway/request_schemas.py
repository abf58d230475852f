"""Declares the fields of requests that several APIs share, for the API description and for validation."""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from toolsupport.core.types import JSON
from toolsupport.gateway.first_schema_error import first_error
from toolsupport.gateway.request_errors import InvalidField

MOST_TOOLS = 256
MOST_STOPS = 16
CHOICES = ("auto", "none", "required")
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
# The grammar of a custom tool, and the schema of a `format` that has it.
GRAMMAR: JSON = {
    "required": ["syntax", "definition"],
    "properties": {"syntax": {"enum": ["lark", "regex"]}, "definition": TEXT},
}


def custom_format(grammar: JSON) -> JSON:
    return {
        "type": ["object", "null"],
        "required": ["type"],
        "properties": {"type": {"enum": ["text", "grammar"]}},
        "if": {"properties": {"type": {"const": "grammar"}}},
        "then": grammar,
        "description": "an object of the type text, or grammar with a syntax (lark or regex) and a definition",
    }


TOOLS: JSON = {
    "type": ["array", "null"],
    "maxItems": MOST_TOOLS,
    "description": f"a list of at most {MOST_TOOLS} tools",
}
MODE: JSON = {"enum": ["auto", "required"]}
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


CALLS = BodyCheck(CALL)
