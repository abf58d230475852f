"""Refreshes the list of models from the servers."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from django.core.management.base import BaseCommand, CommandError

from toolsupport import providers
from toolsupport.config.application_paths import COMMAND
from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.registry.servers import servers
from toolsupport.registry.servers.servers import ListedServer
from toolsupport.services import refresh
from toolsupport.services.refresh import RefreshResult


class Command(BaseCommand):
    help = "List the models of every server, or of one. Exit 1 if a server does not answer."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--server", help="The name of one server. Default: all that are switched on.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            asked = async_to_sync(self.ask)(options["server"])
        except (ConfigError, NotFound) as error:
            raise CommandError(str(error)) from error
        if not asked:
            raise CommandError(f"There is no server yet. Add one: {COMMAND} add_server NAME URL --kind ollama")
        if any(one.why for one in asked):
            raise CommandError("Not every server is online.")

    async def ask(self, name: str | None) -> list[RefreshResult]:
        """Query the servers in turn, so that each line is printed as soon as its server answers."""
        try:
            await refresh.ensure_servers()
            return [await self.ask_one(server) for server in await database_sync_to_async(chosen)(name)]
        finally:
            await providers.close()

    async def ask_one(self, server: ListedServer) -> RefreshResult:
        if self.stdout.isatty():
            self.stdout.write(f"{server.name} … ", ending="\r")
            self.stdout.flush()
        asked = await refresh.refresh(server.id)
        words = f"models {asked.models}, described again {asked.described}"
        if asked.why:
            down = await database_sync_to_async(servers.shown)(server.id)
            words = f"{down.badge}. {down.why}"
        self.stdout.write(f"{server.name}: {words}")
        return asked


def chosen(name: str | None) -> list[ListedServer]:
    """Return the servers to query. Raises NotFound for an unknown name."""
    ids = (servers.id_of(name),) if name else servers.enabled_ids()
    return [servers.shown(server_id) for server_id in ids]
