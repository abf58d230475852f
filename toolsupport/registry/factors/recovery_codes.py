"""Codes that replace a second factor once, for people who lost the device."""

from __future__ import annotations

import secrets

from django.contrib.auth.models import User
from django.db import transaction

from toolsupport.core import one_time_codes
from toolsupport.models import RecoveryCode
from toolsupport.registry.people import audit_log

HOW_MANY = one_time_codes.RECOVERY_CODES


def left(person_id: int) -> int:
    """Return how many codes the person has not used yet."""
    return RecoveryCode.objects.filter(person_id=person_id).count()


@transaction.atomic
def renew(person: User) -> tuple[str, ...]:
    """Replace the codes by new ones, and return these; only their digests are stored."""
    list(User.objects.select_for_update().filter(pk=person.pk).values_list("pk"))
    RecoveryCode.objects.filter(person=person).delete()
    made = [one_time_codes.as_key(secrets.token_bytes(one_time_codes.RECOVERY_BYTES)) for _ in range(HOW_MANY)]
    RecoveryCode.objects.bulk_create([RecoveryCode(person=person, digest=one_time_codes.digest(one)) for one in made])
    audit_log.write(person.pk, "renew_recovery_codes", subject(person.pk), f"New recovery codes: {HOW_MANY}.")
    return tuple(one_time_codes.in_groups(one) for one in made)


@transaction.atomic
def first(person: User) -> tuple[str, ...]:
    """Return the codes of a first factor; none for a person who has some."""
    list(User.objects.select_for_update().filter(pk=person.pk).values_list("pk"))
    return () if left(person.pk) else renew(person)


def spend(person: User, code: str) -> bool:
    """Use a code up; return whether it was right."""
    used, _ = RecoveryCode.objects.filter(person=person, digest=one_time_codes.digest(code)).delete()
    if used:
        words = f"Recovery codes left: {left(person.pk)}."
        audit_log.write(person.pk, "use_recovery_code", subject(person.pk), words)
    return bool(used)


def subject(person_id: int) -> str:
    """Return the name of a person in the audit."""
    return f"person:{person_id}"
