"""The column type of encrypted values, by which the rotation of the key finds all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models

if TYPE_CHECKING:
    TextField = models.TextField[str, str]
else:
    TextField = models.TextField  # generic for the type checker only


class EncryptedTextField(TextField):
    """Text that `registry/servers/key_encryption.py` has encrypted; to the database an ordinary text."""

    def deconstruct(self) -> tuple[str, str, list[Any], dict[str, Any]]:
        name, _, args, keywords = super().deconstruct()
        return name, "django.db.models.TextField", list(args), dict(keywords)
