"""Deletes the data of a person's account; the row stays without a name, because audit and history refer to it."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import transaction

from toolsupport.core.errors import ConfigError, NotAllowed, NotFound
from toolsupport.core.quota_rules import KEY, PERSON
from toolsupport.models import (
    ApiKey,
    ExternalIdentity,
    Passkey,
    QuotaLimit,
    QuotaUse,
    ReadEntry,
    ReadMark,
    RecoveryCode,
    SecondFactor,
    SecurityEvent,
    SignInDevice,
)
from toolsupport.registry.people import audit_log, first_admin, known_devices, session_store

# No account can have such a name: Django's usernames have no spaces.
DELETED = "deleted person "


@dataclass(frozen=True, slots=True)
class DeletionOrder:
    """Whose data an administrator deletes (`actor` None: the command), with the name as it was typed."""

    person: int
    typed: str
    actor: int | None = None


def name_of(person_id: int) -> str:
    """Return the name of a person whose data can be deleted. Raises NotFound."""
    return _row(person_id).username


def number_of(name: str) -> int:
    """Return the id of a person by name. Raises NotFound."""
    row = User.objects.filter(username=name).exclude(username__startswith=DELETED).first()
    if row is None:
        raise NotFound(f"There is no person named {name!r}.")
    return row.pk


@transaction.atomic
def close_account(order: DeletionOrder) -> str:
    """Deactivate the person and end sessions and keys, so that nothing new begins; return the name.

    Raises NotFound, NotAllowed (oneself, the last administrator), ConfigError (another name was typed).
    """
    first_admin.hold_administrators()
    row = _row(order.person, lock=True)
    if row.pk == order.actor:
        raise NotAllowed("Another administrator must delete your own data.")
    if order.typed.strip() != row.username:
        raise ConfigError(f"Type the name {row.username} to delete the data of this person.")
    row.groups.clear()
    User.objects.filter(pk=row.pk).update(is_active=False, is_staff=False, is_superuser=False)
    if first_admin.needs_setup():
        raise NotAllowed("The site needs at least one active administrator.")
    session_store.end(row.pk)
    known_devices.forget(row.pk)
    _delete_keys(row.pk)
    return row.username


@transaction.atomic
def erase_account(order: DeletionOrder, summary: str) -> None:
    """Delete the rest of the account, remove its name, and write the deletion to the audit."""
    row = _row(order.person, lock=True)
    own = (ExternalIdentity, Passkey, ReadEntry, ReadMark, RecoveryCode, SecondFactor, SecurityEvent, SignInDevice)
    for kind in own:
        kind.objects.filter(person_id=row.pk).delete()
    _delete_quotas(PERSON, row.pk)
    _delete_keys(row.pk)
    session_store.end(row.pk)
    LogEntry.objects.filter(user_id=row.pk).delete()
    LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(User), object_id=str(row.pk)).delete()
    row.user_permissions.clear()
    row.username, row.first_name, row.last_name, row.email = f"{DELETED}{row.pk}", "", "", ""
    row.last_login = None
    row.set_unusable_password()
    row.save()
    audit_log.write(order.actor, "delete_person", str(row.pk), summary)


def _row(person_id: int, lock: bool = False) -> User:
    rows = User.objects.exclude(username__startswith=DELETED)
    row = (rows.select_for_update() if lock else rows).filter(pk=person_id).first()
    if row is None:
        raise NotFound("This person does not exist.")
    return row


def _delete_keys(person_id: int) -> None:
    keys = ApiKey.objects.filter(person_id=person_id)
    for key in keys.values_list("pk", flat=True):
        _delete_quotas(KEY, key)
    keys.delete()


def _delete_quotas(kind: str, subject: int) -> None:
    QuotaLimit.objects.filter(kind=kind, subject=str(subject)).delete()
    QuotaUse.objects.filter(kind=kind, subject=subject).delete()
