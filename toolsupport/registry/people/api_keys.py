"""Manages the API keys of programs: created, shown once, recognised, revoked."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from toolsupport.core import name_checks
from toolsupport.core.errors import Busy, ConfigError, NotFound
from toolsupport.core.quota_rules import KEY, Quota, QuotaShare
from toolsupport.models import ApiKey
from toolsupport.registry import raw_sql
from toolsupport.registry.people import quota_use, quotas
from toolsupport.registry.people.permissions import SCOPES

PREFIX = "tsk-"
SHOWN = 10  # characters of a key by which people recognise it
MOST = 50  # keys in force of one person
LONGEST_NAME = 80
NO_QUOTA = Quota()
SELDOM = timedelta(minutes=1)  # precision of the time of the last use


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """The owner of a key and its scopes."""

    key: int
    person: User
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownKey:
    """A key as a list shows it."""

    id: int
    name: str
    prefix: str
    created_at: datetime
    used_at: datetime | None
    expires_at: datetime | None
    scopes: tuple[str, ...]
    shares: tuple[QuotaShare, ...]


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """The limits of a new key: its scopes (all if empty), its expiry, and its own quota."""

    scopes: Collection[str] = ()
    expires: datetime | None = None
    quota: Quota = NO_QUOTA


UNLIMITED = KeyLimits()


@transaction.atomic
def create(person_id: int, name: str, limits: KeyLimits = UNLIMITED) -> str:
    """Return the new key, in clear text for the only time.

    Raises ConfigError for a bad name or limit, Busy for too many keys.
    """
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME:
        raise ConfigError(f"Give the key a name of at most {LONGEST_NAME} letters.")
    if why := name_checks.problem(name):
        raise ConfigError(f"Give the key another name: this one {why}.")
    if limits.expires is not None and limits.expires <= timezone.now():
        raise ConfigError("Choose a day in the future, on which the key expires.")
    if unknown := sorted(set(limits.scopes) - SCOPES.keys()):
        raise ConfigError(f"There is no scope {unknown[0]}. The scopes are {', '.join(SCOPES)}.")
    list(User.objects.select_for_update(no_key=True).filter(pk=person_id).values_list("pk"))
    if _valid().filter(person_id=person_id).count() >= MOST:
        raise Busy(f"You have {MOST} keys. Revoke one first.", "keys")
    key = PREFIX + secrets.token_urlsafe(32)
    row = ApiKey(person_id=person_id, name=name, prefix=key[:SHOWN], digest=_digest(key), expires_at=limits.expires)
    row.scopes = sorted(limits.scopes or SCOPES)
    row.save()
    if limits.quota != NO_QUOTA:
        quotas.put(KEY, str(row.pk), limits.quota)
    return key


def _valid() -> QuerySet[ApiKey]:
    in_force = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return ApiKey.objects.filter(in_force, revoked_at=None)


HOLDER = """SELECT auth_user.*, toolsupport_apikey.id AS key_id, scopes,
used_at IS NULL OR used_at < %s AS unmarked
FROM toolsupport_apikey JOIN auth_user ON auth_user.id = toolsupport_apikey.person_id
WHERE digest = %s AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > %s) AND auth_user.is_active"""

# Counted apart (`config.sqlite.answer_changes`): after any other change all kept rows are read again.
USED = "UPDATE toolsupport_apikey SET used_at = %s WHERE id = %s"


def holder(key: str) -> KeyHolder | None:
    """Return the owner of this key; None if it is unknown, revoked or expired, or its owner is deactivated."""
    now = timezone.now()
    found: Any = next(iter(raw_sql.made(User, HOLDER, now - SELDOM, _digest(key), now)), None)
    if found is None:
        return None
    if found.unmarked:
        raw_sql.change(USED, now, found.key_id)
    return KeyHolder(found.key_id, found, tuple(raw_sql.parsed(found.scopes)))


def listed(person_id: int) -> tuple[ShownKey, ...]:
    """Return the keys of a person that are not revoked, newest first."""
    return tuple(_shown(row) for row in ApiKey.objects.filter(person_id=person_id, revoked_at=None))


def _shown(row: ApiKey) -> ShownKey:
    return ShownKey(
        id=row.pk,
        name=row.name,
        prefix=row.prefix,
        created_at=row.created_at,
        used_at=row.used_at,
        expires_at=row.expires_at,
        scopes=tuple(row.scopes),
        shares=tuple(share for one in quotas.of_key(row.pk) for share in quota_use.shares(one)),
    )


def expiring(days: int) -> int:
    """Return how many keys expire within so many days."""
    return _valid().filter(expires_at__lte=timezone.now() + timedelta(days=days)).count()


def revoke(person_id: int, key_id: int) -> None:
    """Revoke a key of this person at once. Raises NotFound."""
    rows = ApiKey.objects.filter(pk=key_id, person_id=person_id)
    if not rows.exists():
        raise NotFound("This key does not exist.")
    rows.filter(revoked_at=None).update(revoked_at=timezone.now())


def _digest(key: str) -> str:
    """Return the digest. 256 random bits cannot be guessed, so a slow password hash is not needed."""
    return hashlib.sha256(key.encode(errors="replace")).hexdigest()
