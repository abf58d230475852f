"""The keys that encrypt stored secrets: the first one encrypts, each of them decrypts.

They are in the environment (TOOLSUPPORT_ENCRYPTION_KEYS), or in a file of the data directory that a rotation makes.
Until the first rotation the only key is the one derived from SECRET_KEY. Nothing is cached: every process of the site
reads the file again, so a new key counts for all of them at once.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from cryptography.fernet import Fernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils import timezone
from django.utils.encoding import force_bytes

from toolsupport.core.errors import Busy, ConfigError

FILE, VARIABLE = "encryption_keys.json", "TOOLSUPPORT_ENCRYPTION_KEYS"


@dataclass(frozen=True, slots=True)
class RingKey:
    """One key; `secret` is "" for the one derived from SECRET_KEY.

    `complete`: every stored value is encrypted with it, as a rotation left them.
    """

    secret: str = ""
    made_at: datetime | None = None
    complete: bool = True

    def boxes(self) -> Iterator[Fernet]:
        """Return the ciphers of this key; former SECRET_KEYs still decrypt."""
        texts = [self.secret] if self.secret else [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
        return (Fernet(_derived(text)) for text in texts)


def keys() -> tuple[RingKey, ...]:
    """Return all keys, the one that encrypts first. Raises ConfigError."""
    return (*(RingKey(text) for text in settings.ENV[VARIABLE]), *stored())


def from_environment() -> bool:
    """Return True if the keys come from the environment: no file of one machine is used then."""
    return bool(settings.ENV[VARIABLE]) or "TOOLSUPPORT_SECRET_KEY" in settings.ENV["given"]


def new_secret() -> str:
    return secrets.token_urlsafe(48)


def stored() -> tuple[RingKey, ...]:
    """Return the keys of the file; without a file the one derived from SECRET_KEY."""
    try:
        read = json.loads(_path().read_text())
        return tuple(_parsed(entry) for entry in read["keys"]) or (RingKey(),)
    except FileNotFoundError:
        return (RingKey(),)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{_path()} cannot be read ({type(error).__name__}). Restore it from a backup.") from error


def add() -> None:
    """Put a new key before the stored ones; call it within `exclusive`."""
    _write((RingKey(new_secret(), timezone.now(), complete=False), *stored()))


def mark_complete() -> None:
    """Record that every value is encrypted with the first key."""
    first, *others = stored()
    _write((replace(first, complete=True), *others))


def drop_old() -> int:
    """Remove all keys but the first; return how many."""
    first, *others = stored()
    if others:
        _write((first,))
    return len(others)


@contextmanager
def exclusive() -> Iterator[None]:
    """Hold the lock for a change of the keys; it ends with the process. Raises Busy."""
    with _path().with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Busy("Another process is changing the encryption key.", "rotation") from error
        yield


def _write(ring: Sequence[RingKey]) -> None:
    """Replace the whole file: after a kill it is the old one or the new one."""
    entries = [
        {"key": one.secret, "made_at": one.made_at and one.made_at.isoformat(), "complete": one.complete}
        for one in ring
    ]
    path, unfinished = _path(), _path().with_suffix(".unfinished")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(json.dumps({"keys": entries}, indent=1))
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _parsed(entry: dict[str, object]) -> RingKey:
    made_at = entry["made_at"]
    return RingKey(
        str(entry["key"]), datetime.fromisoformat(str(made_at)) if made_at else None, entry["complete"] is True
    )


def _path() -> Path:
    return Path(settings.DATA_DIR) / FILE


def _derived(text: str | bytes) -> bytes:
    hkdf = HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=b"toolsupport api keys at rest")
    return base64.urlsafe_b64encode(hkdf.derive(force_bytes(text)))
