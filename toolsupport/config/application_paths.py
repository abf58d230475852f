"""Finds the files of the application: in its repository, or inside an installed package."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
# Packages are imported from here: the root of the repository, or the folder into which pip installs.
IMPORT_ROOT = PACKAGE.parent
# A wheel has the folders `templates` and `static` of the repository inside (pyproject.toml).
_INSIDE = PACKAGE / "assets"
INSTALLED = _INSIDE.is_dir()
COMMAND = "toolsupport" if INSTALLED else "manage.py"


def asset(name: str) -> Path:
    """Return the folder `templates` or `static`."""
    return (_INSIDE if INSTALLED else IMPORT_ROOT) / name


def data_dir(given: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the data directory; `given` is the setting. Raises RuntimeError if a home is needed and there is none.

    Without a setting, data never goes among the packages: it goes where programs keep data in the home of a person.
    """
    if given:
        return (Path.cwd() if INSTALLED else IMPORT_ROOT) / Path(given).expanduser()
    if not INSTALLED:
        return IMPORT_ROOT / "data"
    shared = environ.get("XDG_DATA_HOME", "")
    # The standard of freedesktop.org demands that relative paths are ignored.
    home = Path(shared) if shared.startswith("/") else Path("~/.local/share").expanduser()
    return home / "toolsupport"
