"""Session engine: Django's database sessions, each read with its person, their roles and a missing second factor."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import Any

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessions
from django.db import connection
from django.db.models import BooleanField, IntegerField, QuerySet
from django.db.models.expressions import RawSQL
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from toolsupport.config.environment import GIVEN
from toolsupport.models import Session
from toolsupport.registry.people import permissions

# Set in a session that a provider, a trusted proxy or the site's machine authenticated: it needs no second factor.
VOUCHED = "vouched for by"
KEY = re.compile(r"[a-z0-9]{32}")
RULE = "TOOLSUPPORT_REQUIRE_SECOND_FACTOR"
# Read with each session, so that a new rule or a removed factor counts at the next request. If off, one look-up.
LACKS = """CASE COALESCE(CAST(%s AS text),
    (SELECT CAST(value AS text) FROM toolsupport_setting WHERE "key" = 'require_second_factor'))
  WHEN '"everyone"' THEN TRUE
  WHEN '"admins"' THEN EXISTS (SELECT 1 FROM auth_user WHERE id = toolsupport_session.person_id AND is_superuser)
    OR EXISTS (SELECT 1 FROM auth_user_groups JOIN auth_group ON auth_group.id = auth_user_groups.group_id
      WHERE auth_user_groups.user_id = toolsupport_session.person_id AND auth_group.name = 'admin')
  ELSE FALSE END
  AND NOT EXISTS (SELECT 1 FROM toolsupport_secondfactor AS app
    WHERE app.person_id = toolsupport_session.person_id AND app.confirmed_at IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM toolsupport_passkey WHERE person_id = toolsupport_session.person_id)"""


class SessionStore(DatabaseSessions):
    """The session store, configured as SESSION_ENGINE."""

    # Of the row that was loaded.
    lacks_factor = False
    person: User | None = None

    def _validate_session_key(self, key: str | None) -> bool:
        """Return whether a key may be one of ours: a cookie can contain any character, and databases accept fewer."""
        return bool(key and KEY.fullmatch(key))

    def _get_session_from_db(self) -> Session | None:
        return self._loaded(_with_person().filter(session_key=self.session_key).first())

    async def _aget_session_from_db(self) -> Session | None:
        return self._loaded(await _with_person().filter(session_key=self.session_key).afirst())

    def _loaded(self, row: Session | None) -> Session | None:
        if row is None:
            self._session_key = None
            return None
        self.lacks_factor, self.person = bool(row.lacking), row.person  # type: ignore[attr-defined]
        if self.person is not None:
            self.person.actions_read = permissions.of_mask(self.person, row.roles)  # type: ignore[attr-defined]
        return row

    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        row: Session = super().create_model_instance(data)  # type: ignore[assignment]
        person = str(data.get(SESSION_KEY, ""))
        row.person_id = int(person) if person.isdecimal() else None
        return row


def confined(session: Any) -> bool:
    """Return whether this session, which was loaded before, may do nothing but set up a second factor."""
    return bool(getattr(session, "lacks_factor", False)) and not session.get(VOUCHED)


def confined_keys(keys: Collection[str]) -> set[str]:
    """Return which of these sessions are confined."""
    rows = [row for row in _living().filter(session_key__in=keys) if row.lacking]  # type: ignore[attr-defined]
    return {row.session_key for row in rows if not row.get_decoded().get(VOUCHED)}


def person_of(session: Any) -> User | None:
    """Return the active person who is signed in, as read with the session, if its password is still the same.

    None for everybody else, also for a hash made with a former secret key: Django decides about those.
    """
    signed_in = session.get(SESSION_KEY)  # loads the row
    person: User | None = getattr(session, "person", None)
    if person is None or not person.is_active or str(person.pk) != signed_in:
        return None
    # Only this site's own backend begins sessions (`session_origin`).
    same = constant_time_compare(session.get(HASH_SESSION_KEY) or "", person.get_session_auth_hash())
    return person if same else None


def _with_person() -> QuerySet[Session]:
    return _all_with_person(_rule()).filter(expire_date__gt=timezone.now())


def _living() -> QuerySet[Session]:
    return _all(_rule()).filter(expire_date__gt=timezone.now())


def _rule() -> str | None:
    return f'"{settings.ENV[RULE]}"' if RULE in settings.ENV[GIVEN] else None


@cache
def _all_with_person(rule: str | None) -> QuerySet[Session]:
    """Build it once: every request reads a session."""
    roles = RawSQL(permissions.ROLE_MASK, [], output_field=IntegerField())
    return _all(rule).select_related("person").annotate(roles=roles)


@cache
def _all(rule: str | None) -> QuerySet[Session]:
    lacking = RawSQL(LACKS, [rule], output_field=BooleanField())  # no value of a request is in it
    return Session.objects.annotate(lacking=lacking)


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
