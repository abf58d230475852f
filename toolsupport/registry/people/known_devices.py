"""Remembers the browsers in which a person signed in, so that attempts of other people cannot lock them out there."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from toolsupport.models import SignInDevice

LASTS = timedelta(days=400)  # the longest that browsers keep a cookie
MOST = 20  # of one person; the one that was used longest ago is forgotten


def known(name: str, token: str) -> str:
    """Return the id of the device if this account was signed in there with its present password; else ""."""
    if not token:
        return ""
    rows = SignInDevice.objects.select_related("person").filter(digest=_digest(token), used_at__gt=_oldest())
    row = rows.filter(person__username=name, person__is_active=True).first()
    return str(row.pk) if row and row.password_mark == _mark(row.person) else ""


@transaction.atomic
def remember(person: User, token: str) -> tuple[str, bool]:
    """Return a new token for this browser, and whether the person was not signed in there before.

    The token changes at each sign-in, for all accounts of the browser: a copy of the old one becomes invalid.
    """
    new, now = secrets.token_urlsafe(32), timezone.now()
    if token:
        SignInDevice.objects.filter(digest=_digest(token), used_at__gt=_oldest()).update(digest=_digest(new))
    row, added = SignInDevice.objects.get_or_create(
        person=person, digest=_digest(new), defaults={"used_at": now, "password_mark": _mark(person)}
    )
    added = added or row.password_mark != _mark(person)
    SignInDevice.objects.filter(pk=row.pk).update(used_at=now, password_mark=_mark(person))
    newest = SignInDevice.objects.filter(person=person).order_by("-used_at", "-id").values_list("pk", flat=True)
    SignInDevice.objects.filter(person=person).exclude(pk__in=list(newest[:MOST])).delete()
    return new, added


def forget(person_id: int) -> None:
    """Forget all devices of a person."""
    SignInDevice.objects.filter(person_id=person_id).delete()


def clear_expired() -> None:
    """Delete devices that were not used for long."""
    SignInDevice.objects.filter(used_at__lte=_oldest()).delete()


def _oldest() -> datetime:
    return timezone.now() - LASTS


def _digest(token: str) -> str:
    """Return the digest. 256 random bits cannot be guessed, so a slow password hash is not needed."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def _mark(person: User) -> str:
    """Return a mark of the password, however it was set: after a change no device is known."""
    return hashlib.sha256(person.password.encode()).hexdigest()
