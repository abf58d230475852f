"""Deletes rows that are older than the settings allow."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import BaseCommand

from chat.turns import retention

NOTHING = "No TOOLSUPPORT_KEEP_…_DAYS is set, so everything is kept."


class Command(BaseCommand):
    help = "Delete what is older than TOOLSUPPORT_KEEP_…_DAYS allow, now; a running site does so every 30 minutes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="Print the counts, and delete nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        found = retention.counts() if options["dry_run"] else async_to_sync(retention.prune)(float("inf"))
        verb = "Would delete" if options["dry_run"] else "Deleted"
        self.stdout.write(f"{verb}: {retention.in_words(found)}" if found else NOTHING)
