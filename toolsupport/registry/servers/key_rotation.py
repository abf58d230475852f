"""Encrypts every stored secret again with a new key, one row at a time.

Each row is one statement that changes it only as it was read: a kill leaves some rows under the new key and the others
under the old one, both readable, and the next run continues. A value that is saved meanwhile is never overwritten.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cryptography.fernet import InvalidToken, MultiFernet
from django.apps import apps
from django.db.models import Model

from toolsupport.core.errors import ConfigError
from toolsupport.models.encrypted import EncryptedTextField
from toolsupport.registry.servers import key_ring
from toolsupport.registry.servers.key_encryption import box

CURRENT, OLDER, UNREADABLE = "current", "older", "unreadable"


@dataclass(frozen=True, slots=True)
class StoredValue:
    """One encrypted value: its place, its text, and its key."""

    model: type[Model]
    column: str
    pk: int
    text: str
    state: str

    @property
    def name(self) -> str:
        return f"{self.model._meta.verbose_name} {self.pk}"


def columns() -> Iterator[tuple[type[Model], str]]:
    """Return every column that holds encrypted values."""
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, EncryptedTextField):
                yield model, field.attname


def values() -> Iterator[StoredValue]:
    """Return every encrypted value. Raises ConfigError (the keys)."""
    ring = key_ring.keys()
    first, every = MultiFernet([next(ring[0].boxes())]), box(ring)
    for model, column in columns():
        rows = model._base_manager.exclude(**{column: ""}).order_by("pk")
        for pk, text in list(rows.values_list("pk", column)):
            yield StoredValue(model, column, pk, text, _state(text, first, every))


def begin(*, past_unreadable: bool) -> bool:
    """Add a new key; return False where an unfinished rotation continues instead.

    Raises ConfigError if a value cannot be read: with the wrong keys nothing would be rotated, and all be lost later.
    """
    unreadable = [value.name for value in values() if value.state == UNREADABLE]
    if unreadable and not past_unreadable:
        raise ConfigError(
            f"With the keys of this site these values cannot be read: {', '.join(unreadable[:10])}. "
            "Nothing was changed. Check TOOLSUPPORT_SECRET_KEY, or enter these values again."
        )
    if key_ring.from_environment() or not key_ring.stored()[0].complete:
        return False
    key_ring.add()
    return True


def encrypt_again() -> Iterator[str]:
    """Encrypt all values of older keys with the first one; return the names, one for each."""
    while older := [value for value in values() if value.state == OLDER]:
        encryption = box(key_ring.keys())
        for value in older:
            same = value.model._base_manager.filter(pk=value.pk, **{value.column: value.text})
            same.update(**{value.column: encryption.rotate(value.text.encode()).decode()})
            yield value.name
    if not key_ring.from_environment():
        key_ring.mark_complete()


def drop_old() -> int:
    """Remove the older keys, which no value needs any more; return how many. Raises ConfigError."""
    if any(value.state == OLDER for value in values()):
        raise ConfigError("Some values are still under an older key. Run the command without --drop-old first.")
    return key_ring.drop_old()


def _state(text: str, first: MultiFernet, every: MultiFernet) -> str:
    for state, encryption in ((CURRENT, first), (OLDER, every)):
        try:
            encryption.decrypt(text.encode(errors="replace"))
            return state
        except InvalidToken:
            continue
    return UNREADABLE
