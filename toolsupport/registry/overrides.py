"""Claims about models: appended, withdrawn, never changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max

from toolsupport.core.claims import Claim
from toolsupport.core.errors import Conflict, NotFound
from toolsupport.core.resolve import explain
from toolsupport.core.sources import STORED
from toolsupport.models import ModelProfile, Override, Standing
from toolsupport.registry import standings


@dataclass(frozen=True, slots=True)
class Decision:
    """A claim to append.

    `actor` is a person's id, None for a machine. `session` is a conversation's id, "" is everyone. `newest` is the
    newest seq of this capability that the maker had seen (0 for none); None where nobody looked at a page before.
    `build_key` is the build it holds for, "" for the one that runs now; `said_at` is set on what was said elsewhere.
    A `proposed` decision waits for a reviewer and changes nothing.
    """

    profile: int
    capability: str
    value: Any = None
    source: str = "user_confirmed"
    actor: int | None = None
    reason: str = ""
    session: str = ""
    newest: int | None = None
    proposed: bool = False
    build_key: str = ""
    said_at: datetime | None = None


@transaction.atomic
def add(decision: Decision) -> int:
    """Append the claim; its seq. Raises Conflict with what stands now where somebody was faster, NotFound."""
    if decision.source not in STORED:
        raise ValueError(f"{decision.source!r} is not a source a row may have")
    if decision.value is None:
        raise ValueError("unknown is not a value: withdraw instead")
    profile = _locked(decision)
    seq = _append(profile, decision)
    standings.refold([profile])
    return seq


@transaction.atomic
def follow_evidence(decision: Decision) -> int:
    """Withdraw every decision of people about this capability, so that the evidence shows again.

    Returns how many were withdrawn. Raises Conflict, NotFound. `value` and `source` of the decision are not read.
    """
    profile = _locked(decision)
    claims = [claim for claim in in_force(profile, decision) if claim.source == "user_confirmed"]
    for claim in claims:
        _append(profile, decision, withdraws=_last_word(claim.id))
    standings.refold([profile])
    return len(claims)


@transaction.atomic
def withdraw(override_id: int, decision: Decision) -> int:
    """Withdraw one claim; the seq of the withdrawal. Raises Conflict where it does not count any more, NotFound."""
    profile = _locked(decision)
    if not profile.overrides.filter(pk=override_id, capability=decision.capability, withdraws=None).exists():
        raise NotFound("There is no such claim about this model.")
    if override_id not in {claim.id for claim in in_force(profile, decision)}:
        raise Conflict("This was withdrawn already.", stands(profile.pk, decision.capability))
    seq = _append(profile, decision, withdraws=_last_word(override_id))
    standings.refold([profile])
    return seq


@transaction.atomic
def declare(profile_id: int, declared: Mapping[str, bool]) -> int:
    """Append what the server declares, only where it differs from what it declared last; how many rows came."""
    profile = ModelProfile.objects.select_related("server").select_for_update().get(pk=profile_id)
    last = dict(
        Override.objects.filter(profile=profile, source="declared", withdraws=None)
        .order_by("seq")
        .values_list("capability", "value")
    )
    changed = {name: value for name, value in declared.items() if last.get(name) is not value}
    for name, value in changed.items():
        _append(profile, Decision(profile_id, name, value, "declared"))
    standings.refold([profile])
    return len(changed)


def in_force(profile: ModelProfile, decision: Decision) -> list[Claim]:
    """The claims about this capability that count, for everyone or in its conversation, the winner first."""
    said = standings.claims([profile.pk])[profile.pk]
    entries = explain(None, said, profile.build.key, decision.session).get(decision.capability, ())
    counting = [entry.claim for entry in entries if entry.standing in ("winner", "beaten") and entry.claim]
    return [claim for claim in counting if claim.session == decision.session]


def newest_seq(profile_id: int, capability: str, session: str = "") -> int:
    """The newest seq about one capability, 0 for none: what a form carries to see whether somebody was faster."""
    rows = Override.objects.filter(profile_id=profile_id, capability=capability, session=session)
    return rows.aggregate(newest=Max("seq"))["newest"] or 0


def stands(profile_id: int, capability: str) -> str:
    """The sentence that says what holds for everyone now."""
    found = Standing.objects.filter(profile_id=profile_id, capability=capability).values_list("reason", flat=True)
    return found.first() or "Nothing is known about this yet."


def _locked(decision: Decision) -> ModelProfile:
    profile = (
        ModelProfile.objects.select_related("server")
        .select_for_update(of=("self",))
        .filter(pk=decision.profile)
        .first()
    )
    if profile is None:
        raise NotFound("There is no such model.")
    newest = newest_seq(profile.pk, decision.capability, decision.session)
    if decision.newest is not None and newest != decision.newest:
        raise _conflict(profile.pk, decision.capability)
    return profile


def _last_word(override_id: int) -> Override:
    """The row to withdraw: the claim, or what restored it, since a row can be withdrawn only once."""
    row = Override.objects.get(pk=override_id)
    while (answer := Override.objects.filter(withdraws=row).first()) is not None:
        row = answer
    return row


def _append(profile: ModelProfile, decision: Decision, withdraws: Override | None = None) -> int:
    seq = (profile.overrides.aggregate(newest=Max("seq"))["newest"] or 0) + 1
    try:
        with transaction.atomic():
            Override.objects.create(
                profile=profile,
                seq=seq,
                capability=decision.capability,
                value=None if withdraws else decision.value,
                source=withdraws.source if withdraws else decision.source,
                session=decision.session,
                build_key=decision.build_key or profile.build.key,
                actor_id=decision.actor,
                reason=decision.reason,
                proposed=decision.proposed and withdraws is None,
                said_at=decision.said_at,
                withdraws=withdraws,
            )
    except IntegrityError:
        # The row lock makes this rare; the constraint is what makes it impossible to lose a decision.
        raise _conflict(profile.pk, decision.capability) from None
    return seq


def _conflict(profile_id: int, capability: str) -> Conflict:
    return Conflict("Somebody else decided this in the meantime.", stands(profile_id, capability))
