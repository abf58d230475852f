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
    """A code that replaces the app or a passkey once; its row is deleted when it is used."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="recovery_codes")
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "digest"], name="one_recovery_code_of_a_person")]

    def __str__(self) -> str:
        return f"a recovery code of person {self.person_id}"


class Passkey(models.Model):
    """A passkey (WebAuthn) of a person; its private key never leaves the person's device."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="passkeys")
    name = models.CharField(max_length=60)
    site = models.CharField(max_length=255, help_text="The host that it belongs to.")
    credential = models.CharField(max_length=1400, unique=True, help_text="Its id, in base64url.")
    handle = models.CharField(max_length=90, help_text="The random id of the person on the device, in base64url.")
    public_key = models.BinaryField()
    sign_count = models.BigIntegerField(default=0, help_text="The counter of the device at the last use.")
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"a passkey of person {self.person_id}"
