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
from toolsupport.services.database_schema_refresh import refresh_schema
from toolsupport.services.tool_search import search
from toolsupport.sources import query_process
from toolsupport.sources.types import SourceError, Table, TableShape


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
        """Return the answer to one query, and store that the database was reached, or why not. Raises ToolError."""
        source = _named(name, await in_database(sql_sources.granted)(self.person))
        try:
            answer = await query_process.query(await in_database(sql_sources.reached)(source.id), query)
        except (SourceError, ConfigError) as error:
            await in_database(sql_sources.keep_query)(source.id, error.words)
            raise ToolError(str(error)) from None
        if source.tables:
            await in_database(sql_sources.keep_query)(source.id)
        else:  # it was never checked
            await refresh_schema(source.id)
        return answer


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
