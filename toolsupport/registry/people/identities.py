"""Finds or creates the person that a sign-in provider or a trusted proxy has authenticated, and their role."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from toolsupport.core.errors import ConfigError, NotAllowed
from toolsupport.models import ExternalIdentity
from toolsupport.registry import any_case
from toolsupport.registry.people import accounts, first_admin, quotas, session_store, unique_names
from toolsupport.registry.people.permissions import ROLES

NEW_ROLE = "user"
TAKEN = (
    "An account named {} exists here already. An administrator can connect it: a new link for that account, on the "
    "page People, removes its password; then sign in here again."
)
OUT = "Your account is deactivated."
UNUSABLE = "This name cannot be used for an account."
SUBJECT = re.compile(r"[ -~]{1,255}")  # OpenID Connect allows these characters only
NAME = re.compile(r"[\w.@+-]{1,150}")


@dataclass(frozen=True, slots=True)
class VouchedIdentity:
    """An account at a provider. `role`: the one that it gives; "" if it names none, None if roles are managed here.

    `exact`: the provider has the account under exactly this name; otherwise characters were left out or replaced.
    """

    issuer: str
    subject: str
    name: str
    role: str | None
    exact: bool = True


@transaction.atomic
def signed_in(identity: VouchedIdentity) -> User:
    """Return the person of this identity, with the current role. Raises NotAllowed."""
    if not identity.name or not SUBJECT.fullmatch(identity.subject):
        raise NotAllowed("The sign-in provider gives no usable name for this account.")
    person = _known(identity)
    if person is None:
        unique_names.hold()  # another request of this browser may make the account now
        person = _known(identity) or _connected(identity)
    if not person.is_active:
        raise NotAllowed(OUT)
    values = {"person": person, "used_at": timezone.now()}
    ExternalIdentity.objects.update_or_create(issuer=identity.issuer, subject=identity.subject, defaults=values)
    if identity.role is not None:
        _follow(person, identity.role)
    return User.objects.get(pk=person.pk)


def _known(identity: VouchedIdentity) -> User | None:
    rows = ExternalIdentity.objects.select_related("person")
    row = rows.filter(issuer=identity.issuer, subject=identity.subject).first()
    return row.person if row else None


def of_header(name: str) -> User:
    """Return the person that a trusted proxy names, created as a user the first time. Raises NotAllowed."""
    if not NAME.fullmatch(name) or User.normalize_username(name) != name:
        raise NotAllowed(UNUSABLE)
    person = User.objects.filter(username=name).first() or _made(name)
    if not person.is_active:
        raise NotAllowed(OUT)
    return person


@transaction.atomic
def _made(name: str) -> User:
    """Return the new person of that name; another request of the same browser may create it at this moment."""
    unique_names.hold()
    return User.objects.filter(username=name).first() or _new(name)


def _connected(identity: VouchedIdentity) -> User:
    """Return the invited person of that name, or a new one. An account with a password is never taken over."""
    people = User.objects.select_for_update()
    # Accounts of older versions may differ only in the case of a letter beyond ASCII.
    person = people.filter(username=identity.name).first()
    person = person or people.filter(any_case.same("username", identity.name)).first()
    if person is None:
        return _new(identity.name)
    known = person.has_usable_password() or ExternalIdentity.objects.filter(person=person).exists()
    # The database may take more for the same than case: İbrahim and ibrahim are two people.
    exact = identity.exact and person.username.casefold() == identity.name.casefold()
    if known or not exact:
        raise NotAllowed(TAKEN.format(person.username))
    return person


def _new(name: str) -> User:
    try:
        made = accounts.invite(name, NEW_ROLE)
    except (ConfigError, ValueError) as error:
        raise NotAllowed(UNUSABLE) from error
    return User.objects.get(username=made.name)


def _follow(person: User, role: str) -> None:
    """Give the role that the provider names, or without one at most that of a user; the last administrator stays."""
    order = list(ROLES)
    present = quotas.role_of(person.pk)
    wanted = role or (present if present and order.index(present) <= order.index(NEW_ROLE) else NEW_ROLE)
    if wanted == present:
        return
    with transaction.atomic():
        first_admin.hold_administrators()
        accounts.give(person, wanted)
        if first_admin.needs_setup():
            accounts.give(person, "admin")
            return
    session_store.end(person.pk)
