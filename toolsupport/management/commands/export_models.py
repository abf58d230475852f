"""Exports the model profiles as user_models.json."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from toolsupport.services import user_models_files


class Command(BaseCommand):
    help = "Write user_models.json to FILE (complete or not at all) or to the terminal."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, help="The file to write. Default, or -: standard output.")

    def handle(self, *args: Any, **options: Any) -> None:
        if str(options["file"] or "-") == "-":
            self.stdout.write(user_models_files.exported(), ending="")
            return
        try:
            user_models_files.export_to(options["file"])
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be written: {error.strerror}.") from error
        self.stdout.write(f"Wrote {options['file']}")
