"""Restores the site from a backup."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from toolsupport.core.errors import ConfigError
from toolsupport.services.backups import restoring


class Command(BaseCommand):
    help = "Put the state of a backup in place of the present one: all of it or nothing. Stop the site first."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="The archive, as `backup` wrote it.")
        parser.add_argument("--yes", action="store_true", help="Replace a database and files that are in use.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            done = restoring.restore(options["file"], replace=options["yes"])
        except ConfigError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Restored the backup of {done.made_at}, made by version {done.version}.")
        if done.kept:
            self.stdout.write(f"The state from before is in {done.kept} until the next restore.")
        for note in done.notes:
            self.stdout.write(note)
