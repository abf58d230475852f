"""Resolves the family's facts and the later claims into the effective values for one build and one conversation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from toolsupport.core import reasons
from toolsupport.core.families import Family
from toolsupport.core.overrides import COUNTS, OverrideRow, OverrideStatus, older_tests, ranked, weigh
from toolsupport.core.types import Capabilities, Capability

__all__ = ["CAPABILITIES", "OverrideRow", "OverrideStatus", "explain", "resolve"]

# What the API and the pages always show, known or not. `format` is a text format that works; `call_format` is the one
# the family was taught to write, which proves nothing.
CAPABILITIES = tuple(reasons.LABELS)

# Capability → field of Family.
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


def resolve(family: Family | None, claims: Sequence[OverrideRow], build_key: str, session: str = "") -> Capabilities:
    """Return all capabilities, each with source, since and reason; without any claim it is unknown (value None).

    Highest first: this conversation, user_confirmed, auto_detected on this build, declared, auto_detected on another
    build, the family. Within a rank the newest row that was not withdrawn.
    """
    entries = _claims(family, claims, build_key, session)
    names = dict.fromkeys((*CAPABILITIES, *entries))
    found = {name: _capability(name, entries.get(name, ()), family) for name in names}
    return Capabilities(found, older_tests(claims, build_key))


def explain(
    family: Family | None, claims: Sequence[OverrideRow], build_key: str, session: str = ""
) -> Mapping[str, tuple[OverrideStatus, ...]]:
    """Return all claims by capability: the winner, then the overridden ones, then those that never counted."""
    found = _claims(family, claims, build_key, session)
    return {name: _judged(entries) for name, entries in found.items()}


def _claims(
    family: Family | None, claims: Sequence[OverrideRow], build_key: str, session: str
) -> dict[str, list[OverrideStatus]]:
    """Entries by capability, ranked."""
    by_name: defaultdict[str, list[OverrideStatus]] = defaultdict(list)
    for entry in (*_of_family(family), *weigh(claims, build_key, session)):
        by_name[entry.capability].append(entry)
    return {name: ranked(entries) for name, entries in by_name.items()}


def _of_family(family: Family | None) -> list[OverrideStatus]:
    if family is None:
        return []
    values = {name: getattr(family, attribute) for name, attribute in _OF_FAMILY.items()}
    values |= {f"tool:{tool}": "refused" for tool in family.refuses}
    return [OverrideStatus(name, value, "profile") for name, value in values.items() if value is not None]


def _capability(name: str, entries: Sequence[OverrideStatus], family: Family | None) -> Capability:
    counting = [entry for entry in entries if entry.standing == COUNTS]
    if not counting:
        return Capability(name, None, "default", reasons.of_nothing(name, family))
    winner, *beaten = counting
    reason = reasons.of_winner(winner, beaten, family)
    if (claim := winner.claim) is None:
        return Capability(name, winner.value, winner.source, reason, stale=winner.stale)
    behind = (claim.created_at, claim.id, winner.stale, claim.detection, claim.actor)
    return Capability(name, winner.value, winner.source, reason, *behind)


def _judged(entries: Sequence[OverrideStatus]) -> tuple[OverrideStatus, ...]:
    counting = [entry for entry in entries if entry.standing == COUNTS]
    others = [entry for entry in entries if entry.standing != COUNTS]
    winner = [replace(entry, standing="winner") for entry in counting[:1]]
    beaten = [replace(entry, standing="beaten") for entry in counting[1:]]
    return (*winner, *beaten, *others)
