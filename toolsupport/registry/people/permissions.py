"""Defines the permissions of each role, and reads those of each person."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, User

from toolsupport.registry import raw_sql, row_cache

Person = AbstractBaseUser | AnonymousUser


class Action(StrEnum):
    """An action that roles allow."""

    SEE_MODELS = "see models and servers"
    CHAT = "chat"
    DETECT = "start a test of a model"
    EDIT_EXAMS = "change the exams of the team"
    DECIDE_FOR_CHAT = "decide for your own chats"
    DECIDE_FOR_ALL = "decide for everyone"
    REVIEW = "review decisions"
    EXPORT_HISTORY = "export the history"
    ADMINISTER = "administer this site"
    OWN_ACCOUNT = "manage your own account"


_VIEWER = frozenset({Action.SEE_MODELS, Action.OWN_ACCOUNT})
_USER = _VIEWER | {Action.CHAT, Action.DETECT, Action.EDIT_EXAMS, Action.DECIDE_FOR_CHAT}
_REVIEWER = _USER | {Action.DECIDE_FOR_ALL, Action.REVIEW, Action.EXPORT_HISTORY}

# A role is the Django group of its name; superusers may do everything.
ROLES: dict[str, frozenset[Action]] = {
    "viewer": _VIEWER,
    "user": _USER,
    "reviewer": _REVIEWER,
    "admin": frozenset(Action),
}
PUBLIC = "public"

# The roles of a session's person as one number, for a statement that reads sessions: one bit for each role.
ROLE_MASK = "(SELECT SUM(CASE auth_group.name {} ELSE 0 END) FROM auth_user_groups JOIN auth_group ON auth_group.id = \
auth_user_groups.group_id WHERE auth_user_groups.user_id = toolsupport_session.person_id)".format(
    " ".join(f"WHEN '{role}' THEN {1 << place}" for place, role in enumerate(ROLES))
)

# The scopes of keys; a key never permits more than the roles of its owner.
SCOPES: dict[str, frozenset[Action]] = {
    "models": frozenset({Action.SEE_MODELS}),
    "chat": frozenset({Action.CHAT}),
    "detect": frozenset({Action.DETECT}),
}

ROLES_OF = """SELECT auth_user.is_superuser, auth_group.name FROM auth_user
LEFT JOIN auth_user_groups ON auth_user_groups.user_id = auth_user.id
LEFT JOIN auth_group ON auth_group.id = auth_user_groups.group_id
WHERE auth_user.id = %s AND auth_user.is_active"""


def actions(person: Person) -> frozenset[Action]:
    """Return the actions that this person may do now, read again (one query); none for inactive people."""
    if not isinstance(person, User) or not person.is_active:
        return frozenset()
    if person.is_superuser:
        return frozenset(Action)
    return _of_roles(name for _, name in row_cache.rows(ROLES_OF, person.pk))


def of_mask(person: User, mask: int | None) -> frozenset[Action]:
    """Return the same for a person who was read with the roles of `ROLE_MASK`."""
    if not person.is_active or person.is_superuser:
        return frozenset(Action) if person.is_active else frozenset()
    return _of_roles(role for place, role in enumerate(ROLES) if (mask or 0) >> place & 1)


def actions_of(user_id: int) -> frozenset[Action]:
    """Return the same for a person's id, in one query; every websocket frame is checked by it."""
    return row_cache.read(_actions_of, user_id)


def _actions_of(user_id: int) -> frozenset[Action]:
    found = raw_sql.rows(ROLES_OF, user_id)
    if any(is_superuser for is_superuser, _ in found):
        return frozenset(Action)
    return _of_roles(name for _, name in found)


def actions_of_each(user_ids: Collection[int]) -> dict[int, frozenset[Action]]:
    """Return the same for many people in one query; inactive or missing people are left out."""
    found: dict[int, frozenset[Action]] = {}
    people = User.objects.filter(pk__in=user_ids, is_active=True)
    for user_id, is_superuser, group in people.values_list("pk", "is_superuser", "groups__name"):
        allowed = frozenset(Action) if is_superuser else _of_roles([group])
        found[user_id] = found.get(user_id, frozenset()) | allowed
    return found


def _of_roles(names: Iterable[str | None]) -> frozenset[Action]:
    return frozenset[Action]().union(*(ROLES.get(name or "", frozenset()) for name in names))


def may(person: Person, action: Action) -> bool:
    """Return True if one of the person's roles includes the action."""
    return action in actions(person)
