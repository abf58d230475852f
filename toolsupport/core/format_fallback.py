"""Chooses how a request continues after its call format failed: in the next format that may work, or without tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsupport.core.format_choice import NATIVE, label
from toolsupport.core.types import Exclusion, RequestSpec

UNTESTED = (
    "A person decided that this model calls tools, so its calls are written as text. No test shows which format it"
    " writes: {label} is tried."
)

UNPROVEN = "No test shows another format that this model writes each time: {label} is tried."


def in_format(request_spec: RequestSpec, name: str, reason: str) -> RequestSpec:
    """Return the same request in another format; earlier fallbacks have failed already."""
    later = request_spec.fallbacks[request_spec.fallbacks.index(name) + 1 :] if name in request_spec.fallbacks else ()
    # Streaming breaks native calls only.
    stream = request_spec.stream if name == NATIVE else True
    return replace(request_spec, format=name, format_reason=reason, fallbacks=later, stream=stream)


def next_in_line(request_spec: RequestSpec, reason: str) -> RequestSpec | None:
    """Return the same request in the next format; None if there is no other."""
    return in_format(request_spec, request_spec.fallbacks[0], reason) if request_spec.fallbacks else None


def in_text(request_spec: RequestSpec, rule: str, reason: str) -> RequestSpec:
    """Return the same request in the next text format, else in an untested one if a person decided so, else without
    tools.
    """
    name = next((name for name in request_spec.fallbacks if name != NATIVE), "")
    if name:
        return in_format(request_spec, name, reason)
    if request_spec.if_refused:
        untested = UNTESTED.format(label=label(request_spec.if_refused))
        return replace(in_format(request_spec, request_spec.if_refused, f"{reason} {untested}"), if_refused="")
    return without_tools(request_spec, rule, reason)


def without_schema(request_spec: RequestSpec, reason: str) -> RequestSpec:
    """Return a request in constrained output for a server that enforces no schema: in the next format."""
    following = next_in_line(request_spec, reason)
    if following is not None or not request_spec.if_refused:
        return following or without_tools(request_spec, "refused", reason)
    untested = f"{reason} {UNPROVEN.format(label=label(request_spec.if_refused))}"
    return replace(in_format(request_spec, request_spec.if_refused, untested), if_refused="")


def without_tools(request_spec: RequestSpec, rule: str, reason: str) -> RequestSpec:
    """Return the same request without tools; the system prompt will mention that."""
    request_spec = left_out(request_spec, [tool.name for tool in request_spec.tools], rule, reason)
    return replace(request_spec, hidden=(), format="", format_reason=reason)


def left_out(request_spec: RequestSpec, names: Sequence[str], rule: str, reason: str) -> RequestSpec:
    """Return the same request without these tools."""
    gone = tuple(Exclusion(tool.name, rule, reason) for tool in request_spec.tools if tool.name in names)
    kept = tuple(tool for tool in request_spec.tools if tool.name not in names)
    return replace(request_spec, tools=kept, excluded=(*request_spec.excluded, *gone))
