"""The interface that tools for databases need; permissions are checked behind it."""

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
    """The databases that may be read. Both raise ToolError with words for the model."""

    async def tables(self, query: str, count: int) -> Sequence[FoundTable]:
        """The tables that fit some words best; where none fits, the first ones."""
        ...

    async def ask(self, name: str, query: str) -> Table:
        """The answer to one query."""
        ...
