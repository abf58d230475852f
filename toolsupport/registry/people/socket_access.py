"""Whether those who hold an open socket may still hold it, asked for all of them at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice

from django.contrib.auth.models import User
from django.utils import timezone

from toolsupport.models import Session
from toolsupport.registry.people.permissions import Action, actions_of_each

AT_ONCE = 500
SIGNED_OUT, FORBIDDEN = "signed_out", "forbidden"


@dataclass(frozen=True, slots=True)
class SocketAccess:
    """What let a socket in: the person, the browser's session, the mark of the password it was opened with."""

    person: int
    session: str
    mark: str


def refused(passes: Collection[SocketAccess], action: Action) -> dict[SocketAccess, str]:
    """Those that hold no more, and why: SIGNED_OUT (session, password, person) or FORBIDDEN (the role)."""
    found: dict[SocketAccess, str] = {}
    waiting = iter(passes)
    while some := list(islice(waiting, AT_ONCE)):
        found.update(_refused(some, action))
    return found


def _refused(passes: Collection[SocketAccess], action: Action) -> Iterator[tuple[SocketAccess, str]]:
    """Three queries, however many passes."""
    people = {one.person for one in passes}
    sessions = Session.objects.filter(session_key__in={one.session for one in passes}, expire_date__gt=timezone.now())
    living = set(sessions.values_list("session_key", flat=True))
    marks = {user.pk: _marks(user) for user in User.objects.filter(pk__in=people, is_active=True)}
    allowed = actions_of_each(people)
    for one in passes:
        if one.session not in living or one.mark not in marks.get(one.person, ()):
            yield one, SIGNED_OUT
        elif action not in allowed.get(one.person, ()):
            yield one, FORBIDDEN


def _marks(user: User) -> tuple[str, ...]:
    """What a session may be marked with: by today's signing key, or by one that is being rotated out."""
    return (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
