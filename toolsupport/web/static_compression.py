"""Keeps compressed copies of this version's static files."""

from __future__ import annotations

import logging

from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command

from toolsupport.web.static_bundles import style_bundle

log = logging.getLogger(__name__)


def collect() -> None:
    """Copy and compress changed files. On a failure the files themselves are sent, uncompressed."""
    if collected():
        return
    try:
        call_command("collectstatic", interactive=False, verbosity=0)
    except (OSError, ValueError) as error:
        log.warning("could not compress and bundle the static files, sending them as they are: %s", error)


def collected() -> bool:
    """Return True if `collectstatic` has copied and bundled every file since its last change.

    Otherwise the files themselves are sent: old copies would mix the scripts of two versions.
    """
    try:
        bundled = staticfiles_storage.get_modified_time(style_bundle())
        return all(
            min(bundled, staticfiles_storage.get_modified_time(path)) >= storage.get_modified_time(path)
            for finder in get_finders()
            for path, storage in finder.list(None)
        )
    except OSError:
        return False
