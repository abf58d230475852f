"""Reads the databases that one person's chats may use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from channels.db import database_sync_to_async as in_database

from chat.tools.database_interface import FoundTable
from toolsupport.core.errors import ConfigError, ToolError
from toolsupport.core.tool_index import IndexEntry
from toolsupport.registry.databases import sql_sources
from toolsupport.registry.databases.sql_sources import GrantedSource
from toolsupport.services.tool_search import search
from toolsupport.sources import query_process
from toolsupport.sources.types import DatabaseSource, SourceError, Table, TableShape


@dataclass(frozen=True, slots=True)
class PersonDatabases:
    """The databases of a person; the permission is checked again for each call."""

    person: int

    async def tables(self, query: str, count: int) -> Sequence[FoundTable]:
        """Return the tables that match the words best; the first ones if none matches."""
        granted = await in_database(sql_sources.granted)(self.person)
        known = {
            f"{one.name}.{table.name}": FoundTable(one.name, one.dialect, table)
            for one in granted
            for table in one.tables
        }
        best = await search([_entry(name, found.table) for name, found in known.items()], query, count)
        return [known[entry.name] for entry in best] or list(known.values())[:count]

    async def ask(self, name: str, query: str) -> Table:
        """Return the answer to one query. Raises ToolError."""
        try:
            return await query_process.query(await in_database(self._source)(name), query)
        except (SourceError, ConfigError) as error:
            raise ToolError(str(error)) from None

    def _source(self, name: str) -> DatabaseSource:
        granted = sql_sources.granted(self.person)
        return sql_sources.reached(_named(name, granted).id)


def _named(name: str, granted: Sequence[GrantedSource]) -> GrantedSource:
    """Return the database of that name, in any case. Raises ToolError with the existing names."""
    wanted = name.strip().casefold()
    found = next((one for one in granted if one.name.casefold() == wanted), None)
    if found is None:
        names = ", ".join(one.name for one in granted) or "none that this chat may read"
        raise ToolError(f"There is no database called {name!r}. Databases: {names}.")
    return found


def _entry(name: str, table: TableShape) -> IndexEntry:
    columns = " ".join(f"{column.name} {column.comment}".strip() for column in table.columns)
    return IndexEntry(name, f"{table.comment} {columns}".strip())
