"""Computes the effective values of each model from all claims, cached until another claim is added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from django.contrib.auth.models import User

from toolsupport.core import families
from toolsupport.core.families import FamilyProfile
from toolsupport.core.override_ranking import OverrideRow
from toolsupport.core.resolve import resolve
from toolsupport.core.types import Capabilities
from toolsupport.models import ModelProfile, Override
from toolsupport.registry import raw_sql, row_cache

_COLUMNS = (
    *("pk", "seq", "capability", "value", "source", "session", "build_key", "reason", "proposed", "withdraws_id"),
    *("detection_id", "expires_at"),
    *("created_at", "profile_id", "detection__kind", "actor__username", "actor__first_name", "actor__last_name"),
)


def claims(profile_ids: Iterable[int]) -> dict[int, list[OverrideRow]]:
    """Return all claims about these models, oldest first, in one query; a model without claims has an empty list."""
    found: dict[int, list[OverrideRow]] = {profile_id: [] for profile_id in profile_ids}
    # Plain columns: this runs before every answer of a model, and rows of Django cost three times as much.
    for claimed in Override.objects.filter(profile_id__in=list(found)).order_by("seq").values(*_COLUMNS):
        found[claimed["profile_id"]].append(_claim(claimed))
    return found


def _claim(row: dict[str, Any]) -> OverrideRow:
    names = (row["actor__first_name"], row["actor__last_name"])
    return OverrideRow(
        id=row["pk"],
        actor=" ".join(name for name in names if name) or row["actor__username"] or "",
        withdraws=row["withdraws_id"],
        created_at=row["created_at"].isoformat(),
        kind=row["detection__kind"] or "",
        detection=row["detection_id"],
        expires_at=row["expires_at"].isoformat() if row["expires_at"] else "",
        **{name: row[name] for name in ("seq", "capability", "value", "source", "session", "build_key")},
        **{name: row[name] for name in ("reason", "proposed")},
    )


def display_name(person: User | None) -> str:
    """Return a person's name for display; "" for a machine."""
    return (person.get_full_name() or person.get_username()) if person else ""


def fold(profile: ModelProfile, claimed: Sequence[OverrideRow], session: str = "") -> Capabilities:
    """Return the effective values of a model: for everyone, or in one conversation."""
    return resolve(family_of(profile), claimed, profile.build.key, session)


def family_of(profile: ModelProfile) -> FamilyProfile | None:
    """Return the family of a model: the assigned one, else one of the team's, else the shipped one."""
    return _family(profile.name, profile.team_family)


def _family(name: str, facts: dict[str, Any]) -> FamilyProfile | None:
    if not facts:
        return families.find(name)
    if "refuses" not in facts:
        return families.named(facts["name"])
    return FamilyProfile(**facts | {"patterns": (), "sources": ("the team",), "refuses": tuple(facts["refuses"])})


def known(profile: ModelProfile, session: str = "") -> Capabilities:
    """Return the effective values of one model: one small query, as long as no claim was added since the last call."""
    newest = row_cache.rows(OF_ONE, profile.pk)
    if session and newest and newest[0][-1]:
        newest = row_cache.rows(IN_CHAT, session, profile.pk)
    return _known([profile], newest, session)[profile.pk]


def known_of_each(profiles: Sequence[ModelProfile]) -> dict[int, Capabilities]:
    """Return the effective values for everyone, by model id, of models read with their servers: two queries at most."""
    return _known(profiles, raw_sql.rows(OF_ALL, "") if profiles else ())


def holds(profile_id: int, capability: str) -> Any:
    """Return the effective value for everyone, None if it is unknown or there is no such model."""
    profile = ModelProfile.objects.select_related("server").filter(pk=profile_id).first()
    return known(profile)[capability].value if profile else None


# Claims are added and never changed, so any change shows in their number or the newest one. The time counts
# too, since a transaction that is rolled back leaves its ids to the next one.
OF_ALL = """SELECT profile_id, COUNT(*), MAX(id), MAX(created_at), SUM(CASE WHEN session = %s THEN 1 ELSE 0 END)
FROM toolsupport_override GROUP BY profile_id"""
IN_CHAT = OF_ALL.replace("GROUP BY", "WHERE profile_id = %s GROUP BY")
# Most models have no claim for a single chat, and then the cached values are the same in all chats.
OF_ONE = IN_CHAT.replace("session = %s", "session <> ''")
MOST = 5000

# Model and chat ("" for everyone) → the inputs of the fold, and the fold.
_folds: dict[tuple[int, str], tuple[tuple[Any, ...], Capabilities]] = {}


def _known(
    profiles: Sequence[ModelProfile], newest: Iterable[tuple[Any, ...]], session: str = ""
) -> dict[int, Capabilities]:
    stamps = {stamp[0]: stamp for stamp in newest}
    found: dict[int, Capabilities] = {}
    changed: list[tuple[ModelProfile, str, tuple[Any, ...]]] = []
    for profile in profiles:
        stamp = stamps.get(profile.pk, (0,))
        here = session if stamp[-1] else ""
        made_from = (profile.name, orjson.dumps(profile.team_family), profile.build.key, stamp[:-1])
        kept = _folds.get((profile.pk, here))
        if kept is not None and kept[0] == made_from:
            found[profile.pk] = kept[1]
        else:
            changed.append((profile, here, made_from))
    # Read after the stamps: a claim added in between makes them differ at the next call.
    claimed = claims(profile.pk for profile, *_ in changed) if changed else {}
    for profile, here, made_from in changed:
        found[profile.pk] = fold(profile, claimed[profile.pk], here)
        if len(_folds) >= MOST:
            _folds.clear()
        _folds[(profile.pk, here)] = (made_from, found[profile.pk])
    return found
