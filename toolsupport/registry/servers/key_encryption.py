"""Encrypts stored API keys, tokens and addresses of databases."""

from __future__ import annotations

from cryptography.fernet import InvalidToken, MultiFernet

from toolsupport.core import redaction
from toolsupport.core.errors import UnreadableSecret
from toolsupport.core.sentences import sentence
from toolsupport.registry.servers import key_ring


def encrypt(secret: str) -> str:
    """Return the ciphertext for a row; "" stays "" (no key is not a secret)."""
    redaction.add_secrets(secret)
    return box(key_ring.keys()).encrypt(secret.encode()).decode() if secret else ""


def decrypt(stored: str) -> str:
    """Return the secret. Raises UnreadableSecret if none of the keys can read it."""
    if not stored:
        return ""
    try:
        secret = box(key_ring.keys()).decrypt(stored.encode()).decode()
    except InvalidToken:
        raise UnreadableSecret(sentence("key_unreadable")) from None
    redaction.add_secrets(secret)
    return secret


def box(ring: tuple[key_ring.RingKey, ...]) -> MultiFernet:
    """Return an object that encrypts with the first of these keys and decrypts with each."""
    return MultiFernet([one for key in ring for one in key.boxes()])
