"""Completes the tools of requests, once for tools that a chat offers again in each request."""

from __future__ import annotations

from toolsupport.core.identity_cache import IdentityCache
from toolsupport.core.schema_spelling import all_in_json_schema
from toolsupport.core.types import ToolSpec

_completed: IdentityCache[tuple[ToolSpec, ...], tuple[ToolSpec, ...]] = IdentityCache(
    lambda tools: all_in_json_schema(tuple(tool.completed() for tool in tools)), most=64
)


def of(tools: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
    """Return the tools with everything that some servers require; equal tools give the same object.

    Their schemas are in the spelling of JSON Schema.
    """
    return _completed.of(tools)
