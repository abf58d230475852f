"""Makes a one-time link that signs a person in."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from toolsupport.core.errors import NotFound
from toolsupport.registry.factors import second_factors
from toolsupport.registry.people import sign_in_links
from toolsupport.services import serve_lock


class Command(BaseCommand):
    help = "Print a link that signs a person in once, within 15 minutes. It needs no password, code or provider."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", help="The person to sign in.")
        forgets = "Also remove the second factor of this person, who lost the device and the recovery codes."
        parser.add_argument("--remove-second-factor", action="store_true", help=forgets)
        parser.add_argument("--url", default="", help="Address of the site. Default: the first of TOOLSUPPORT_ORIGINS.")

    def handle(self, *args: Any, **options: Any) -> None:
        serve_lock.adopt_address()
        site = (options["url"] or settings.ORIGINS[0]).rstrip("/")
        try:
            token = sign_in_links.make(options["username"])
        except NotFound as error:
            raise CommandError(str(error)) from error
        if options["remove_second_factor"] and not second_factors.remove_here(options["username"]):
            self.stderr.write(f"{options['username']} has no second factor.")
        self.stdout.write(f"{site}{reverse('sign-in-link')}?token={token}")
