"""Stores reviewers' opinions of decisions and tests: a note and a mark, never a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from toolsupport.core.errors import Conflict, NotFound
from toolsupport.core.sentences import sentence
from toolsupport.models import HistoryEntry, HistoryFacet, ModelProfile, Override, Review
from toolsupport.registry import write_steps
from toolsupport.registry.knowledge import effective_values, event_log, overrides
from toolsupport.registry.knowledge.event_log import HistoryBundle
from toolsupport.registry.knowledge.overrides import NewOverride

# Verdicts of entries that need a review, and those that settle it: a later agreement or decision of a person.
DISAGREES, AGREES, CONTRADICTED = "disagree", "agree", "contradicted"
REOPENED = "reopened"  # an agreement that was withdrawn
UNDO = "undo"
FLAGS = (DISAGREES, CONTRADICTED)
NO_REASON = "Give a reason for other people to read."
RESTORED = sentence("undo_reverted")
DECISIONS = ("override", "withdrawal")
# A measurement has the name of the person who started the test, but is not that person's decision.
MEASURED = "auto_detected"
DECIDED = Q(facet__kind__in=DECISIONS, actor__isnull=False) & ~Q(facet__kind="override", facet__source=MEASURED)
JUDGED = ("override", "detection")


@dataclass(frozen=True, slots=True)
class NewReview:
    """A reviewer's action on an entry, with a note."""

    entry: int
    reviewer: int
    note: str = ""


def act(deed: str, judgement: NewReview) -> None:
    """Do one of DEEDS. Raises NotFound, Conflict (it was done already), ValueError with a message for people."""
    if deed not in DEEDS:
        raise ValueError(f"Choose one of {', '.join(DEEDS)}.")
    entry = HistoryEntry.objects.select_related("override").filter(pk=judgement.entry).first()
    if entry is None:
        raise NotFound("This entry does not exist.")
    if deed == UNDO:  # of thousands of models, in steps
        return _undo(entry, judgement)
    with transaction.atomic():
        return DEEDS[deed](entry, judgement)


@transaction.atomic
def judge_all(decision: str, entries: Iterable[int], reviewer: int) -> int:
    """Agree with these entries, or take the agreement back (REOPENED); return how many there were.

    Tests and decisions take the same few queries however many there are; a proposal is answered on its own, and one
    that was answered meanwhile is left out.
    """
    rows = list(HistoryEntry.objects.select_related("override").filter(pk__in=entries).order_by("pk"))
    plain = [row for row in rows if row.kind in JUDGED]
    made = [Review(**_about(row), reviewer_id=reviewer, decision=decision) for row in plain]
    Review.objects.bulk_create(made, batch_size=100)
    profiles = ModelProfile.objects.select_related("server").filter(pk__in={row.profile_id for row in plain})
    known = effective_values.known_of_each(list(profiles))
    events = [
        _event(row, known[row.profile_id][row.capability].value, review)
        for row, review in zip(plain, made, strict=True)
    ]
    event_log.record_all(events)
    return len(plain) + sum(_answer(row, decision, reviewer) for row in rows if row.kind == "proposal")


def _answer(proposal: HistoryEntry, decision: str, reviewer: int) -> bool:
    try:
        DEEDS[decision](proposal, NewReview(proposal.pk, reviewer))
    except Conflict:
        return False
    return True


def needing(profile_ids: Iterable[int] | None = None) -> frozenset[int]:
    """Return the models that need review: an open proposal, or an unanswered flag."""
    found = {*open_proposals().values_list("profile_id", flat=True), *flags_waiting().values_list("profile", flat=True)}
    return frozenset(found if profile_ids is None else found & set(profile_ids))


def decides(entry: HistoryEntry) -> bool:
    """Return whether an entry is the decision of a person, as DECIDED selects them."""
    measured = (entry.kind, entry.source) == ("override", MEASURED)
    return entry.kind in DECISIONS and entry.actor_id is not None and not measured


def open_proposals() -> QuerySet[Override]:
    """Return the proposals without an answer."""
    return Override.objects.filter(proposed=True, accepted_by=None, withdrawn_by=None)


def flags_waiting() -> QuerySet[HistoryEntry]:
    """Return the flags that no later decision of a person has answered, nor an agreement that was not withdrawn."""
    facets = HistoryFacet.objects.filter(verdict__in=FLAGS).values("pk")
    later = HistoryEntry.objects.filter(profile=OuterRef("profile"), pk__gt=OuterRef("pk"))
    decided = later.filter(DECIDED)
    opinions = later.filter(facet__kind="review", facet__verdict__in=(AGREES, REOPENED))
    last = Coalesce(Subquery(opinions.order_by("-pk").values("verdict")[:1]), Value(""))
    # No GROUP BY: it would make the database read the whole index of the models.
    rows = HistoryEntry.objects.filter(~Exists(decided), facet__in=facets).order_by()
    return rows.alias(last=last).exclude(last=AGREES)


def contradicted(profile: int, override: int) -> bool:
    """Return whether it is recorded already that a server's refusal contradicts this claim."""
    rows = HistoryEntry.objects.filter(profile_id=profile, facet__verdict=CONTRADICTED, override_id=override)
    return rows.exists()


