"""Makes an API key for a person's program."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from toolsupport.core.errors import Busy, ConfigError
from toolsupport.registry.people import api_keys
from toolsupport.registry.people.permissions import Action, may


class Command(BaseCommand):
    help = "Create an API key for a person and print it once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", help="The person whose rights the key has.")
        parser.add_argument("--name", default="command line", help="What the key is for.")

    def handle(self, *args: Any, **options: Any) -> None:
        person = User.objects.filter(username=options["username"], is_active=True).first()
        if person is None:
            raise CommandError(f"There is no person named {options['username']!r} who may sign in.")
        if not may(person, Action.CHAT):
            raise CommandError(f"The role of {options['username']} does not allow to {Action.CHAT}.")
        try:
            self.stdout.write(api_keys.create(person.pk, options["name"]))
        except (Busy, ConfigError) as error:
            raise CommandError(str(error)) from error
