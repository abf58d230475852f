"""Adds a model server."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import BaseCommand, CommandError

from toolsupport import providers
from toolsupport.core.errors import ConfigError
from toolsupport.registry.servers import servers
from toolsupport.registry.servers.server_edits import NETWORK
from toolsupport.services import refresh
from toolsupport.services.refresh import RefreshResult


class Command(BaseCommand):
    help = (
        "Add a model server and list its models. A server that does not answer is added too, with the reason printed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="The name of the server on this site.")
        parser.add_argument("url", nargs="?", default="", help="Its address. Default: the usual one of its kind.")
        kinds = [kind for kind in providers.PROVIDERS if kind != "simulator"]
        parser.add_argument("--kind", required=True, choices=kinds, help="What kind of server it is.")
        parser.add_argument(
            "--outside-only",
            action="store_true",
            help="Allow no address on this machine or in a private network. Default: both are allowed.",
        )
        parser.add_argument(
            "--api-key-env", metavar="VAR", help="Name of the environment variable that holds its API key."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            key = key_from(options["api_key_env"])
            inside = not options["outside_only"]
            new = servers.NewServer(options["name"], options["kind"], options["url"], key, "command", inside)
            server_id = servers.add(new)
        except ConfigError as error:
            raise CommandError(str(error)) from error
        asked = async_to_sync(ask)(server_id)
        state = f"it cannot be used yet: {asked.why}" if asked.why else f"it answers, models: {asked.models}"
        network = "" if inside else f", {NETWORK[inside]}"
        self.stdout.write(f"Added {options['name']}{network}; {state}")


def key_from(variable: str | None) -> str:
    """Return the key in that variable; on a command line it would stay in the shell's history. Raises ConfigError."""
    if not variable:
        return ""
    if not os.environ.get(variable):
        raise ConfigError(f"The environment variable {variable} is not set.")
    return os.environ[variable]


async def ask(server_id: int) -> RefreshResult:
    try:
        return await refresh.refresh(server_id)
    finally:
        await providers.close()