def _judge(decision: str) -> Callable[[HistoryEntry, NewReview], None]:
    def judge(entry: HistoryEntry, judgement: NewReview) -> None:
        if entry.kind not in JUDGED:
            raise ValueError("Only an override or a test can be reviewed.")
        row = Review(**_about(entry), reviewer_id=judgement.reviewer, decision=decision, note=judgement.note)
        row.save()
        now = effective_values.holds(entry.profile_id, entry.capability)
        event_log.record(_event(entry, now, row))

    return judge


def _about(entry: HistoryEntry) -> dict[str, Any]:
    return {"override": entry.override} if entry.kind == "override" else {"detection_id": entry.detection_id}


def _event(entry: HistoryEntry, now: Any, review: Review) -> event_log.HistoryEvent:
    """The line about a review: it changes no value."""
    return event_log.HistoryEvent(
        "review",
        entry.profile_id,
        entry.capability,
        now,
        now,
        verdict=review.decision,
        actor=review.reviewer_id,
        text=review.note,
        review=review.pk,
    )


def _agree(entry: HistoryEntry, judgement: NewReview) -> None:
    """Accept a proposal, or note the agreement with a change."""
    (_accept if entry.kind == "proposal" else _judge(AGREES))(entry, judgement)


def _disagree(entry: HistoryEntry, judgement: NewReview) -> None:
    """Reject a proposal, or note the disagreement with a change; both with a reason."""
    if not judgement.note:
        raise ValueError(NO_REASON)
    (_reject if entry.kind == "proposal" else _judge(DISAGREES))(entry, judgement)


def _revert(entry: HistoryEntry, judgement: NewReview) -> None:
    """Withdraw a decision, or every value that a test measured."""
    if entry.kind != "detection":
        claim = _claim(entry, "override")
        overrides.withdraw(claim.pk, _decision(claim, judgement))
    elif not overrides.withdraw_test(entry.detection_id or 0, judgement.reviewer):
        raise Conflict("This was already withdrawn.", entry.text)


def _restore(entry: HistoryEntry, judgement: NewReview) -> None:
    """Undo a revert, or the withdrawal of an accepted proposal: the withdrawn values count again."""
    if entry.kind != "detection":
        claim = _accepted(entry) if entry.kind == "proposal" else _claim(entry, "override")
        overrides.restore([claim.pk], _decision(claim, judgement))
        return
    rows = Override.objects.filter(detection=entry.detection_id).values_list("pk", flat=True)
    overrides.restore([*rows], NewOverride(entry.profile_id, "tools", actor=judgement.reviewer, reason=RESTORED))
    _judge(REOPENED)(entry, judgement)


def _reopen(entry: HistoryEntry, judgement: NewReview) -> None:
    """Undo an agreement: the change waits again; the value of an accepted proposal is withdrawn."""
    if entry.kind != "proposal":
        return _judge(REOPENED)(entry, judgement)
    accepted = _accepted(entry)
    overrides.withdraw(accepted.pk, _decision(accepted, judgement))
    return None


def _accepted(entry: HistoryEntry) -> Override:
    """Return the override that accepted a proposal."""
    accepted = Override.objects.filter(accepts=_claim(entry, "proposal")).first()
    if accepted is None:
        raise Conflict("This was not accepted.", entry.text)
    return accepted


def _decision(claim: Override, judgement: NewReview) -> NewOverride:
    return NewOverride(
        claim.profile_id, claim.capability, actor=judgement.reviewer, reason=judgement.note, session=claim.session
    )


def _undo(entry: HistoryEntry, judgement: NewReview) -> None:
    """Withdraw every decision of a person in a bundle that still counts, as one bundle again."""
    decided = Override.objects.filter(pk__in=_of_bundle(entry), source="user_confirmed", proposed=False, withdraws=None)
    made = NewOverride(0, entry.capability, actor=judgement.reviewer, reason=judgement.note, bundle=HistoryBundle())

    @transaction.atomic
    def withdraw(claims: Sequence[Override]) -> None:
        overrides.lock(claim.profile_id for claim in claims)
        # Read again under the lock: two people may undo it at once.
        still = {one.profile_id: one for one in decided.filter(pk__in=[one.pk for one in claims], withdrawn_by=None)}
        overrides.add_all([replace(made, profile=profile) for profile in still], still)

    for _ in write_steps.of_each(list(decided.filter(withdrawn_by=None).order_by("pk")), withdraw):
        pass
    if made.bundle is None or made.bundle.lead is None:
        raise Conflict("All of this was already withdrawn.", entry.text)


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
        raise Conflict("This action does not fit this entry.", entry.text)
    return entry.override


# Button of the history → its function.
DEEDS: Mapping[str, Callable[[HistoryEntry, NewReview], None]] = MappingProxyType(
    {
        AGREES: _agree,
        DISAGREES: _disagree,
        "revert": _revert,
        "restore": _restore,
        REOPENED: _reopen,
        "accept": _accept,
        "reject": _reject,
        UNDO: _undo,
    }
)
