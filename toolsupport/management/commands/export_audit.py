"""Writes the audit log as JSON lines."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from toolsupport.registry.people import audit_log


class Command(BaseCommand):
    help = "Print the audited actions as JSON lines, the oldest first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--after", type=int, default=0, metavar="ID", help="Only actions after the one with this id."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        for piece in audit_log.lines(options["after"]):
            self.stdout.write(piece, ending="")
