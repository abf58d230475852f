"""Manages the API keys of programs: created, shown once, recognised, revoked."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from toolsupport.core import name_checks
from toolsupport.core.errors import Busy, ConfigError, NotFound
from toolsupport.models import ApiKey
from toolsupport.registry.people.permissions import SCOPES

PREFIX = "tsk-"
SHOWN = 10  # letters of a key by which people recognise it
MOST = 50  # keys in force of one person
LONGEST_NAME = 80
SELDOM = timedelta(minutes=1)  # how exact the time of the last use is


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


@transaction.atomic
def create(person_id: int, name: str) -> str:
    """Return the new key, in clear text for the only time.

    Raises ConfigError for a bad name, Busy for too many keys.
    """
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME:
        raise ConfigError(f"Give the key a name of at most {LONGEST_NAME} letters.")
    if why := name_checks.problem(name):
        raise ConfigError(f"Give the key another name: this one {why}.")
    if ApiKey.objects.filter(person_id=person_id, revoked_at=None).count() >= MOST:
        raise Busy(f"You have {MOST} keys. Revoke one first.", "keys")
    key = PREFIX + secrets.token_urlsafe(32)
    ApiKey.objects.create(
        person_id=person_id, name=name, prefix=key[:SHOWN], digest=_digest(key), scopes=sorted(SCOPES)
    )
    return key


def holder(key: str) -> KeyHolder | None:
    """Return the owner of this key; None if it is unknown or revoked, or its owner is deactivated."""
    rows = ApiKey.objects.select_related("person")
    row = rows.filter(digest=_digest(key), revoked_at=None, person__is_active=True).first()
    if row is None:
        return None
    now = timezone.now()
    if row.used_at is None or now - row.used_at > SELDOM:
        ApiKey.objects.filter(pk=row.pk).update(used_at=now)
    return KeyHolder(row.pk, row.person, tuple(row.scopes))


def listed(person_id: int) -> tuple[ShownKey, ...]:
    """Return the valid keys of a person, newest first."""
    rows = ApiKey.objects.filter(person_id=person_id, revoked_at=None)
    return tuple(ShownKey(row.pk, row.name, row.prefix, row.created_at, row.used_at) for row in rows)


def revoke(person_id: int, key_id: int) -> None:
    """Revoke a key of this person at once. Raises NotFound."""
    rows = ApiKey.objects.filter(pk=key_id, person_id=person_id)
    if not rows.exists():
        raise NotFound("This key does not exist.")
    rows.filter(revoked_at=None).update(revoked_at=timezone.now())


def _digest(key: str) -> str:
    """Return the digest. 256 random bits cannot be guessed, so a slow password hash is not needed."""
    return hashlib.sha256(key.encode(errors="replace")).hexdigest()
