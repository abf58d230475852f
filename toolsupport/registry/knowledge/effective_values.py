"""The effective values of a model, computed from its overrides and stored for pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import orjson
from django.contrib.auth.models import User
from django.db import transaction

from toolsupport.core import families
from toolsupport.core.families import Family
from toolsupport.core.overrides import OverrideRow
from toolsupport.core.resolve import resolve
from toolsupport.core.types import Capabilities, Capability
from toolsupport.models import ModelProfile, Override, Standing
from toolsupport.registry import raw_sql

_COLUMNS = (
    *("pk", "seq", "capability", "value", "source", "session", "build_key", "reason", "proposed", "withdraws_id"),
    *("created_at", "profile_id", "actor__username", "actor__first_name", "actor__last_name"),
)


def claims(profile_ids: Iterable[int]) -> dict[int, list[OverrideRow]]:
    """All claims about these models, oldest first, in one query; a model nobody spoke of has an empty list."""
    found: dict[int, list[OverrideRow]] = {profile_id: [] for profile_id in profile_ids}
    # Plain columns: this runs before every answer of a model, and rows of Django cost three times as much.
    for said in Override.objects.filter(profile_id__in=list(found)).order_by("seq").values(*_COLUMNS):
        found[said["profile_id"]].append(_claim(said))
    return found


def _claim(row: dict[str, Any]) -> OverrideRow:
    names = (row["actor__first_name"], row["actor__last_name"])
    return OverrideRow(
        id=row["pk"],
        actor=" ".join(name for name in names if name) or row["actor__username"] or "",
        withdraws=row["withdraws_id"],
        created_at=row["created_at"].isoformat(),
        **{name: row[name] for name in ("seq", "capability", "value", "source", "session", "build_key")},
        **{name: row[name] for name in ("reason", "proposed")},
    )


def display_name(person: User | None) -> str:
    """What people call somebody; "" for a machine."""
    return (person.get_full_name() or person.get_username()) if person else ""


def fold(profile: ModelProfile, said: Sequence[OverrideRow], session: str = "") -> Capabilities:
    """What holds for a model: for everyone, or in one conversation."""
    return resolve(family_of(profile), said, profile.build.key, session)


def family_of(profile: ModelProfile) -> Family | None:
    """The family a model belongs to: the one it was given to, else one of the team's, else the shipped one."""
    return _family(profile.name, profile.team_family)


def _family(name: str, facts: dict[str, Any]) -> Family | None:
    if not facts:
        return families.find(name)
    if "refuses" not in facts:
        return families.named(facts["name"])
    return Family(**facts | {"patterns": (), "sources": ("the team",), "refuses": tuple(facts["refuses"])})


def known(profile: ModelProfile, session: str = "") -> Capabilities:
    """What holds for one model now: one small query, as long as nobody spoke of the model since the last time."""
    newest = raw_sql.row(NEWEST, session, profile.pk) or ()
    here = session if newest[-1] else ""
    facts = orjson.dumps(profile.team_family)
    return _known(profile.pk, (profile.name, facts, profile.build.key), here, newest)


# Claims are added and never changed: a newer one, or one more, is how they differ from what they were.
NEWEST = """SELECT COUNT(*), MAX(id), MAX(created_at), SUM(CASE WHEN session = %s THEN 1 ELSE 0 END)
FROM toolsupport_override WHERE profile_id = %s"""


@lru_cache(maxsize=1000)
def _known(profile_id: int, model: tuple[str, bytes, str], session: str, newest: tuple[Any, ...]) -> Capabilities:
    name, facts, build_key = model
    return resolve(_family(name, orjson.loads(facts)), claims([profile_id])[profile_id], build_key, session)


@transaction.atomic
def refold(profiles: Sequence[ModelProfile]) -> None:
    """Bring the standings of these models in line with their claims; what already agrees is not written again."""
    by_id = {profile.pk: profile for profile in profiles}
    said = claims(by_id)
    stored = {(row.profile_id, row.capability): row for row in Standing.objects.filter(profile_id__in=list(by_id))}
    fresh: list[Standing] = []
    changed: list[Standing] = []
    for profile in profiles:
        for name, capability in fold(profile, said[profile.pk]).values.items():
            row = stored.pop((profile.pk, name), None)
            if row is None:
                fresh.append(_apply(Standing(profile=profile, capability=name), capability))
            elif not _agrees(row, capability):
                changed.append(_apply(row, capability))
    Standing.objects.filter(pk__in=[row.pk for row in stored.values()]).delete()
    Standing.objects.bulk_create(fresh, batch_size=500)
    Standing.objects.bulk_update(changed, FOLDED, batch_size=100)


FOLDED = ("value", "source", "since", "reason", "stale", "override")


def read(row: Standing) -> Capability:
    """A standing as the rest of the house speaks of it."""
    return Capability(row.capability, row.value, row.source, row.reason, row.since, row.override_id, row.stale)


def _agrees(row: Standing, capability: Capability) -> bool:
    # True == 1 in Python, so the type of the value is compared as well.
    return read(row) == capability and type(row.value) is type(capability.value)


def _apply(row: Standing, capability: Capability) -> Standing:
    row.value, row.source, row.since = capability.value, capability.source, capability.since
    row.reason, row.stale, row.override_id = capability.reason, capability.stale, capability.override
    return row
