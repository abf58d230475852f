"""Migrates a database by the files that squashed ones replace: `python -m tests.upgrades.old_files app=name …`."""

from __future__ import annotations

import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolsupport.config.settings")
django.setup()

from django.db import connection  # noqa: E402
from django.db.migrations.executor import MigrationExecutor  # noqa: E402
from django.db.migrations.loader import MigrationLoader  # noqa: E402


def main() -> None:
    executor = MigrationExecutor(connection)
    executor.loader = MigrationLoader(connection, replace_migrations=False)
    executor.migrate([(app, name) for app, _, name in (word.partition("=") for word in sys.argv[1:])])


if __name__ == "__main__":
    main()
