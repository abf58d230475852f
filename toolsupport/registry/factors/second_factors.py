"""Sets up and checks the authenticator app of a person, and removes second factors; each code counts once."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from toolsupport.core import one_time_codes, qr_code
from toolsupport.core.errors import ConfigError, NotAllowed, NotFound
from toolsupport.models import Passkey, RecoveryCode, SecondFactor
from toolsupport.registry.factors import passkeys, recovery_codes, requirement
from toolsupport.registry.people import audit_log
from toolsupport.registry.servers import key_encryption

SITE = "toolsupport"
WAITS = timedelta(days=1)  # a key that is not confirmed
UNREADABLE = "The key of your second factor cannot be read on this site any more. Use a recovery code."


@dataclass(frozen=True, slots=True)
class FactorState:
    """The data of the account page: the app, the passkeys, and the number of remaining recovery codes."""

    app: bool = False
    passkeys: tuple[passkeys.ShownPasskey, ...] = ()
    recovery_codes: int = 0

    @property
    def active(self) -> bool:
        return self.app or bool(self.passkeys)


@dataclass(frozen=True, slots=True)
class OfferedKey:
    """A key that its owner has not confirmed yet, in groups, and its address, also as a picture for a camera."""

    key: str
    address: str
    picture_width: int
    picture: str


def state(person_id: int) -> FactorState:
    """Return the confirmed second factors of a person."""
    return FactorState(_of(person_id) is not None, passkeys.listed(person_id), recovery_codes.left(person_id))


def active(person_id: int) -> bool:
    """Return whether a sign-in with the password of this person needs a second factor."""
    return _of(person_id) is not None or passkeys.has_some(person_id)


def begin(person: User) -> OfferedKey:
    """Return the key that waits for its first code, or a new one. Raises NotAllowed if a factor counts already."""
    with transaction.atomic():
        list(User.objects.select_for_update().filter(pk=person.pk).values_list("pk"))
        if _of(person.pk):
            raise NotAllowed("Remove the present app first.")
        return offered(person) or _made(person)


def offered(person: User) -> OfferedKey | None:
    """Return the key that waits for its first code; None without one, or if it is too old or cannot be read."""
    waiting = SecondFactor.objects.filter(person=person, confirmed_at=None, created_at__gt=timezone.now() - WAITS)
    row = waiting.first()
    try:
        return _offer(person, key_encryption.decrypt(row.key)) if row else None
    except ConfigError:
        return None


@transaction.atomic
def confirm(person: User, given: str) -> tuple[str, ...]:
    """Make the app count, by a first code; return the recovery codes of a first factor. Raises NotFound, NotAllowed."""
    row = SecondFactor.objects.select_for_update().filter(person=person, confirmed_at=None).first()
    if row is None:
        raise NotFound("Begin the set-up of the second factor again.")
    if not _spent(row, one_time_codes.normal(given)):
        raise NotAllowed("This code is wrong. Check that the clock of your device is right.")
    SecondFactor.objects.filter(pk=row.pk).update(confirmed_at=timezone.now())
    audit_log.write(person.pk, "add_second_factor", recovery_codes.subject(person.pk), "An authenticator app.")
    return recovery_codes.first(person)


@transaction.atomic
def accepts(person: User, given: str) -> bool:
    """Use a code of the app, or a recovery code, up; return whether it was right. Raises ConfigError (the key)."""
    row = _of(person.pk)
    code = one_time_codes.normal(given)
    if one_time_codes.is_app_code(code):
        return row is not None and _spent(row, code)
    return recovery_codes.spend(person, code)


@transaction.atomic
def remove(actor: int | None, person_id: int, where: str) -> bool:
    """Remove all second factors of a person, with recovery codes; return whether there was one. Raises NotFound.

    The audit gets the number of the person: a name could not be removed from it later.
    """
    person = User.objects.filter(pk=person_id).annotate(had=requirement.APP | requirement.PASSKEY).first()
    if person is None:
        raise NotFound("This person does not exist.")
    for kind in (SecondFactor, Passkey, RecoveryCode):
        kind.objects.filter(person_id=person_id).delete()
    if person.had:
        words = f"All of person {person_id}, {where}."
        audit_log.write(actor, "remove_second_factor", recovery_codes.subject(person_id), words)
    return bool(person.had)


@transaction.atomic
def remove_own(person: User, passkey_id: int | None = None) -> None:
    """Remove the own app, or a passkey; recovery codes go with the last one. Raises NotFound, NotAllowed (required)."""
    list(User.objects.select_for_update().filter(pk=person.pk).values_list("pk"))
    if passkey_id is None:
        SecondFactor.objects.filter(person=person).delete()
    elif not passkeys.forget(person.pk, passkey_id):
        raise NotFound("This passkey does not exist.")
    what = "The authenticator app" if passkey_id is None else "A passkey"
    words = f"{what} of person {person.pk}, on their account page."
    audit_log.write(person.pk, "remove_second_factor", recovery_codes.subject(person.pk), words)
    if active(person.pk):
        return
    RecoveryCode.objects.filter(person=person).delete()
    if requirement.holds_for(person):
        raise NotAllowed(requirement.KEEP)


def remove_here(name: str) -> bool:
    """Remove the second factor of a person from the machine of the site; return whether there was one."""
    person = User.objects.filter(username=name).first()
    return person is not None and remove(None, person.pk, "on the machine of the site")


def _of(person_id: int) -> SecondFactor | None:
    return SecondFactor.objects.filter(person_id=person_id, confirmed_at__isnull=False).first()


def _made(person: User) -> OfferedKey:
    key = one_time_codes.as_key(secrets.token_bytes(one_time_codes.SECRET_BYTES))
    SecondFactor.objects.filter(person=person).delete()
    SecondFactor.objects.create(person=person, key=key_encryption.encrypt(key))
    return _offer(person, key)


def _offer(person: User, key: str) -> OfferedKey:
    groups = " ".join(key[start : start + 4] for start in range(0, len(key), 4))
    address = one_time_codes.address(key, person.username, SITE)
    return OfferedKey(groups, address, *qr_code.path(address))


def _spent(row: SecondFactor, code: str) -> bool:
    """Return whether the code is right and this is its first use: one statement decides between processes."""
    try:
        secret = one_time_codes.secret_of(key_encryption.decrypt(row.key))
    except ConfigError as error:
        raise ConfigError(UNREADABLE) from error
    step = one_time_codes.matching_step(secret, code, time.time(), row.last_step)
    if step is None:
        return False
    return bool(SecondFactor.objects.filter(pk=row.pk, last_step__lt=step).update(last_step=step))
