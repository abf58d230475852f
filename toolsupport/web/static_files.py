"""Finds out whether the compressed copies of the static files are those of this version."""

from __future__ import annotations

from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.storage import staticfiles_storage


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
    except FileNotFoundError:
        return False
