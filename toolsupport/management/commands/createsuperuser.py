"""Creates an administrator; unlike Django's own command it never skips the rules for passwords."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from getpass import getpass
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from toolsupport.registry.people import first_admin

NAME, PASSWORD = "DJANGO_SUPERUSER_USERNAME", "DJANGO_SUPERUSER_PASSWORD"


class Command(BaseCommand):
    help = "Create an administrator."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--username", default=os.environ.get(NAME, ""), help="The name to sign in with.")
        parser.add_argument(
            "--noinput", "--no-input", action="store_true", help=f"Read the password from {PASSWORD}, without prompts."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        name, password = options["username"], os.environ.get(PASSWORD, "")
        if not options["noinput"]:
            name = name or input("Name: ")
            password = _entered()
        if not name or not password:
            raise CommandError(f"A name (--username) and a password ({PASSWORD}) are needed.")
        try:
            first_admin.add_admin(name, password)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(f"{name} is an administrator now.")


def _entered() -> str:
    password = getpass("Password: ")
    if getpass("Password again: ") != password:
        raise CommandError("The two passwords are not the same.")
    return password
