"""Finds tools that a text describes as JSON objects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from toolsupport.simulator.reading import json_in_text, parameter_types
from toolsupport.simulator.types import JSON, OfferedTool

SCHEMAS = ("parameters", "input_schema", "inputSchema", "arguments", "args", "schema")
# The name of a tool whose schema follows: at the beginning of a line, perhaps in a list, a heading or backticks.
TITLE = re.compile(
    r"(?m)^[ \t]*(?:[-*•#]+|\d+[.)])?[ \t]*(?:(?:tool|function|name)\b[ \t:]*)*[`*\"]*([a-z_][\w.:/-]*\w)"
    r"(?=[`*\"]*[ \t]*(?:$|[:(]|[-–—][ \t]))",
    re.IGNORECASE,
)
NO_TITLES = {"parameters", "parameter", "arguments", "args", "schema", "input", "inputs", "json", "description", "the"}
BEFORE = 600
# A parameter with its schema, below the tool it belongs to.
NESTED = re.compile(r"\n[ \t]+[`\"]?(\w+)[`\"]?[ \t]*:[ \t]*\Z")


def tools(text: str) -> Iterator[OfferedTool]:
    """Return objects with a name and a schema anywhere in the text; also schemas after a name."""
    for place, value in json_in_text.objects(text):
        found = [tool for tool in map(of, json_in_text.inside(value)) if tool]
        yield from found
        if not found and isinstance(value.get("properties"), dict):
            name = _title(text[max(0, place - BEFORE) : place])
            yield from [OfferedTool(name, "", value)] if name else []


def of(value: Any) -> OfferedTool | None:
    """Return the tool that an object describes. An example of a call has a name too, but values instead of a schema."""
    if not isinstance(value, dict) or not isinstance(value.get("name"), str) or not value["name"]:
        return None
    description = value.get("description")
    words = description if isinstance(description, str) else ""
    schema = _schema(value, described=bool(words))
    return None if schema is None else OfferedTool(value["name"], words, schema)


def _schema(value: JSON, described: bool) -> JSON | None:
    given = [value[key] for key in SCHEMAS if value.get(key)]
    read = [schema for schema in map(parameter_types.of_object, given) if schema is not None]
    # Without arguments, the description distinguishes a tool from a call.
    return read[0] if read else {} if described and not given and "type" not in value else None


def _title(before: str) -> str:
    """Return the last name before a schema; "" if there is none, or if the schema is a parameter's."""
    nested = NESTED.search(before)
    if nested and nested.group(1).lower() not in NO_TITLES:
        return ""
    names = [name for name in TITLE.findall(before) if name.lower() not in NO_TITLES]
    return names[-1] if names else ""
