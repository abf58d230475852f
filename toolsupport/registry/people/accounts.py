"""Manages the accounts of people for administrators."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import Group, User
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Case, Count, Exists, Max, OuterRef, Q, Value, When
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from toolsupport.core.errors import ConfigError, NotAllowed, NotFound
from toolsupport.core.name_order import by_name
from toolsupport.core.row_ids import row_number
from toolsupport.models import Passkey
from toolsupport.registry.people import deletion, first_admin, known_devices, session_store, unique_names
from toolsupport.registry.people.permissions import ROLES


@dataclass(frozen=True, slots=True)
class ListedPerson:
    """`role` is "" without one; `invited`: no password is set yet; `browsers`: the number signed in now."""

    id: int
    name: str
    role: str
    active: bool
    invited: bool
    last_login: datetime | None
    browsers: int
    second_factor: bool


@dataclass(frozen=True, slots=True)
class PasswordLink:
    """A one-time token that sets a password; it is shown once and never stored."""

    name: str
    token: str


def listed() -> tuple[ListedPerson, ...]:
    """Return all people whose data was not deleted, by name."""
    living = Q(browser_sessions__expire_date__gt=timezone.now())
    signed_in = Count("browser_sessions", filter=living, distinct=True)
    passkeys = Exists(Passkey.objects.filter(person=OuterRef("pk")))
    highest = Max(Case(*(When(groups__name=name, then=Value(rank)) for rank, name in enumerate(ROLES))))
    rows = User.objects.annotate(browsers=signed_in, has_passkey=passkeys, highest=highest)
    rows = rows.select_related("second_factor")
    present = rows.exclude(username__startswith=deletion.DELETED)
    return tuple(_shown(row) for row in sorted(present, key=lambda row: by_name(row.username)))


def invite(name: str, role: str) -> PasswordLink:
    """Create a person without a password; return the link that sets one.

    Raises ConfigError (name taken or malformed).
    """
    user = User(username=name.strip())
    user.set_unusable_password()
    try:
        with transaction.atomic():
            unique_names.check(user)
            user.save()
            give(user, role)
    except ValidationError as error:
        raise ConfigError(" ".join(error.messages)) from error
    return _link(user)


@transaction.atomic
def new_link(actor: int, person_id: int) -> PasswordLink:
    """Remove the password and all sessions; return a link that sets a new password. Raises NotFound, NotAllowed."""
    user = _other(actor, person_id)
    user.set_unusable_password()
    user.save(update_fields=["password"])
    session_store.end(user.pk)
    known_devices.forget(user.pk)
    return _link(user)


@transaction.atomic
def set_role(actor: int, person_id: int, role: str) -> None:
    """Set a person's role. Raises NotFound, NotAllowed (oneself), ConfigError (no such role)."""
    first_admin.hold_administrators()
    give(_other(actor, person_id), role)
    _check_administered()


@transaction.atomic
def set_active(actor: int, person_id: int, active: bool) -> None:
    """Activate or deactivate a person; deactivating ends all sessions. Raises NotFound, NotAllowed (oneself)."""
    first_admin.hold_administrators()
    user = _other(actor, person_id)
    User.objects.filter(pk=user.pk).update(is_active=active)
    if not active:
        session_store.end(user.pk)
        known_devices.forget(user.pk)
    _check_administered()


def with_mark(person_id: int, mark: str) -> User | None:
    """Return the active person whose password is still the one of that mark (`get_session_auth_hash`)."""
    person = User.objects.filter(pk=person_id, is_active=True).first()
    return person if person and constant_time_compare(person.get_session_auth_hash(), mark) else None


def invited(token: str) -> User:
    """Return the person of a link. Raises NotFound for a used, replaced, expired or invalid link."""
    person_id, _, rest = token.partition("-")
    user = User.objects.filter(pk=row_number(person_id), is_active=True).first()
    if user is None or not default_token_generator.check_token(user, rest):
        raise NotFound("This link was already used, or it is too old.")
    return user


@transaction.atomic
def set_password(token: str, password: str) -> User:
    """Use a link to set a password: of two uses at once, the second waits and is refused.

    Raises NotFound, ValidationError (the password).
    """
    list(User.objects.select_for_update().filter(pk=invited(token).pk).values_list("pk"))
    user = invited(token)
    validate_password(password, user)
    user.set_password(password)
    user.save(update_fields=["password"])
    return user


def _other(actor: int, person_id: int) -> User:
    rows = User.objects.exclude(username__startswith=deletion.DELETED)
    user = rows.select_for_update().filter(pk=person_id).first()
    if user is None:
        raise NotFound("This person does not exist.")
    if user.pk == actor:
        raise NotAllowed("Another administrator must change your own role and access.")
    return user


def give(user: User, role: str) -> None:
    """Replace the roles of a person by this one. Raises ConfigError (no such role)."""
    if role not in ROLES:
        raise ConfigError(f"There is no role {role!r}.")
    user.groups.remove(*user.groups.filter(name__in=ROLES))
    user.groups.add(Group.objects.get_or_create(name=role)[0])
    # Administrators also get access to Django's own administration.
    User.objects.filter(pk=user.pk).update(is_staff=role == "admin", is_superuser=role == "admin")


def _check_administered() -> None:
    """Check that an administrator remains; if two demote each other at once, the second is refused."""
    if first_admin.needs_setup():
        raise NotAllowed("The site needs at least one active administrator.")


def _link(user: User) -> PasswordLink:
    return PasswordLink(user.username, f"{user.pk}-{default_token_generator.make_token(user)}")


def _shown(row: User) -> ListedPerson:
    highest = row.highest  # type: ignore[attr-defined]
    return ListedPerson(
        id=row.pk,
        name=row.username,
        role="admin" if row.is_superuser else "" if highest is None else list(ROLES)[highest],
        active=row.is_active,
        invited=not row.has_usable_password(),
        last_login=row.last_login,
        browsers=row.browsers,  # type: ignore[attr-defined]
        second_factor=row.has_passkey  # type: ignore[attr-defined]
        or getattr(getattr(row, "second_factor", None), "confirmed_at", None) is not None,
    )
