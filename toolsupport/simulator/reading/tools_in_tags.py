"""Finds tools that a text describes in tags."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from toolsupport.simulator.reading import json_in_text, parameter_types
from toolsupport.simulator.reading.parameter_types import Parameter
from toolsupport.simulator.types import JSON, OfferedTool

TOOL = ("tool", "function", "tool_description")
PARAMETER = ("parameter", "param", "argument", "arg")
NAMES = ("name", "tool_name", "function_name")


def tools(text: str) -> Iterator[OfferedTool]:
    """Return every `<tool>` or `<function>` with a name, as an attribute or in a tag of its own."""
    for attributes, inner in blocks(text, TOOL):
        own = next((inner[: inner.find(f"<{tag}")] for tag in ("parameters", *PARAMETER) if f"<{tag}" in inner), inner)
        name = attributes.get("name") or _first(own, NAMES)
        about = attributes.get("description") or _first(own, ("description",))
        if name:
            yield OfferedTool(name, about, _schema(inner))


def _schema(inner: str) -> JSON:
    found = next((parameter_types.of_object(value) for _, value in json_in_text.objects(inner)), None)
    listed = re.search(r"<required>\s*(\[.*?\])\s*</required>", inner)
    required = json_in_text.at(inner, listed.start(1))[0] if listed else None
    parameters = [_parameter(*block) for block in blocks(inner, PARAMETER)]
    schema = found or parameter_types.of_parameters(parameter for parameter in parameters if parameter.name)
    return {**schema, "required": required} if isinstance(required, list) else schema


def _parameter(attributes: dict[str, str], inner: str) -> Parameter:
    kind = attributes.get("type") or _first(inner, ("type",))
    needed = attributes.get("required") or _first(inner, ("required",))
    name = attributes.get("name") or _first(inner, NAMES)
    return Parameter(name, parameter_types.of_type(kind), needed.lower() in ("true", "yes", "required", "1"))


def _first(text: str, tags: tuple[str, ...]) -> str:
    """Return the content of the first of these tags; "" without one."""
    return next((html.unescape(inner.strip()) for _, inner in blocks(text, tags)), "")


def blocks(text: str, tags: tuple[str, ...]) -> Iterator[tuple[dict[str, str], str]]:
    """Return the attributes and content of every outermost element with one of these tags."""
    opener = re.compile(rf"<({'|'.join(tags)})((?:\s+[\w-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*(/?)>", re.IGNORECASE)
    place, unclosed = 0, set[str]()
    while match := opener.search(text, place):
        tag, attributes, closed = match.groups()
        # `<param name="x"/>` has no content. A tag without an end after this place has none after a later place either.
        end = match.end() if closed else -1 if tag in unclosed else text.find(f"</{tag}>", match.end())
        place = max(end, match.end())
        if end < 0:
            unclosed.add(tag)
        else:
            yield {name.lower(): html.unescape(value) for name, value in _pairs(attributes)}, text[match.end() : end]


def _pairs(attributes: str) -> Iterator[tuple[str, str]]:
    for name, double, single in re.findall(r"([\w-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", attributes):
        yield name, double or single
