"""Rotates the key that encrypts stored API keys, tokens and addresses of databases."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from toolsupport.core.errors import Busy, ConfigError
from toolsupport.core.history_sentences import counted
from toolsupport.registry.servers import key_ring, key_rotation

BY_THE_OPERATOR = (
    "The keys of this site come from its environment, so this command cannot store a new one. "
    f"Put a new key first in {key_ring.VARIABLE} (docs/guides/administer.md), restart every process, and run it again. "
    "A new key: "
)


class Command(BaseCommand):
    help = "Encrypt every stored secret with a new key, while the site runs. A run that was killed is continued."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--drop-old", action="store_true", help="Remove the older keys, and make no new one.")
        parser.add_argument(
            "--past-unreadable", action="store_true", help="Continue although some values cannot be read; these stay."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with key_ring.exclusive():
                self.drop_old() if options["drop_old"] else self.rotate(options["past_unreadable"])
        except (Busy, ConfigError) as error:
            raise CommandError(str(error)) from error

    def rotate(self, past_unreadable: bool) -> None:
        if key_ring.from_environment() and len(key_ring.keys()) < 2:
            raise CommandError(BY_THE_OPERATOR + key_ring.new_secret())
        is_new = key_rotation.begin(past_unreadable=past_unreadable)
        self.stdout.write("Made a new key." if is_new else "Continuing with the newest key.")
        count = sum(1 for _ in key_rotation.encrypt_again())
        self.stdout.write(
            f"Encrypted {counted(count, 'value')} with it. Older keys still decrypt, until --drop-old removes them."
        )

    def drop_old(self) -> None:
        if key_ring.from_environment():
            raise CommandError("The keys of this site come from its environment: remove the old ones from it.")
        self.stdout.write(f"Removed {counted(key_rotation.drop_old(), 'older key')}. Backups made before need them.")
