"""Decides when a reply is constrained to a schema: for a required call, and after a call that could not be used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsupport.core import format_fallback
from toolsupport.core.constrained.schema_enforcement import has_further_keywords
from toolsupport.core.events import CallRejected, SchemaRefused
from toolsupport.core.format_choice import FORCED, label
from toolsupport.core.prompt.sampling import FORCED as REQUIRED
from toolsupport.core.tool_lookup import find_tool
from toolsupport.core.types import JSON, CallConstraint, ChatMessage, RequestSpec, Role

RETRY = "A call written as {label} could not be used, so the next reply is constrained to a call that can."
CALL_REQUIRED = "A call is required, and the server is made to enforce it."
REFUSED = "Its server refused the schema of constrained output: {message}"
DROPPED = "Its server did not enforce the schema of constrained output."


def constrained(request_spec: RequestSpec, reason: str, constraint: CallConstraint) -> RequestSpec:
    """Return the same request with its reply constrained; it carries no native tools, and its history is text."""
    later = tuple(name for name in request_spec.fallbacks if name != FORCED)
    before = request_spec.unconstrained if request_spec.format == FORCED else request_spec
    return replace(
        request_spec,
        format=FORCED,
        format_reason=reason,
        fallbacks=later,
        constraint=constraint,
        unconstrained=before if before is not None and before.offers_tools else None,
        stream=True,
    )


def refused_part(request_spec: RequestSpec, schema: JSON) -> str:
    """Return the part that the request after a refused schema leaves out.

    The arguments are left out only if no other way to a call is known: that costs one more request.
    """
    if request_spec.keywords and has_further_keywords(schema):
        return "keywords"
    needed = request_spec.unconstrained is None or is_required(request_spec)
    return "arguments" if needed and not request_spec.constraint.plain else "all"


def after_refusal(request_spec: RequestSpec, refused: SchemaRefused) -> RequestSpec:
    """Return the request after its schema was refused: without a part of it, or without any schema."""
    if refused.part == "keywords":
        return replace(request_spec, keywords=frozenset())
    if refused.part == "arguments":
        return replace(request_spec, constraint=replace(request_spec.constraint, plain=True))
    return unenforced(request_spec, REFUSED.format(message=refused.message))


def unenforced(request_spec: RequestSpec, reason: str) -> RequestSpec:
    """Return the request for a server that enforces no schema: in the previous format, or in the next one."""
    if request_spec.format != FORCED:
        return _without_force(request_spec)
    if request_spec.unconstrained is not None:
        return _without_force(request_spec.unconstrained)
    return format_fallback.without_schema(_without_force(request_spec), reason)


def _without_force(request_spec: RequestSpec) -> RequestSpec:
    later = tuple(name for name in request_spec.fallbacks if name != FORCED)
    return replace(request_spec, may_force=False, fallbacks=later)


def is_required(request_spec: RequestSpec) -> bool:
    return request_spec.options.get("tool_choice") in REQUIRED


def required(request_spec: RequestSpec, log: Sequence[ChatMessage], honours: bool) -> RequestSpec:
    """Return the request constrained to a call if one is required; `honours`: the server itself sees to that.

    After the first result the model may answer, as with every required call.
    """
    wanted = is_required(request_spec) and not (log and log[-1].role is Role.TOOL)
    if not (wanted and request_spec.may_force and request_spec.offers_tools):
        return request_spec
    if honours and request_spec.format == "native":
        return request_spec
    constraint = replace(request_spec.constraint, answer=False)
    return constrained(request_spec, CALL_REQUIRED, constraint)


def retried(
    request_spec: RequestSpec, rejected: CallRejected | None, *, must_call: bool = False, last: bool = False
) -> RequestSpec:
    """Return the request after a call that could not be used: constrained to the intended tool, if known.

    Otherwise any offered tool may be called, and the model may answer unless a call is required. `last`: no retry
    follows, so that a value that still does not fit is made impossible together with rare ones that do.
    """
    meant = find_tool(rejected.name, request_spec.tools) if rejected and rejected.name else None
    narrow = last and request_spec.format == FORCED and rejected is not None and rejected.fault == "schema"
    names, plain = (meant.name,) if meant else (), request_spec.constraint.plain
    constraint = CallConstraint(names, answer=not (meant or must_call), narrow=narrow, plain=plain)
    return constrained(request_spec, RETRY.format(label=label(request_spec.format)), constraint)
