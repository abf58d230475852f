"""Reads the editable capabilities of one model, each with its evidence and open proposals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolsupport.core.override_ranking import OverrideRow
from toolsupport.core.resolve import explain
from toolsupport.models import HistoryEntry, ModelProfile
from toolsupport.registry.knowledge import effective_values, overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models import capability_evidence, profiles
from toolsupport.registry.models.capability_evidence import ChainLink


@dataclass(frozen=True, slots=True)
class PendingProposal:
    """An open proposal; `entry` is its line in the history."""

    entry: int
    words: str
    actor: str
    reason: str


@dataclass(frozen=True, slots=True)
class EditableCapability:
    """A capability that can be changed. `decided`: a person's decision is in force, perhaps for another build."""

    name: str
    newest: int
    value: Any
    decided: bool
    stale: bool
    waiting: tuple[PendingProposal, ...]
    chain: tuple[ChainLink, ...] = ()


def decidable(profile: ModelProfile, existing: Sequence[OverrideRow]) -> dict[str, EditableCapability]:
    """Return every capability with a claim, by name; `existing` are all claims about the model."""
    entries = explain(effective_values.family_of(profile), existing, profile.build.key)
    newest = {claim.capability: claim.seq for claim in existing if not claim.session}
    waiting = _waiting(profile.pk)
    found = {}
    for name in {*entries, *newest}:
        counting = [entry for entry in entries.get(name, ()) if entry.counts]
        first = counting[0] if counting else None
        found[name] = EditableCapability(
            name=name,
            newest=newest.get(name, 0),
            value=first.value if first else None,
            decided=any(entry.source == "user_confirmed" for entry in counting),
            stale=first is not None and first.stale,
            waiting=waiting.get(name, ()),
            chain=capability_evidence.links(entries.get(name, ())),
        )
    return found


def decide(decision: NewOverride) -> tuple[int, int]:
    """Decide, propose, or (value None) follow the evidence; return the last new seq, and how many rows there are.

    Raises Conflict, NotFound.
    """
    if decision.value is not None:
        return overrides.add(decision), 1
    removed = overrides.follow_evidence(decision)
    return overrides.newest_seq(decision.profile, decision.capability), removed


def _waiting(profile_id: int) -> dict[str, tuple[PendingProposal, ...]]:
    open_ones = {"override__accepted_by": None, "override__withdrawn_by": None}
    rows = HistoryEntry.objects.filter(profile_id=profile_id, facet__kind="proposal", **open_ones).select_related(
        "actor"
    )
    found: dict[str, tuple[PendingProposal, ...]] = {}
    for row in rows.order_by("-at", "-id")[:20]:
        one = PendingProposal(
            row.pk,
            profiles.state_and_words(row.capability, row.after)[1],
            effective_values.display_name(row.actor),
            row.text,
        )
        found[row.capability] = (*found.get(row.capability, ()), one)
    return found
