"""The session engine: Django's own in the database, with the person written beside each session."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessions
from django.db import connection
from django.utils import timezone

from toolsupport.models import Session


class SessionStore(DatabaseSessions):
    """Named in the settings as SESSION_ENGINE."""

    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        row: Session = super().create_model_instance(data)  # type: ignore[assignment]
        person = str(data.get(SESSION_KEY, ""))
        row.person_id = int(person) if person.isdecimal() else None
        return row


def count(person_id: int) -> int:
    """In how many browsers a person is signed in."""
    return Session.objects.filter(person_id=person_id, expire_date__gt=timezone.now()).count()


def end(person_id: int, but: str | None = None) -> int:
    """Sign a person out everywhere, except in the browser with the session key `but`; gives how many ended."""
    ended, _ = Session.objects.filter(person_id=person_id).exclude(session_key=but).delete()
    return ended


def clear_expired() -> None:
    """Forget the sessions that ran out."""
    SessionStore.clear_expired()


def lets_in(key: str) -> bool:
    """Whether somebody is signed in with this session key; closes its connection, so any thread may ask."""
    try:
        found = Session.objects.filter(session_key=key, expire_date__gt=timezone.now(), person__is_active=True)
        return found.exists()
    finally:
        connection.close()
