"""Stores reviewers' opinions of decisions and tests: a note and a mark, never a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from django.db import transaction
from django.db.models import Q, QuerySet

from toolsupport.core.errors import Conflict, NotFound
from toolsupport.models import HistoryEntry, HistoryFacet, Override, Review
from toolsupport.registry.knowledge import effective_values, event_log, overrides
from toolsupport.registry.knowledge.event_log import HistoryBundle
from toolsupport.registry.knowledge.overrides import NewOverride

# Verdicts of entries that need a review, and what settles them: a later agreement or decision of a person.
DISAGREES, AGREES, CONTRADICTED = "disagree", "agree", "contradicted"
FLAGS = (DISAGREES, CONTRADICTED)
DECISIONS = ("override", "withdrawal")


@dataclass(frozen=True, slots=True)
class NewReview:
    """A reviewer's action on an entry, with a note."""

    entry: int
    reviewer: int
    note: str = ""


@transaction.atomic
def act(deed: str, judgement: NewReview) -> None:
    """Do one of DEEDS. Raises NotFound, Conflict (it was done already), ValueError with a message for people."""
    if deed not in DEEDS:
        raise ValueError(f"Choose one of {', '.join(DEEDS)}.")
    entry = HistoryEntry.objects.select_related("override").filter(pk=judgement.entry).first()
    if entry is None:
        raise NotFound("There is no such entry.")
    DEEDS[deed](entry, judgement)


def needing(profile_ids: Iterable[int] | None = None) -> frozenset[int]:
    """Return the models that need review: an open proposal, or an unanswered flag."""
    open_ones, flagged = _open_proposals(), _flagged()
    found = set(open_ones.values_list("profile_id", flat=True)) | flagged.keys()
    return frozenset(found if profile_ids is None else found & set(profile_ids))


def to_review(most: int) -> list[int]:
    """The entries (ids) that wait for a reviewer, the newest first: open proposals, and unanswered objections."""
    # Two queries: joined, they would read every proposal there ever was.
    waiting = list(_open_proposals().order_by("-pk").values_list("pk", flat=True)[:most])
    proposals = HistoryEntry.objects.filter(override__in=waiting, kind="proposal")
    found = {*proposals.values_list("pk", flat=True), *_flagged().values()}
    return sorted(found, reverse=True)[:most]


def _open_proposals() -> QuerySet[Override]:
    return Override.objects.filter(proposed=True, accepted_by=None, withdrawn_by=None)


def _flagged() -> dict[int, int]:
    """Return the models with an unanswered flag, each with the entry of its newest one."""
    facets = list(HistoryFacet.objects.filter(verdict__in=FLAGS).values_list("pk", flat=True))
    # No GROUP BY: it would make the database read the whole index of the models.
    rows = HistoryEntry.objects.filter(facet__in=facets).order_by().values_list("profile", "pk")
    newest: dict[int, int] = {}
    for profile, entry in rows:
        newest[profile] = max(entry, newest.get(profile, 0))
    return {profile: entry for profile, entry in newest.items() if not _answered(profile, entry)}


def contradicted(profile: int, override: int) -> bool:
    """Return whether it is recorded already that a server's refusal contradicts this claim."""
    rows = HistoryEntry.objects.filter(profile_id=profile, facet__verdict=CONTRADICTED, override_id=override)
    return rows.exists()


def _answered(profile: int, flag: int) -> bool:
    decided = Q(facet__kind__in=DECISIONS, actor__isnull=False) | Q(facet__kind="review", facet__verdict=AGREES)
    return HistoryEntry.objects.filter(decided, profile_id=profile, pk__gt=flag).exists()


def _judge(decision: str) -> Callable[[HistoryEntry, NewReview], None]:
    def judge(entry: HistoryEntry, judgement: NewReview) -> None:
        if entry.kind not in ("override", "detection"):
            raise ValueError("Only a decision or a test can be agreed or disagreed with.")
        if decision == DISAGREES and not judgement.note:
            raise ValueError("Say in a note what is wrong: others will look at it.")
        about = {"override": entry.override} if entry.kind == "override" else {"detection": entry.detection}
        row = Review.objects.create(**about, reviewer_id=judgement.reviewer, decision=decision, note=judgement.note)
        now = effective_values.holds(entry.profile_id, entry.capability)
        event = event_log.HistoryEvent(
            "review",
            entry.profile_id,
            entry.capability,
            now,
            now,
            verdict=decision,
            actor=judgement.reviewer,
            text=judgement.note,
            review=row.pk,
        )
        event_log.record(event)

    return judge


def _revert(entry: HistoryEntry, judgement: NewReview) -> None:
    claim = _claim(entry, "override")
    decision = NewOverride(
        entry.profile_id, claim.capability, actor=judgement.reviewer, reason=judgement.note, session=claim.session
    )
    overrides.withdraw(claim.pk, decision)


def _undo(entry: HistoryEntry, judgement: NewReview) -> None:
    """Withdraw every decision of a person in a bundle that still counts, as one bundle again."""
    decided = Override.objects.filter(pk__in=_of_bundle(entry), source="user_confirmed", proposed=False)
    rows = decided.filter(withdrawn_by=None, withdraws=None)
    bundle = HistoryBundle()
    for claim in rows.order_by("pk"):
        decision = NewOverride(
            claim.profile_id, claim.capability, actor=judgement.reviewer, reason=judgement.note, bundle=bundle
        )
        overrides.withdraw(claim.pk, decision)
    if bundle.lead is None:
        raise Conflict("All of this was withdrawn already.", entry.text)


def _of_bundle(entry: HistoryEntry) -> QuerySet[HistoryEntry, int | None]:
    return HistoryEntry.objects.filter(Q(pk=entry.pk) | Q(lead=entry), kind="override").values_list(
        "override", flat=True
    )


def _accept(entry: HistoryEntry, judgement: NewReview) -> None:
    overrides.accept(_claim(entry, "proposal").pk, judgement.reviewer, judgement.note)


def _reject(entry: HistoryEntry, judgement: NewReview) -> None:
    overrides.reject(_claim(entry, "proposal").pk, judgement.reviewer, judgement.note)


def _claim(entry: HistoryEntry, kind: str) -> Override:
    if entry.kind != kind or entry.override is None:
        raise Conflict("This entry is nothing that can be done that with.", entry.text)
    return entry.override


# What a button of the history does.
DEEDS: Mapping[str, Callable[[HistoryEntry, NewReview], None]] = MappingProxyType(
    {
        AGREES: _judge(AGREES),
        DISAGREES: _judge(DISAGREES),
        "revert": _revert,
        "accept": _accept,
        "reject": _reject,
        "undo": _undo,
    }
)
