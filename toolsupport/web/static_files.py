"""Keeps compressed copies of the static files, those of this version."""

from __future__ import annotations

import logging

from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command

log = logging.getLogger(__name__)


def collect() -> None:
    """Copy and compress what changed. Where that fails, the files themselves are sent, uncompressed."""
    if collected():
        return
    try:
        call_command("collectstatic", interactive=False, verbosity=0)
    except OSError as error:
        log.warning("could not compress the static files, sending them as they are: %s", error)


def collected() -> bool:
    """True where `collectstatic` has copied every file since it last changed.

    Else the files themselves are sent: an old copy would be a page of one version with scripts of another.
    """
    try:
        return all(
            staticfiles_storage.get_modified_time(path) >= storage.get_modified_time(path)
            for finder in get_finders()
            for path, storage in finder.list(None)
        )
    except OSError:
        return False
