"""Ranks the overrides of a model for one build and one conversation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from toolsupport.core.override_sources import SOURCES

# Why a row may not count; "" is a row that does.
# States of a claim that counts: before claims are compared, and after.
COUNTS, IN_FORCE, OVERRIDDEN = "", "in_force", "overridden"
# Sources bound to the build of their time. A server's claims are read again for each build.
BOUND_TO_BUILD = ("user_confirmed", "auto_detected")


@dataclass(frozen=True, slots=True)
class OverrideRow:
    """One override of a model; rows are only added, never changed.

    `source` is one of sources.STORED, `session` "" means everyone, `actor` is "" for machines, `created_at` ISO 8601.
    `withdraws` is the id of the row that this one withdraws; such a row has no value of its own. `detection` is the
    test that measured it, `kind` its kind; None and "" if it was imported. It counts until `expires_at`, "" for no end.
    """

    id: int
    seq: int
    capability: str
    value: Any
    source: str
    session: str = ""
    build_key: str = ""
    actor: str = ""
    reason: str = ""
    proposed: bool = False
    withdraws: int | None = None
    created_at: str = ""
    kind: str = ""
    detection: int | None = None
    expires_at: str = ""


@dataclass(frozen=True, slots=True)
class OverrideStatus:
    """A claim as it applies to one build and one conversation.

    `source` is its rank, a key of sources.SOURCES ("runtime_error" outside a conversation has none and never counts).
    `state` is in_force, overridden, withdrawn, proposed, other_chat or empty. `claim` is None for the family table.
    `stale`: it was made on another build than the present one.
    """

    capability: str
    value: Any
    source: str
    state: str = COUNTS
    claim: OverrideRow | None = None
    stale: bool = False

    @property
    def counts(self) -> bool:
        """Whether it decides, or would without those of higher ranks."""
        return self.state in (COUNTS, IN_FORCE, OVERRIDDEN)


def weigh(claims: Sequence[OverrideRow], build_key: str, session: str) -> list[OverrideStatus]:
    """Return an entry for each row with a value, in the order of the rows; withdrawals are applied, not listed."""
    withdrawn = _withdrawn(claims, session)
    return [_entry(claim, build_key, session, withdrawn) for claim in claims if claim.withdraws is None]


def ranked(entries: Iterable[OverrideStatus]) -> list[OverrideStatus]:
    """Sort by rank, highest first, and newest first within a rank."""
    return sorted(entries, key=lambda entry: (rank(entry), -(entry.claim.seq if entry.claim else 0)))


def rank(entry: OverrideStatus) -> int:
    """Return the rank, 0 for the highest; entries without a rank come last."""
    return SOURCES[entry.source].rank if entry.source in SOURCES else len(SOURCES)


def older_tests(claims: Sequence[OverrideRow], build_key: str) -> frozenset[str]:
    """Return the kinds of tests to repeat, since they were made of another build than the present one.

    An undone test does not count, and a full test of the present build leaves nothing to repeat.
    """
    withdrawn = _withdrawn(claims, "")
    measured = [
        claim for claim in claims if claim.source == "auto_detected" and not claim.session and claim.withdraws is None
    ]
    # Imported values have no test of this site.
    found = {(claim.build_key == build_key, claim.kind or "tools") for claim in measured if claim.id not in withdrawn}
    here = {kind for is_here, kind in found if is_here}
    elsewhere = {kind for is_here, kind in found if not is_here}
    return frozenset() if "tools" in here else frozenset(elsewhere - here)


def _withdrawn(claims: Iterable[OverrideRow], session: str) -> set[int]:
    """Return the ids of withdrawn rows. Newest first, so that a withdrawn withdrawal has no effect."""
    withdrawn: set[int] = set()
    for claim in sorted(claims, key=lambda claim: claim.seq, reverse=True):
        counts = claim.session in ("", session) and not claim.proposed and claim.id not in withdrawn
        if claim.withdraws is not None and counts:
            withdrawn.add(claim.withdraws)
    return withdrawn


def _entry(claim: OverrideRow, build_key: str, session: str, withdrawn: set[int]) -> OverrideStatus:
    source = _source(claim, build_key)
    stale = claim.source in BOUND_TO_BUILD and claim.build_key != build_key
    states = {
        "other_chat": claim.session not in ("", session),
        "proposed": claim.proposed,
        "withdrawn": claim.id in withdrawn,
        "empty": claim.value is None or source not in SOURCES,
    }
    state = next((name for name, holds in states.items() if holds), COUNTS)
    return OverrideStatus(claim.capability, claim.value, source, state, claim, stale)


def _source(claim: OverrideRow, build_key: str) -> str:
    if claim.session:
        return "session"
    if claim.source == "auto_detected" and claim.build_key != build_key:
        return "auto_detected_stale"
    return claim.source
