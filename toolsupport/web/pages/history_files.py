"""Writes the history as a file, in a stream."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import asdict
from itertools import count
from types import MappingProxyType
from typing import Any

from asgiref.sync import sync_to_async

from toolsupport.core import spreadsheet
from toolsupport.registry.history import timeline
from toolsupport.registry.history.timeline import TimelineEntry
from toolsupport.registry.history.timeline_query import TimelineFilter

COLUMNS = (
    *("id", "at", "kind", "server", "model", "capability", "before", "after", "source", "verdict", "actor", "text"),
    *("state", "detection", "evidence"),
)


def plain(entry: TimelineEntry) -> dict[str, Any]:
    """Return the form of an entry in files."""
    values = asdict(entry) | {"at": entry.at.isoformat()}
    return {name: values[name] for name in COLUMNS}


def as_csv(wanted: TimelineFilter) -> Iterator[str]:
    """Yield a header, then a line for each entry."""
    yield spreadsheet.lines([COLUMNS])
    for entries in timeline.batches(wanted):
        yield spreadsheet.lines([[_text(value) for value in plain(entry).values()] for entry in entries])


def as_json(wanted: TimelineFilter) -> Iterator[str]:
    """Yield a list of objects."""
    number = count()
    yield "["
    for entries in timeline.batches(wanted):
        yield "".join(f"{',' if next(number) else ''}\n{json.dumps(plain(entry))}" for entry in entries)
    yield "\n]\n"


# File extension → (its type, its writer).
FILES: Mapping[str, tuple[str, Callable[[TimelineFilter], Iterator[str]]]] = MappingProxyType(
    {"csv": ("text/csv; charset=utf-8", as_csv), "json": ("application/json", as_json)}
)


async def streamed(pieces: Iterator[str]) -> AsyncIterator[str]:
    """Yield the pieces, each read in a database thread."""
    while piece := await sync_to_async(_next)(pieces):
        yield piece


def _next(pieces: Iterator[str]) -> str:
    """Return the next piece, "" at the end: a StopIteration cannot leave a thread."""
    return next(pieces, "")


def _text(value: Any) -> Any:
    """Return objects as JSON, "" for an empty one."""
    return value if not isinstance(value, dict) else json.dumps(value) if value else None
