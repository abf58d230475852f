"""Imports and exports files of user_models.json."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
from pathlib import Path

from django.conf import settings

from toolsupport.config.restore_journal import sync_folder
from toolsupport.core import user_models
from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.core.user_models import UserModelsFile
from toolsupport.registry.models import user_models_merge
from toolsupport.registry.models.user_models_merge import MergeConsent, MergePlan

_DIGEST = re.compile(r"[0-9a-f]{64}")
_DAY = 24 * 3600


def take(data: bytes) -> str:
    """Store a valid file until it is merged; return its token. Raises ConfigError; invalid files are stored too."""
    try:
        user_models_merge.plan(user_models.read(data))
    except ConfigError as error:
        kept = _put(f"rejected-{_token(data)}.json", data)
        raise ConfigError(f"{error} Nothing was changed; the file is kept as {kept}.") from error
    _forget_old()
    _put(f"{_token(data)}.json", data)
    return _token(data)


def preview(token: str) -> tuple[MergePlan, ...]:
    """Return the changes that merging a stored file would make now. Raises NotFound, ConfigError."""
    return user_models_merge.plan(_taken(token))


def merge(token: str, ticks: MergeConsent) -> tuple[MergePlan, ...]:
    """Merge a stored file; it stays until all of it is merged. Raises NotFound, ConfigError."""
    merged = user_models_merge.merge(_taken(token), ticks)
    (_directory() / f"{token}.json").unlink(missing_ok=True)
    return merged


def exported() -> str:
    """Return the text of user_models.json for this site."""
    return user_models.write(user_models_merge.exported())


def export_to(path: Path) -> None:
    """Write the file atomically: the earlier file stays until the end."""
    _replace(path, exported().encode())


def _taken(token: str) -> UserModelsFile:
    if not _DIGEST.fullmatch(token):
        raise NotFound("This file does not exist.")
    try:
        return user_models.read((_directory() / f"{token}.json").read_bytes())
    except OSError:
        raise NotFound("This file was already merged, or its preview is older than a day.") from None


def _token(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _directory() -> Path:
    directory: Path = settings.DATA_DIR / "imports"
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    return directory


def _put(name: str, data: bytes) -> Path:
    _replace(_directory() / name, data)
    return _directory() / name


def _replace(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        sync_folder(path.parent)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _forget_old() -> None:
    """Delete files that were not merged within a day; invalid files stay."""
    for path in _directory().glob("*.json"):
        if _DIGEST.fullmatch(path.stem) and path.stat().st_mtime < time.time() - _DAY:
            path.unlink(missing_ok=True)
