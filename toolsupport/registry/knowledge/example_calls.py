"""Stores one successful call per build and tool as the example for a text format (F12).

The contents of a conversation must not appear in another person's prompt, so only the form of the call is stored: its
arguments and their types, with the values that the tool's schema itself names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolsupport.core.call_validation import complaints_about
from toolsupport.core.types import JSON, ToolCall, ToolSpec
from toolsupport.models import ProvenCall


def keep(build_key: str, spec: ToolSpec, arguments: JSON) -> None:
    """Store the form of a successful call in place of the earlier one. One statement."""
    form = _form("", arguments, spec.parameters)
    if complaints_about(form, spec.parameters):
        return
    ProvenCall.objects.bulk_create(
        [ProvenCall(build_key=build_key, tool=spec.name, arguments=form)],
        update_conflicts=True,
        unique_fields=["build_key", "tool"],
        update_fields=["arguments", "proven_at"],
    )


def examples(build_key: str, tools: Sequence[ToolSpec]) -> tuple[ToolCall, ...]:
    """Return the proven calls of these tools, in their order; calls that no longer fit their tool are left out."""
    rows = dict(ProvenCall.objects.filter(build_key=build_key).values_list("tool", "arguments"))
    fitting = [tool for tool in tools if tool.name in rows and not complaints_about(rows[tool.name], tool.parameters)]
    return tuple(ToolCall("example", tool.name, rows[tool.name]) for tool in fitting)


def _form(name: str, value: Any, schema: Any) -> Any:
    """Return a neutral value of the same type; names outside the schema are left out."""
    schema = schema if isinstance(schema, Mapping) else {}
    if isinstance(value, bool) or value is None or value in schema.get("enum", ()):
        return value
    if isinstance(value, str):
        return f"<{name}>"
    if isinstance(value, int | float):
        return schema.get("minimum", 1)
    if isinstance(value, list):
        return [_form(name, item, schema.get("items")) for item in value[:1]]
    inner = schema.get("properties", {})
    return {key: _form(key, item, inner[key]) for key, item in value.items() if key in inner}
