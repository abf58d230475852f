"""Claims about models: appended, withdrawn, never changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max

from toolsupport.core.errors import Conflict, NotFound
from toolsupport.core.override_ranking import OverrideRow
from toolsupport.core.override_sources import STORED
from toolsupport.core.resolve import explain
from toolsupport.core.sentences import sentence
from toolsupport.core.types import Capabilities
from toolsupport.models import ModelProfile, Override
from toolsupport.registry.knowledge import effective_values, event_log
from toolsupport.registry.knowledge.event_log import HistoryBundle


@dataclass(frozen=True, slots=True)
class NewOverride:
    """A claim to append.

    `actor` is a person's id, None for a machine. `session` is a conversation's id, "" is everyone. `newest` is the
    newest seq of this capability on the page that was submitted (0 for none); None without a page. `detection` is the
    test of a measured value. `proposed` makes it a proposal, without effect until it is accepted; `accepts` is the
    proposal (an override's id) that this decision accepts. `build_key` is the build it holds for, "" for the running
    one; `said_at` is the time of an imported claim, `expires_at` its end. `bundle` collects the history entries of one
    act on many models.
    """

    profile: int
    capability: str
    value: Any = None
    source: str = "user_confirmed"
    actor: int | None = None
    reason: str = ""
    session: str = ""
    newest: int | None = None
    detection: int | None = None
    proposed: bool = False
    accepts: int | None = None
    build_key: str = ""
    said_at: datetime | None = None
    expires_at: datetime | None = None
    bundle: HistoryBundle | None = None


@transaction.atomic
def add(decision: NewOverride) -> int:
    """Append the claim; return its seq.

    Raises Conflict with the present value if another person was faster, NotFound.
    """
    _check(decision)
    return _append_and_record(_locked(decision), decision)


@transaction.atomic
def add_all(decisions: Sequence[NewOverride], withdraws: Mapping[int, Override] = MappingProxyType({})) -> None:
    """Append claims about different models, or by model (id) withdraw a row, in a few queries. Raises NotFound."""
    for decision in (one for one in decisions if one.profile not in withdraws):
        _check(decision)
    profiles = lock(decision.profile for decision in decisions)
    if len(profiles) < len(decisions):
        raise NotFound("This model does not exist.")
    rows = list(profiles.values())
    before = effective_values.known_of_each(rows)
    newest = dict(Override.objects.filter(profile__in=profiles).values_list("profile").annotate(newest=Max("seq")))
    places = ((one, profiles[one.profile], newest.get(one.profile, 0) + 1) for one in decisions)
    made = [_row(profile, seq, one, withdraws.get(one.profile)) for one, profile, seq in places]
    Override.objects.bulk_create(made, batch_size=200)
    after = effective_values.known_of_each(rows)
    events = zip(decisions, made, strict=True)
    event_log.record_all([_event(one, row, (before[one.profile], after[one.profile])) for one, row in events])


def lock(profile_ids: Iterable[int]) -> dict[int, ModelProfile]:
    """Lock these models, in one order for all who lock several; return them by id, with their servers."""
    rows = ModelProfile.objects.filter(pk__in=list(profile_ids)).select_related("server").order_by("pk")
    return {row.pk: row for row in rows.select_for_update(of=("self",), no_key=True)}


def _check(decision: NewOverride) -> None:
    if decision.source not in STORED:
        raise ValueError(f"{decision.source!r} is not a source a row may have")
    if decision.value is None:
        raise ValueError("unknown is not a value: withdraw the override instead")


@transaction.atomic
def accept(proposal_id: int, actor: int, reason: str = "") -> int:
    """Accept a proposal by a new row; return its seq. Raises NotFound, Conflict if it was accepted already."""
    proposal = _open_proposal(proposal_id)
    return add(
        NewOverride(
            proposal.profile_id,
            proposal.capability,
            proposal.value,
            actor=actor,
            reason=reason or proposal.reason,
            accepts=proposal.pk,
            expires_at=proposal.expires_at,
        )
    )


@transaction.atomic
def reject(proposal_id: int, actor: int, reason: str = "") -> int:
    """Withdraw a proposal by a new row; return its seq. Raises NotFound, Conflict if it was answered already."""
    proposal = _open_proposal(proposal_id)
    decision = NewOverride(proposal.profile_id, proposal.capability, actor=actor, reason=reason)
    return _append_and_record(_locked(decision), decision, withdraws=proposal)


@transaction.atomic
def measure(decision: NewOverride) -> bool:
    """Append a test's measurement; return False if an earlier test of this build found the same.

    Every test has rows of its own, so that undoing one keeps the results of the others. A row that only confirms gets
    no line in the history: the test has one, and the lines of the others stand inside it.
    """
    profile = _locked(decision)
    if not _confirms(profile, decision):
        _append_and_record(profile, decision)
        return True
    _append(profile, decision, None)
    return False


UNDONE = sentence("test_undone")


@transaction.atomic
def withdraw_test(detection: int, actor: int | None) -> int:
    """Withdraw every row of a test that is not withdrawn yet; return how many there were.

    The history gets a line for each changed value, in one bundle, or a single one if none changed.
    """
    # A test also withdraws claims: those of other tests count again, but not those that an undo of it withdrew.
    claims = Override.objects.filter(detection_id=detection).exclude(withdraws__detection_id=detection)
    if (one := claims.first()) is None:
        return 0
    made = NewOverride(one.profile_id, one.capability, actor=actor, reason=UNDONE)
    profile = _locked(made)  # before the rows are read: two people may undo it at once
    last = _last_rows(claims.order_by("seq"))
    rows = [row for row, (_, withdrawn) in last.items() if not withdrawn]
    if not rows:
        return 0
    names = dict.fromkeys(row.capability for row in rows)
    before = effective_values.known(profile)
    for row in rows:
        _append(profile, replace(made, capability=row.capability, session=row.session), last[row][0])
    after = effective_values.known(profile)
    line = event_log.HistoryEvent(
        "withdrawal", profile.pk, source="auto_detected", actor=actor, detection=detection, bundle=HistoryBundle()
    )
    changed = [name for name in names if after[name].value != before[name].value]
    for name in changed:
        values = {"before": before[name].value, "after": after[name].value}
        event_log.record(replace(line, capability=name, text=UNDONE, **values))
    if not changed:
        main = next((row for row in rows if row.capability == "tools"), rows[0])
        in_chats = any(row.session for row in rows)
        text = sentence("unchanged_for_everyone") if in_chats else _why_unchanged(profile, main)
        held = before[main.capability].value
        event_log.record(replace(line, capability=main.capability, before=held, after=held, text=text))
    return len(rows)


def _why_unchanged(profile: ModelProfile, withdrawn: Override) -> str:
    """Return the value that holds in place of a withdrawn row."""
    decisive = next(iter(in_force(profile, NewOverride(profile.pk, withdrawn.capability))), None)
    if decisive is None:
        return sentence("unchanged_profile")
    if decisive.source == "auto_detected":
        return sentence("unchanged_earlier_test" if decisive.seq < withdrawn.seq else "unchanged_later_test")
    return sentence("unchanged_person" if decisive.source == "user_confirmed" else "unchanged_server")


def _confirms(profile: ModelProfile, measured: NewOverride) -> bool:
    """Return whether the newest test of this build that counts found the same value."""
    this_build = ("auto_detected", profile.build.key)
    tests = (claim for claim in in_force(profile, measured) if (claim.source, claim.build_key) == this_build)
    last = next(tests, None)
    # True == 1 in Python.
    return last is not None and (type(last.value), last.value) == (type(measured.value), measured.value)


@transaction.atomic
def follow_evidence(decision: NewOverride) -> int:
    """Withdraw every decision of people about this capability, so that the evidence counts again.

    Returns how many were withdrawn. Raises Conflict, NotFound. `value` and `source` of the decision are ignored.
    """
    profile = _locked(decision)
    claims = [claim for claim in in_force(profile, decision) if claim.source == "user_confirmed"]
    for claim in claims:
        _append_and_record(profile, decision, withdraws=_last_word(claim.id))
    return len(claims)


@transaction.atomic
def withdraw(override_id: int, decision: NewOverride) -> int:
    """Withdraw one claim; return the seq of the withdrawal. Raises Conflict if it no longer counts, NotFound."""
    profile = _locked(decision)
    if not profile.overrides.filter(pk=override_id, capability=decision.capability, withdraws=None).exists():
        raise NotFound("This entry does not belong to this model.")
    if override_id not in {claim.id for claim in in_force(profile, decision)}:
        raise Conflict("This was already withdrawn.", stands(profile.pk, decision.capability))
    return _append_and_record(profile, decision, withdraws=_last_word(override_id))


@transaction.atomic
def undo(decision: NewOverride, rows: int) -> None:
    """Withdraw the newest rows about this capability, as many as one act made: claims, or withdrawals of them.

    `newest` of the decision is the last of them: Conflict if another row followed. Raises NotFound.
    """
    profile = _locked(decision)
    mine = profile.overrides.filter(capability=decision.capability, session=decision.session).order_by("-seq")
    for row in mine.filter(source="user_confirmed", withdrawn_by=None)[:rows]:
        _append_and_record(profile, decision, withdraws=row)


@transaction.atomic
def restore(withdrawn: Sequence[int], decision: NewOverride) -> None:
    """Revert the withdrawal of these claims about one model, as one bundle. Raises Conflict if none is withdrawn.

    The capability of the decision is ignored.
    """
    profile = _locked(decision)
    bundle = decision.bundle or HistoryBundle()
    for claim, (last, gone) in _last_rows(profile.overrides.filter(pk__in=withdrawn).order_by("seq")).items():
        if gone:
            again = replace(decision, capability=claim.capability, session=claim.session, bundle=bundle)
            _append_and_record(profile, again, withdraws=last)
    if bundle.lead is None:
        raise Conflict("This value already applies.", stands(profile.pk, decision.capability))


@transaction.atomic
def declare(profile_id: int, declared: Mapping[str, bool], bundle: HistoryBundle | None = None) -> int:
    """Append the server's claims that differ from its last ones; return the number of new rows."""
    profile = ModelProfile.objects.select_related("server").select_for_update().get(pk=profile_id)
    last = dict(
        Override.objects.filter(profile=profile, source="declared", withdraws=None)
        .order_by("seq")
        .values_list("capability", "value")
    )
    changed = {name: value for name, value in declared.items() if last.get(name) is not value}
    for name, value in changed.items():
        _append_and_record(profile, NewOverride(profile_id, name, value, "declared", bundle=bundle))
    return len(changed)


def in_force(profile: ModelProfile, decision: NewOverride) -> list[OverrideRow]:
    """Return the claims about this capability that count, for everyone or in its chat; the first one is effective."""
    existing = effective_values.claims([profile.pk])[profile.pk]
    entries = explain(None, existing, profile.build.key, decision.session).get(decision.capability, ())
    counting = [entry.claim for entry in entries if entry.counts and entry.claim]
    return [claim for claim in counting if claim.session == decision.session]


def tested(profile: ModelProfile, capability: str) -> bool:
    """Return whether a test of the present build has measured this, also where a person's decision overrides it."""
    claims = in_force(profile, NewOverride(profile.pk, capability))
    return any((claim.source, claim.build_key) == ("auto_detected", profile.build.key) for claim in claims)


def newest_seq(profile_id: int, capability: str, session: str = "") -> int:
    """Return the newest seq of one capability, 0 for none; a form carries it to detect concurrent changes."""
    rows = Override.objects.filter(profile_id=profile_id, capability=capability, session=session)
    return rows.aggregate(newest=Max("seq"))["newest"] or 0


def stands(profile_id: int, capability: str) -> str:
    """Return the sentence about the effective value for everyone."""
    profile = ModelProfile.objects.select_related("server").get(pk=profile_id)
    return effective_values.known(profile)[capability].reason


def _open_proposal(proposal_id: int) -> Override:
    """Return an open proposal; its model is locked, so that it is answered only once."""
    proposal = Override.objects.filter(pk=proposal_id, proposed=True).first()
    if proposal is None:
        raise NotFound("This proposal does not exist.")
    _locked(NewOverride(proposal.profile_id, proposal.capability))
    for answers, word in (("accepts", "accepted"), ("withdraws", "rejected")):
        if Override.objects.filter(**{answers: proposal}).exists():
            raise Conflict(f"This was already {word}.", stands(proposal.profile_id, proposal.capability))
    return proposal


def _locked(decision: NewOverride) -> ModelProfile:
    profile = (
        ModelProfile.objects.select_related("server")
        .select_for_update(of=("self",))
        .filter(pk=decision.profile)
        .first()
    )
    if profile is None:
        raise NotFound("This model does not exist.")
    if decision.newest is None:
        return profile
    if newest_seq(profile.pk, decision.capability, decision.session) != decision.newest:
        raise _conflict(profile.pk, decision.capability)
    return profile


def _last_word(override_id: int) -> Override:
    """Return the row to withdraw: the claim, or the row that restored it, since a row can be withdrawn only once."""
    row = Override.objects.get(pk=override_id)
    while (answer := Override.objects.filter(withdraws=row).first()) is not None:
        row = answer
    return row


def _last_rows(claims: Iterable[Override]) -> dict[Override, tuple[Override, bool]]:
    """Return for each claim the last row about it, and whether that leaves it withdrawn: withdrawn, restored …"""
    found = {claim: (claim, False) for claim in claims}
    while True:
        about = {last.pk: claim for claim, (last, _) in found.items()}
        answers = list(Override.objects.filter(withdraws__in=about))
        if not answers:
            return found
        for answer in answers:
            claim = about[answer.withdraws_id or 0]
            found[claim] = (answer, not found[claim][1])


def _append_and_record(profile: ModelProfile, decision: NewOverride, withdraws: Override | None = None) -> int:
    """Append a row and its line in the history; return its seq."""
    before = effective_values.fold(profile, effective_values.claims([profile.pk])[profile.pk])
    row = _append(profile, decision, withdraws)
    event_log.record(_event(decision, row, (before, effective_values.known(profile))))
    return row.seq


def _event(decision: NewOverride, row: Override, known: tuple[Capabilities, Capabilities]) -> event_log.HistoryEvent:
    """Return the line of a row in the history; `known` are the effective values before and after it."""
    before, after = (values[decision.capability].value for values in known)
    return event_log.HistoryEvent(
        "withdrawal" if row.withdraws_id else "proposal" if decision.proposed else "override",
        row.profile_id,
        decision.capability,
        before,
        decision.value if decision.proposed else after,
        source=row.source,
        actor=decision.actor,
        text=decision.reason,
        override=row.pk,
        detection=decision.detection,
        bundle=decision.bundle,
        finding=decision.detection is not None,
        server=row.profile.server_id,
    )


def _append(profile: ModelProfile, decision: NewOverride, withdraws: Override | None) -> Override:
    seq = (profile.overrides.aggregate(newest=Max("seq"))["newest"] or 0) + 1
    try:
        with transaction.atomic():
            row = _row(profile, seq, decision, withdraws)
            row.save(force_insert=True)
            return row
    except IntegrityError:
        # The row lock makes this rare; the constraint makes it impossible to lose a decision.
        raise _conflict(profile.pk, decision.capability) from None


def _row(profile: ModelProfile, seq: int, decision: NewOverride, withdraws: Override | None = None) -> Override:
    return Override(
        profile=profile,
        seq=seq,
        capability=decision.capability,
        value=None if withdraws else decision.value,
        source=withdraws.source if withdraws else decision.source,
        session=decision.session,
        build_key=decision.build_key or profile.build.key,
        actor_id=decision.actor,
        reason=decision.reason,
        said_at=decision.said_at,
        expires_at=decision.expires_at,
        detection_id=decision.detection,
        proposed=decision.proposed,
        accepts_id=decision.accepts,
        withdraws=withdraws,
    )


def _conflict(profile_id: int, capability: str) -> Conflict:
    return Conflict("Another person changed this in the meantime.", stands(profile_id, capability))
