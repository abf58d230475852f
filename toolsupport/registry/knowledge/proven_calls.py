"""Keeps one call per build and tool that ran, as the example for a text format (F12).

A conversation's own words must not turn up in anybody else's prompt, so only the form of the call is kept: which
arguments it had, of what kind, with the values that the tool's schema itself names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolsupport.core.calls import complaints_about
from toolsupport.core.types import JSON, ToolCall, ToolSpec
from toolsupport.models import ProvenCall


def keep(build_key: str, spec: ToolSpec, arguments: JSON) -> None:
    """Keep the form of a call that ran, in place of the one before. One statement."""
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
    """The proven calls of these tools, in their order; one that does not fit its tool any more is left out."""
    rows = dict(ProvenCall.objects.filter(build_key=build_key).values_list("tool", "arguments"))
    fitting = [tool for tool in tools if tool.name in rows and not complaints_about(rows[tool.name], tool.parameters)]
    return tuple(ToolCall("example", tool.name, rows[tool.name]) for tool in fitting)


def _form(name: str, value: Any, schema: Any) -> Any:
    """A value of the same kind that tells nothing; names that the schema does not know are left out."""
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
