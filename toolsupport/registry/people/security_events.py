"""Security events: refused and failed sign-ins, wrong keys, new devices; one row per source and hour, with a count."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from toolsupport.core import client_address
from toolsupport.models import SecurityEvent
from toolsupport.registry import any_case

# Sentences for administrators; {who} is the name of an account, or STRANGER.
EVENTS = {
    "sign_in_wrong": "A sign-in as {who} failed: wrong name or password.",
    "sign_in_limited": "A sign-in as {who} was refused after too many attempts.",
    "new_device": "{who} signed in on a new device.",
    "password_wrong": "A password change of {who} failed: wrong current password.",
    "password_limited": "A password change of {who} was refused after too many attempts.",
    "password_changed": "{who} changed the password.",
    "api_key_wrong": "A program sent an API key that is not valid.",
    "metrics_token_wrong": "A program requested /metrics without a valid token.",
    "setup_token_wrong": "A set-up address was opened that is not valid.",
    "provider_refused": "A sign-in through the provider was refused.",
    "header_refused": "The name in the header of a trusted proxy was refused.",
    "sign_in_link": "{who} signed in with a link that was made on the machine of the site.",
    "code_wrong": "A wrong code of the second factor was given for {who}, with the right password.",
    "code_limited": "A code of the second factor of {who} was refused after too many attempts.",
    "passkey_wrong": "A sign-in with a passkey as {who} was refused.",
    "passkey_limited": "A sign-in with a passkey as {who} was refused after too many attempts.",
    "passkey_copied": "A passkey of {who} was refused: its counter did not go up, so a copy of it may be in use.",
    "link_wrong": "A password link was opened that is not valid.",
}
STRANGER = "an unknown name"
SEVERAL = "several addresses"
MOST = 200  # rows of one kind in an interval; later events are counted in one more row
KEPT = timedelta(days=90)
PAGE = 100


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """An event as administrators see it."""

    id: int
    sentence: str
    address: str
    times: int
    first_at: datetime
    last_at: datetime


def record(kind: str, address: str, name: str = "") -> None:
    """Count an event (a key of EVENTS). A name that no account has is not stored: it may be a password."""
    assert EVENTS[kind]
    person = User.objects.filter(any_case.same("username", name)).only("pk").first() if name else None
    network, now = client_address.network(address), timezone.now()
    start = now.replace(minute=0, second=0, microsecond=0)
    if _again(_key(kind, person, network, start), now):
        return
    if SecurityEvent.objects.filter(kind=kind, first_at__gte=start).count() >= MOST:
        person, network = None, SEVERAL
    _add(_key(kind, person, network, start), SecurityEvent(kind=kind, person=person, address=network))


def newest(before: int | None = None) -> tuple[ShownEvent, ...]:
    """Return a page of events, the newest first; `before` is the id of the last event of the page before."""
    rows = SecurityEvent.objects.select_related("person").order_by("-id")
    return tuple(_shown(row) for row in (rows.filter(pk__lt=before) if before else rows)[:PAGE])


def clear_old() -> None:
    """Delete events that are older than KEPT."""
    SecurityEvent.objects.filter(last_at__lt=timezone.now() - KEPT).delete()


def _again(key: str, now: datetime) -> bool:
    return bool(SecurityEvent.objects.filter(key=key).update(times=F("times") + 1, last_at=now))


def _add(key: str, row: SecurityEvent) -> None:
    row.key, row.first_at, row.last_at = key, timezone.now(), timezone.now()
    try:
        with transaction.atomic():
            if not _again(key, row.last_at):
                row.save(force_insert=True)
    except IntegrityError:  # another process was first
        _again(key, row.last_at)


def _key(kind: str, person: User | None, network: str, start: datetime) -> str:
    parts = (kind, str(person.pk if person else ""), network, start.isoformat())
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()


def _shown(row: SecurityEvent) -> ShownEvent:
    who = row.person.get_username() if row.person else STRANGER
    return ShownEvent(row.pk, EVENTS[row.kind].format(who=who), row.address, row.times, row.first_at, row.last_at)
