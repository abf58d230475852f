"""Filters and orders of the models page, with choices computed from the models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from django.utils.http import urlencode

from toolsupport.core.evidence_state import STATES
from toolsupport.core.name_order import by_name
from toolsupport.registry.models.profiles import ModelRow

# Filter → its label, and the value of a model.
FILTERS: Mapping[str, tuple[str, Callable[[ModelRow], str]]] = MappingProxyType(
    {
        "server": ("Server", lambda row: row.server),
        "family": ("Family", lambda row: row.family),
        "source": ("Source", lambda row: row.source),
        "schema": ("Output follows a schema", lambda row: row.follows_schema),
    }
)
LONGEST, WORDS = 1_000, 8  # limits of a search in characters and words, since each word is looked for in every model
REVIEW, STATE, OLDER = "review", "state", "older"
CHOSEN = (STATE, REVIEW, OLDER, "sort")  # parameters that a search keeps besides its own fields
# Order → its key; a minus reverses it.
SORTS: Mapping[str, Callable[[ModelRow], Any]] = MappingProxyType(
    {
        "model": lambda row: by_name(row.name, row.server),
        "tools": lambda row: [*STATES].index(row.evidence.state),
        "context": lambda row: -row.context,
    }
)


@dataclass(frozen=True, slots=True)
class FilterChoice:
    """A filter on the page; `chosen` is "" if it is not set."""

    name: str
    title: str
    values: tuple[str, ...]
    chosen: str


@dataclass(frozen=True, slots=True)
class StateCount:
    """The models in one state: a part of the bar, from `start` on, both in percent, and a filter."""

    state: str
    word: str
    look: str
    count: int
    start: float
    share: float


@dataclass(frozen=True, slots=True)
class FilterChip:
    """A filter as one link: `query` adds it to the others, or removes it if it is `on`."""

    name: str
    word: str
    look: str
    count: int
    on: bool
    query: str


def sifted(rows: Sequence[ModelRow], wanted: Mapping[str, str], needing: Collection[int]) -> tuple[ModelRow, ...]:
    """Return the models that match every filter, in the chosen order; `needing` are the ids of those to review."""
    kept = [row for row in named(rows, wanted) if wanted.get(STATE, row.evidence.state) in ("", row.evidence.state)]
    kept = [row for row in kept if not wanted.get(REVIEW) or row.id in needing]
    kept = [row for row in kept if not wanted.get(OLDER) or row.older]
    order = wanted.get("sort", "")
    key = SORTS.get(order.removeprefix("-"))
    return tuple(sorted(kept, key=key, reverse=order.startswith("-")) if key else kept)


def named(rows: Sequence[ModelRow], wanted: Mapping[str, str]) -> list[ModelRow]:
    """Return the models that match the search and the filters, in any state."""
    words = wanted.get("q", "")[:LONGEST].lower().split()[:WORDS]
    found = [row for row in rows if all(word in f"{row.name} {row.server}".lower() for word in words)]
    return [row for row in found if all(_passes(row, name, wanted) for name in FILTERS)]


def choices(rows: Sequence[ModelRow], wanted: Mapping[str, str]) -> tuple[FilterChoice, ...]:
    """Return the filter choices among these models."""
    return tuple(
        FilterChoice(name, title, tuple(sorted({value(row) for row in rows} - {""}, key=by_name)), wanted.get(name, ""))
        for name, (title, value) in FILTERS.items()
    )


def states(rows: Sequence[ModelRow]) -> list[StateCount]:
    """Return how many of these models are in each state."""
    counts = Counter(row.evidence.state for row in rows)
    looks = {row.evidence.state: row.evidence.look for row in rows}
    found: list[StateCount] = []
    start = 0.0
    for state, word in STATES.items():
        share = round(100 * counts[state] / len(rows), 1) if rows else 0.0
        if counts[state]:
            found.append(StateCount(state, word, looks[state], counts[state], round(start, 1), share))
        start += share
    return found


def chosen(wanted: Mapping[str, str]) -> dict[str, str]:
    """Return the chosen chips and the order, which a search keeps."""
    return {name: wanted[name] for name in CHOSEN if wanted.get(name)}


def chips(
    rows: Sequence[ModelRow], counts: Sequence[StateCount], wanted: Mapping[str, str], needing: Collection[int]
) -> list[FilterChip]:
    """Return chips of these models that keep search and filters: states, those to review, those to test again."""
    state = wanted.get(STATE, "")
    found = [FilterChip("all", "All", "", len(rows), not state, _query(wanted, STATE, ""))]
    for one in counts:
        on = one.state == state
        query = _query(wanted, STATE, "" if on else one.state)
        found.append(FilterChip(one.state, one.word, one.look, one.count, on, query))
    marked = (REVIEW, "To review", sum(row.id in needing for row in rows)), (OLDER, "To test again", _older(rows))
    for name, word, count in marked:
        on = bool(wanted.get(name))
        if count or on:
            found.append(FilterChip(name, word, "", count, on, _query(wanted, name, "" if on else "1")))
    return found


def _older(rows: Sequence[ModelRow]) -> int:
    """Return how many of these models were tested on an older build."""
    return sum(row.older for row in rows)


def _query(wanted: Mapping[str, str], name: str, value: str) -> str:
    kept = {key: wanted[key] for key in ("q", *FILTERS, *CHOSEN) if wanted.get(key)} | {name: value}
    return "?" + urlencode({key: given for key, given in kept.items() if given})


def orders(now: str) -> dict[str, str]:
    """Return the order that a click on each heading chooses: the current one is reversed."""
    return {name: f"-{name}" if now == name else name for name in SORTS}


def _passes(row: ModelRow, name: str, wanted: Mapping[str, str]) -> bool:
    return not wanted.get(name) or FILTERS[name][1](row) == wanted[name]
