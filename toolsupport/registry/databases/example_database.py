"""Creates a small example database to query: the orders of a tea shop."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from django.conf import settings

from toolsupport.config import environment
from toolsupport.registry.databases.sql_sources import NewSource, add
from toolsupport.registry.people.permissions import ROLES, Action

NAME = "shop"
SCHEMA = """
CREATE TABLE teas (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL NOT NULL);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    day TEXT NOT NULL,
    customer TEXT NOT NULL,
    tea_id INTEGER NOT NULL REFERENCES teas(id),
    cups INTEGER NOT NULL
);
"""
TEAS = (("green", 3.0), ("black", 2.8), ("jasmine", 4.0), ("rooibos", 3.2))
CUSTOMERS = ("Anna", "Ben", "Chloe", "Dmitri", "Esra", "Femi")
# Orders in each month of a year, so that months differ.
BUSY = (31, 28, 36, 25, 22, 18, 15, 17, 26, 33, 40, 52)


def install() -> int:
    """Create the file and let everybody's chats read it; return the source's id. Raises ConfigError if it exists."""
    source = add(NewSource(NAME, "sqlite", str(path()), [role for role, may in ROLES.items() if Action.CHAT in may]))
    write(path())
    return source


def path() -> Path:
    """Return the path of the file."""
    return environment.data_dir(settings.ENV) / "examples" / "shop.sqlite3"


def write(where: Path) -> None:
    """Write the file again, with the same rows each time."""
    where.parent.mkdir(exist_ok=True, mode=0o700)
    where.unlink(missing_ok=True)
    with closing(sqlite3.connect(where)) as connection, connection:
        connection.executescript(SCHEMA)
        connection.executemany("INSERT INTO teas (name, price) VALUES (?, ?)", TEAS)
        connection.executemany("INSERT INTO orders (day, customer, tea_id, cups) VALUES (?, ?, ?, ?)", orders())


def orders() -> list[tuple[str, str, int, int]]:
    """Return (day, customer, tea, cups), by day."""
    found = []
    for month, count in enumerate(BUSY, start=1):
        for number in range(count):
            day = f"2025-{month:02}-{1 + number * 28 // count:02}"
            step = number * 7 + month
            found.append((day, CUSTOMERS[step % len(CUSTOMERS)], 1 + step % len(TEAS), 1 + step % 3))
    return found
