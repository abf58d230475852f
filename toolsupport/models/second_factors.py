"""Rows of people's second factors at a sign-in with a password."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from toolsupport.models.encrypted import EncryptedTextField


class SecondFactor(models.Model):
    """The authenticator app of a person; it counts once a code has confirmed it."""

    person = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="second_factor")
    key = EncryptedTextField(help_text="Encrypted; shown only until it is confirmed.")
    last_step = models.BigIntegerField(default=-1, help_text="The step of the last code, which counts once.")
    created_at = models.DateTimeField(auto_now_add=True)
    confirmed_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"the second factor of person {self.person_id}"


class RecoveryCode(models.Model):
    """A code that replaces the app once; its row is deleted when it is used."""

    factor = models.ForeignKey(SecondFactor, on_delete=models.CASCADE, related_name="recovery_codes")
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["factor", "digest"], name="one_recovery_code_of_a_factor")]

    def __str__(self) -> str:
        return f"a recovery code of factor {self.factor_id}"
