"""Writes a backup of the site to a file."""

from __future__ import annotations

import signal
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from toolsupport.core.errors import ConfigError
from toolsupport.services import site_processes
from toolsupport.services.backups import making


class Command(BaseCommand):
    help = "Write database, files and keys to FILE (complete or not at all), while the site runs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="The archive, a tar. A file with that name is replaced.")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        # As an exception a signal removes the unfinished file, which has every key.
        for number in site_processes.stops():
            signal.signal(number, lambda given, _: sys.exit(128 + given))
        try:
            made = making.make(file)
        except ConfigError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Wrote {file}: {made['bytes']:,} bytes, {made['parts']} parts, readable only by you.")
        if made["keys"] == "environment":
            self.stdout.write("The keys are set in the environment and not in the backup: keep them elsewhere.")
