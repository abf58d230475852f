"""Writes calls as Python, so that reading them gives the same calls back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from toolsupport.core.types import ToolCall, ToolSpec

WORDS = {True: "True", False: "False", None: "None"}


def call(one: ToolCall) -> str:
    """Write `name(key=value)`; keys that are not identifiers go into `**{…}`."""
    named = [f"{key}={literal(value)}" for key, value in one.arguments.items() if _is_name(key)]
    spread = {key: value for key, value in one.arguments.items() if not _is_name(key)}
    return f"{one.name}({', '.join([*named, *([f'**{literal(spread)}'] if spread else [])])})"


def literal(value: Any) -> str:
    """Write a JSON value as Python does, strings in double quotes."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key, ensure_ascii=False)}: {literal(v)}" for key, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    if isinstance(value, bool) or value is None:
        return WORDS[value]
    return json.dumps(value, ensure_ascii=False)


def _is_name(key: str) -> bool:
    return key.isascii() and key.isidentifier() and len(key) < 100


# What the head shows, and what a model does not need.
SIGNED = frozenset({"type", "properties", "required", "title", "description", "$schema", "$id", "additionalProperties"})


def signature(tool: ToolSpec) -> str:
    """Describe a tool to a model that writes Python: its head, its purpose, its parameters as JSON Schema."""
    parameters = tool.parameters.get("properties") or {}
    required = tool.parameters.get("required") or []
    names = [name if name in required else f"{name}=…" for name in parameters]
    lines = [f"- {tool.name}({', '.join(names)})" + (f": {tool.description}" if tool.description else "")]
    lines += [f"    {name}: {json.dumps(schema, ensure_ascii=False)}" for name, schema in parameters.items()]
    # Definitions that parameters refer to, alternatives of the whole.
    further = {name: value for name, value in tool.parameters.items() if name not in SIGNED and value}
    lines += [f"    (for all of them) {json.dumps(further, ensure_ascii=False)}"] if further else []
    return "\n".join(lines)


def signatures(tools: Sequence[ToolSpec]) -> str:
    return "\n".join(signature(tool) for tool in tools)
