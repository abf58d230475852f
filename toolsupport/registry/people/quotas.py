"""Reads and sets quotas of roles, people and keys.

A person has the quota set for them, else that of their highest role, else that of the environment, for each value by
itself. It counts chats and the requests with all of their keys. A key may have one of its own besides.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from django.contrib.auth.models import User

from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.core.quota_rules import FIELDS, KEY, LARGEST, PERSON, ROLE, Quota
from toolsupport.core.row_ids import row_number
from toolsupport.models import ApiKey, QuotaLimit
from toolsupport.registry import row_cache
from toolsupport.registry.people import permissions

FRESH = 2.0  # seconds after which a quota set in another process counts here; requests read no quotas
VARIABLES = tuple(f"TOOLSUPPORT_QUOTA_{name.upper()}" for name in FIELDS)
Subject = tuple[str, str]  # kind and name or id


class QuotaTable:
    """All quotas, as this process read them last."""

    def __init__(self) -> None:
        self._rows: Mapping[Subject, Quota] = {}
        self._read = -math.inf

    def rows(self, fresh: float = FRESH) -> Mapping[Subject, Quota]:
        """Return the quotas by (kind, subject), as they were at most `fresh` seconds ago."""
        if time.monotonic() >= self._read + fresh:
            self._rows = row_cache.read(_stored)
            self._read = time.monotonic()
        return self._rows

    def forget(self) -> None:
        """Read them again at the next use."""
        self._read = -math.inf


def _stored() -> Mapping[Subject, Quota]:
    return {(row.kind, row.subject): _quota(row) for row in QuotaLimit.objects.all()}


table = QuotaTable()


@dataclass(frozen=True, slots=True)
class QuotaHolder:
    """A person or a key whose use is limited."""

    kind: str
    id: int
    quota: Quota


def limited(person_id: int, key_id: int = 0) -> tuple[QuotaHolder, ...]:
    """Return the limited holders of a request of this person; without any quota nothing is read."""
    if not table.rows() and not of_environment().limits:
        return ()
    found = (QuotaHolder(PERSON, person_id, of_person(person_id)),)
    return tuple(subject for subject in found if subject.quota.limits) + of_key(key_id)


def of_key(key_id: int) -> tuple[QuotaHolder, ...]:
    """Return a key as the subject of its own quota, if it has one."""
    quota = table.rows().get((KEY, str(key_id)), Quota())
    return (QuotaHolder(KEY, key_id, quota),) if quota.limits else ()


def of_person(person_id: int) -> Quota:
    """Return the effective quota of a person; their role is read only if a role has one."""
    rows = table.rows()
    return combined(rows, str(person_id), role_of(person_id) if any(kind == ROLE for kind, _ in rows) else "")


def combined(rows: Mapping[Subject, Quota], person: str, role: str) -> Quota:
    """Return the effective quota of a person with this role."""
    own, of_role = rows.get((PERSON, person), Quota()), rows.get((ROLE, role), Quota())
    return own.over(of_role).over(of_environment())


def of_environment() -> Quota:
    """Return the quota of people for whom nothing else is set."""
    return _quota_of(tuple(map(settings.ENV.__getitem__, VARIABLES)))


@lru_cache(maxsize=4)
def _quota_of(values: tuple[int | None, ...]) -> Quota:
    return Quota(*values)


def put(kind: str, subject: str, quota: Quota) -> None:
    """Set a quota; an empty one is removed. Raises NotFound (the subject), ConfigError (a value)."""
    if not _exists(kind, subject):
        raise NotFound("There is no such role, person or key.")
    values = {name: getattr(quota, name) for name in FIELDS}
    if any(value is not None and not 0 <= value <= LARGEST for value in values.values()):
        raise ConfigError(f"A quota is a whole number from 0 to {LARGEST:,}.")
    if quota == Quota():
        QuotaLimit.objects.filter(kind=kind, subject=subject).delete()
    else:
        QuotaLimit.objects.update_or_create(kind=kind, subject=subject, defaults=values)
    table.forget()


def _exists(kind: str, subject: str) -> bool:
    if kind == ROLE:
        return subject in permissions.ROLES
    if str(row_number(subject)) != subject:
        return False
    rows = {PERSON: User.objects.all(), KEY: ApiKey.objects.filter(revoked_at=None)}.get(kind)
    return rows is not None and rows.filter(pk=row_number(subject)).exists()


def role_of(person_id: int) -> str:
    """Return the highest role of a person, "" without one."""
    return roles_of([person_id]).get(person_id, "")


def roles_of(people: Iterable[int]) -> Mapping[int, str]:
    """Return the highest role of each of these people, in one query."""
    names: defaultdict[int, set[str]] = defaultdict(set)
    rows = User.objects.filter(pk__in=people).values_list("pk", "is_superuser", "groups__name")
    for person, is_superuser, name in rows:
        names[person].add("admin" if is_superuser else name)
    ranked = tuple(reversed(permissions.ROLES))
    return {person: next((name for name in ranked if name in held), "") for person, held in names.items()}


def _quota(row: QuotaLimit) -> Quota:
    return Quota(**{name: getattr(row, name) for name in FIELDS})
