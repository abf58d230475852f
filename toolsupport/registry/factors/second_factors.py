"""Sets up, checks and removes the authenticator app of a person; each code counts once, in all processes."""

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
from toolsupport.models import RecoveryCode, SecondFactor
from toolsupport.registry.people import audit_log
from toolsupport.registry.servers import key_encryption

SITE = "toolsupport"
WAITS = timedelta(days=1)  # a key that is not confirmed
HOW_MANY = one_time_codes.RECOVERY_CODES
UNREADABLE = "The key of your second factor cannot be read on this site any more. Use a recovery code."


@dataclass(frozen=True, slots=True)
class FactorState:
    """What the account page shows: whether codes are asked for, and the recovery codes that are left."""

    active: bool = False
    recovery_codes: int = 0


@dataclass(frozen=True, slots=True)
class OfferedKey:
    """A key that its owner has not confirmed yet, in groups, and its address, also as a picture for a camera."""

    key: str
    address: str
    picture_width: int
    picture: str


def state(person_id: int) -> FactorState:
    """Return whether the person has a second factor that counts."""
    factor = _of(person_id)
    return FactorState(True, factor.recovery_codes.count()) if factor else FactorState()


def active(person_id: int) -> bool:
    """Return whether a sign-in with the password of this person needs a code."""
    return _of(person_id) is not None


def begin(person: User) -> OfferedKey:
    """Return the key that waits for its first code, or a new one. Raises NotAllowed if a factor counts already."""
    with transaction.atomic():
        list(User.objects.select_for_update().filter(pk=person.pk).values_list("pk"))
        if active(person.pk):
            raise NotAllowed("Remove the present second factor first.")
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
    """Make the factor count, with a first code; return the recovery codes. Raises NotFound, NotAllowed (the code)."""
    row = SecondFactor.objects.select_for_update().filter(person=person, confirmed_at=None).first()
    if row is None:
        raise NotFound("Begin the set-up of the second factor again.")
    if not _spent(row, one_time_codes.normal(given)):
        raise NotAllowed("This code is wrong. Check that the clock of your device is right.")
    SecondFactor.objects.filter(pk=row.pk).update(confirmed_at=timezone.now())
    made = [one_time_codes.as_key(secrets.token_bytes(one_time_codes.RECOVERY_BYTES)) for _ in range(HOW_MANY)]
    RecoveryCode.objects.bulk_create([RecoveryCode(factor=row, digest=one_time_codes.digest(one)) for one in made])
    audit_log.write(person.pk, "add_second_factor", subject(person.pk), "An authenticator app.")
    return tuple(one_time_codes.in_groups(one) for one in made)


@transaction.atomic
def accepts(person: User, given: str) -> bool:
    """Use a code of the app, or a recovery code, up; return whether it was right. Raises ConfigError (the key)."""
    row = _of(person.pk)
    code = one_time_codes.normal(given)
    if row is None:
        return False
    if one_time_codes.is_app_code(code):
        return _spent(row, code)
    used, _ = RecoveryCode.objects.filter(factor=row, digest=one_time_codes.digest(code)).delete()
    if used:
        left = row.recovery_codes.count()
        audit_log.write(person.pk, "use_recovery_code", subject(person.pk), f"Recovery codes left: {left}.")
    return bool(used)


@transaction.atomic
def remove(actor: int | None, person_id: int, where: str) -> bool:
    """Remove the second factor of a person, with its recovery codes; return whether there was one. Raises NotFound.

    The audit gets the number of the person: a name could not be removed from it later.
    """
    if not User.objects.filter(pk=person_id).exists():
        raise NotFound("This person does not exist.")
    removed, _ = SecondFactor.objects.filter(person_id=person_id).delete()
    if removed:
        audit_log.write(actor, "remove_second_factor", subject(person_id), f"Person {person_id}, {where}.")
    return bool(removed)


def remove_here(name: str) -> bool:
    """Remove the second factor of a person from the machine of the site; return whether there was one."""
    person = User.objects.filter(username=name).first()
    return person is not None and remove(None, person.pk, "on the machine of the site")


def subject(person_id: int) -> str:
    """Return the name of a person in the audit."""
    return f"person:{person_id}"


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
