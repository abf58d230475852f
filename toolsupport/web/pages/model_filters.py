"""Filters of the models page, with choices computed from the models."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from toolsupport.core.evidence_state import STATES
from toolsupport.registry.models.profiles import ModelRow

# What a filter is called, and which of its values a model has.
FILTERS: Mapping[str, tuple[str, Callable[[ModelRow], str]]] = MappingProxyType(
    {
        "server": ("Server", lambda row: row.server),
        "family": ("Family", lambda row: row.family),
        "tools": ("Tools", lambda row: STATES[row.evidence.state]),
        "source": ("Source", lambda row: row.source),
    }
)
REVIEW = "review"


@dataclass(frozen=True, slots=True)
class FilterChoice:
    """A filter as the page shows it; `chosen` is "" if it is not set."""

    name: str
    title: str
    values: tuple[str, ...]
    chosen: str


def sifted(rows: Sequence[ModelRow], wanted: Mapping[str, str], needing: Collection[int]) -> tuple[ModelRow, ...]:
    """Return the models that match every filter; `needing` are the ids of those that need review."""
    words = wanted.get("q", "").lower().split()
    named = [row for row in rows if all(word in f"{row.name} {row.server}".lower() for word in words)]
    kept = [row for row in named if all(_passes(row, name, wanted) for name in FILTERS)]
    return tuple(row for row in kept if not wanted.get(REVIEW) or row.id in needing)


def choices(rows: Sequence[ModelRow], wanted: Mapping[str, str]) -> tuple[FilterChoice, ...]:
    """Return the filter choices among these models."""
    return tuple(
        FilterChoice(name, title, tuple(sorted({value(row) for row in rows} - {""})), wanted.get(name, ""))
        for name, (title, value) in FILTERS.items()
    )


def _passes(row: ModelRow, name: str, wanted: Mapping[str, str]) -> bool:
    return not wanted.get(name) or FILTERS[name][1](row) == wanted[name]
