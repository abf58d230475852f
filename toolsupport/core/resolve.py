"""Resolves the family's facts and the later claims into the effective values for one build and one conversation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from toolsupport.core import capability_reasons
from toolsupport.core.families import FamilyProfile
from toolsupport.core.override_ranking import (
    IN_FORCE,
    OVERRIDDEN,
    OverrideRow,
    OverrideStatus,
    older_tests,
    ranked,
    weigh,
)
from toolsupport.core.types import Capabilities, Capability

__all__ = ["CAPABILITIES", "OverrideRow", "OverrideStatus", "explain", "resolve"]

# Capabilities that the API and the pages always show, known or not. `format` is a text format that works;
# `call_format` is the one of the family's training, which proves nothing.
CAPABILITIES = tuple(capability_reasons.LABELS)

# Capability → field of FamilyProfile.
_OF_FAMILY = {
    "tools": "tools",
    "parallel": "parallel",
    "streaming": "streaming_calls",
    "multi_turn": "multi_turn",
    "thinking": "thinking",
    "vision": "vision",
    "max_tools": "max_tools",
    "prompt_style": "prompt_style",
    "call_format": "call_format",
    "context": "context",
}


def resolve(
    family: FamilyProfile | None, claims: Sequence[OverrideRow], build_key: str, session: str = ""
) -> Capabilities:
    """Return all capabilities, each with source, since and reason; without any claim it is unknown (value None).

    Highest first: this conversation, user_confirmed, auto_detected on this build, declared, auto_detected on another
    build, the family. Within a rank the newest row that was not withdrawn.
    """
    entries = _claims(family, claims, build_key, session)
    names = dict.fromkeys((*CAPABILITIES, *entries))
    found = {name: _capability(name, entries.get(name, ()), family) for name in names}
    return Capabilities(found, older_tests(claims, build_key))


def explain(
    family: FamilyProfile | None, claims: Sequence[OverrideRow], build_key: str, session: str = ""
) -> Mapping[str, tuple[OverrideStatus, ...]]:
    """Return all claims by capability: the one in force, then the overridden ones, then those that never counted."""
    found = _claims(family, claims, build_key, session)
    return {name: _judged(entries) for name, entries in found.items()}


def _claims(
    family: FamilyProfile | None, claims: Sequence[OverrideRow], build_key: str, session: str
) -> dict[str, list[OverrideStatus]]:
    """Entries by capability, ranked."""
    by_name: defaultdict[str, list[OverrideStatus]] = defaultdict(list)
    for entry in (*_of_family(family), *weigh(claims, build_key, session)):
        by_name[entry.capability].append(entry)
    return {name: ranked(entries) for name, entries in by_name.items()}


def _of_family(family: FamilyProfile | None) -> list[OverrideStatus]:
    if family is None:
        return []
    values = {name: getattr(family, attribute) for name, attribute in _OF_FAMILY.items()}
    values |= {f"tool:{tool}": "refused" for tool in family.refuses}
    return [OverrideStatus(name, value, "profile") for name, value in values.items() if value is not None]


def _capability(name: str, entries: Sequence[OverrideStatus], family: FamilyProfile | None) -> Capability:
    counting = [entry for entry in entries if entry.counts]
    if not counting:
        return Capability(name, None, "default", capability_reasons.of_nothing(name, family))
    first, *others = counting
    reason = capability_reasons.in_force(first, others, family)
    if (claim := first.claim) is None:
        return Capability(name, first.value, first.source, reason, stale=first.stale)
    behind = (claim.created_at, claim.id, first.stale, claim.detection, claim.actor)
    return Capability(name, first.value, first.source, reason, *behind)


def _judged(entries: Sequence[OverrideStatus]) -> tuple[OverrideStatus, ...]:
    counting = [entry for entry in entries if entry.counts]
    others = [entry for entry in entries if not entry.counts]
    in_force = [replace(entry, state=IN_FORCE) for entry in counting[:1]]
    overridden = [replace(entry, state=OVERRIDDEN) for entry in counting[1:]]
    return (*in_force, *overridden, *others)
