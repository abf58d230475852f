"""Deletes the data of a person."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import BaseCommand, CommandError

from chat.turns import person_deletion
from toolsupport.core.errors import Busy, NotAllowed, NotFound
from toolsupport.registry.people import deletion
from toolsupport.registry.people.deletion import DeletionOrder
from toolsupport.services.backups import kept_backups


class Command(BaseCommand):
    help = "Delete the chats, files, prompts, keys, sessions and the name of a person. Audit and evidence stay."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", help="The username of the person.")
        parser.add_argument("--yes", action="store_true", help="Delete the data. Without this, nothing is changed.")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["username"]
        if not options["yes"]:
            raise CommandError(f"Nothing was changed. Add --yes to delete the data of {name}; this cannot be undone.")
        try:
            person = deletion.number_of(name)
            async_to_sync(person_deletion.delete)(DeletionOrder(person, name))
        except (Busy, NotAllowed, NotFound) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Deleted. Remaining entries name “{deletion.DELETED}{person}”. Backups still have the data.")
        for copy in kept_backups.copies():
            self.stdout.write(f"Delete this copy too: {copy}")
