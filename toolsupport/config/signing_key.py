"""Returns the signing key of the site, and makes one at the first start."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolsupport.config.restore_journal import sync_folder
from toolsupport.core.errors import ConfigError

FILE = "secret_key"


def of_site(values: Mapping[str, Any], directory: Path) -> str:
    """Return the signing key from the environment, else from a file for its owner only. Raises ConfigError."""
    try:
        return str(values["TOOLSUPPORT_SECRET_KEY"]) or _stored(directory) or _made(directory)
    except OSError as error:
        raise ConfigError(f"The signing key cannot be read from or saved in {directory}: {error.strerror}.") from error


def _made(directory: Path) -> str:
    """Return a new key, or that of a process that started at the same moment. Its file is complete or absent."""
    folder = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if not (key := _stored(directory)):
            key, unfinished = secrets.token_urlsafe(50), directory / f"{FILE}.unfinished"
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(key)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(directory / FILE)
            sync_folder(directory)
    finally:
        os.close(folder)
    return key


def _stored(directory: Path) -> str:
    """Return the key in the file; "" without one, or for an empty file, as a loss of power can leave it."""
    try:
        return (directory / FILE).read_text().strip()
    except FileNotFoundError:
        return ""
