"""Defines the interface of database tools; the implementation checks permissions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from toolsupport.sources.types import Table, TableShape


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table of a database."""

    database: str
    dialect: str
    table: TableShape


class Databases(Protocol):
    """The readable databases. Both methods raise ToolError with a message for the model."""

    async def tables(self, query: str, count: int) -> Sequence[FoundTable]:
        """Return the tables that match the words best; the first ones if none matches."""
        ...

    async def ask(self, name: str, query: str) -> Table:
        """Return the answer to one query."""
        ...
