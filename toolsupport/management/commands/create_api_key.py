"""Makes an API key for a person's program."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from toolsupport.core.errors import Busy, ConfigError
from toolsupport.core.quota_rules import Quota
from toolsupport.registry.people import api_keys
from toolsupport.registry.people.api_keys import KeyLimits
from toolsupport.registry.people.permissions import SCOPES, Action, may


class Command(BaseCommand):
    help = "Create an API key for a person and print it once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", help="The person whose rights the key has.")
        parser.add_argument("--name", default="command line", help="What the key is for.")
        parser.add_argument("--scope", action="append", choices=sorted(SCOPES), help="What it may do. Repeatable.")
        parser.add_argument("--requests-per-day", type=int, help="Its own quota, within that of the person.")
        parser.add_argument("--expires", metavar="DATE", help="The day on which it expires, as 2027-01-31 (UTC).")

    def handle(self, *args: Any, **options: Any) -> None:
        person = User.objects.filter(username=options["username"], is_active=True).first()
        if person is None:
            raise CommandError(f"There is no person named {options['username']!r} who may sign in.")
        if not may(person, Action.CHAT):
            raise CommandError(f"{options['username']} may not {Action.CHAT}: the role does not allow it.")
        limits = KeyLimits(options["scope"] or (), _day(options["expires"]), Quota(options["requests_per_day"]))
        try:
            self.stdout.write(api_keys.create(person.pk, options["name"], limits))
        except (Busy, ConfigError) as error:
            raise CommandError(str(error)) from error


def _day(written: str | None) -> datetime | None:
    try:
        return datetime.strptime(written, "%Y-%m-%d").replace(tzinfo=UTC) if written else None
    except ValueError:
        raise CommandError(f"{written!r} is not a day. Write it as 2027-01-31.") from None
