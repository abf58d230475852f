"""Session engine: Django's database sessions, with the person stored beside each session."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessions
from django.db import connection
from django.utils import timezone

from toolsupport.models import Session


class SessionStore(DatabaseSessions):
    """The session store, configured as SESSION_ENGINE."""

    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        row: Session = super().create_model_instance(data)  # type: ignore[assignment]
        person = str(data.get(SESSION_KEY, ""))
        row.person_id = int(person) if person.isdecimal() else None
        return row


def count(person_id: int) -> int:
    """Return the number of browsers in which a person is signed in."""
    return Session.objects.filter(person_id=person_id, expire_date__gt=timezone.now()).count()


def end(person_id: int, but: str | None = None) -> int:
    """End all sessions of a person except the one with the key `but`; return how many ended."""
    ended, _ = Session.objects.filter(person_id=person_id).exclude(session_key=but).delete()
    return ended


def clear_expired() -> None:
    """Delete expired sessions."""
    SessionStore.clear_expired()


def lets_in(key: str) -> bool:
    """Return whether this session key is signed in; closes its connection, so any thread may call it."""
    try:
        found = Session.objects.filter(session_key=key, expire_date__gt=timezone.now(), person__is_active=True)
        return found.exists()
    finally:
        connection.close()
