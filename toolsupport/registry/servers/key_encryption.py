"""Encrypts stored API keys with keys derived from Django's SECRET_KEY."""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.encoding import force_bytes

from toolsupport.core import redaction
from toolsupport.core.errors import ConfigError


def encrypt(secret: str) -> str:
    """Return the ciphertext for a row; "" stays "" (no key is not a secret)."""
    redaction.add_secrets(secret)
    return _box().encrypt(secret.encode()).decode() if secret else ""


def decrypt(stored: str) -> str:
    """Return the secret. Raises ConfigError if SECRET_KEY has changed since it was stored."""
    if not stored:
        return ""
    try:
        secret = _box().decrypt(stored.encode()).decode()
    except InvalidToken:
        raise ConfigError(
            "The stored API key cannot be read, because TOOLSUPPORT_SECRET_KEY has changed. Enter the API key again."
        ) from None
    redaction.add_secrets(secret)
    return secret


def _box() -> MultiFernet:
    # The first key encrypts; former SECRET_KEYs (Django's fallbacks) can still be read while they are rotated out.
    return MultiFernet([Fernet(_derived(key)) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _derived(secret_key: str | bytes) -> bytes:
    hkdf = HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=b"toolsupport api keys at rest")
    return base64.urlsafe_b64encode(hkdf.derive(force_bytes(secret_key)))
