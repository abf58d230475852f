"""Chooses how a request continues after its call format failed: in the next format that may work, or without tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsupport.core.format_choice import NATIVE
from toolsupport.core.types import Exclusion, RequestSpec


def in_format(brief: RequestSpec, name: str, reason: str) -> RequestSpec:
    """Return the same request in another format; earlier fallbacks have failed already."""
    later = brief.fallbacks[brief.fallbacks.index(name) + 1 :] if name in brief.fallbacks else ()
    # Only native calls are spoiled by streaming.
    stream = brief.stream if name == NATIVE else True
    return replace(brief, format=name, format_reason=reason, fallbacks=later, stream=stream)


def next_in_line(brief: RequestSpec, reason: str) -> RequestSpec | None:
    """Return the same request in the next format; None if there is no other."""
    return in_format(brief, brief.fallbacks[0], reason) if brief.fallbacks else None


def in_text(brief: RequestSpec, rule: str, reason: str) -> RequestSpec:
    """Return the same request in the next text format, else without tools."""
    name = next((name for name in brief.fallbacks if name != NATIVE), "")
    return in_format(brief, name, reason) if name else without_tools(brief, rule, reason)


def without_tools(brief: RequestSpec, rule: str, reason: str) -> RequestSpec:
    """Return the same request without tools; the system prompt will mention that."""
    brief = left_out(brief, [tool.name for tool in brief.tools], rule, reason)
    return replace(brief, hidden=(), format="", format_reason=reason)


def left_out(brief: RequestSpec, names: Sequence[str], rule: str, reason: str) -> RequestSpec:
    """Return the same request without these tools."""
    gone = tuple(Exclusion(tool.name, rule, reason) for tool in brief.tools if tool.name in names)
    kept = tuple(tool for tool in brief.tools if tool.name not in names)
    return replace(brief, tools=kept, excluded=(*brief.excluded, *gone))
