"""Finds the newest entries of the history that match a filter, in a table of any size.

A filter has at most a subject (model or server, person) and a set of facets. An index has the newest entries of each
facet together, so a query merges one short scan per facet. Without a subject only the facets of entries on their own
are scanned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import connection

from toolsupport.models import HistoryFacet, ModelProfile
from toolsupport.registry import raw_sql


@dataclass(frozen=True, slots=True)
class TimelineFilter:
    """The filter; None and "" match everything. `since` is included, `until` is not.

    `every`: include the findings inside tests and the entries inside bundles, as files have them. Otherwise findings
    are left out, and the entries of a bundle are listed one by one only under a filter by subject or kind.
    """

    profile: int | None = None
    server: int | None = None
    source: str = ""
    verdict: str = ""
    kind: str = ""
    actor: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    every: bool = False

    def about(self) -> dict[str, int]:
        """The columns of the subjects with their required values."""
        given = {f"{name}_id": getattr(self, name) for name in ("profile", "server", "actor")}
        return {column: value for column, value in given.items() if value}

    def facet(self) -> dict[str, str]:
        """The required kind, source and verdict."""
        given = {name: getattr(self, name) for name in ("kind", "source", "verdict")}
        return {name: value for name, value in given.items() if value}

    @property
    def open(self) -> bool:
        """Whether it looks for no subject and no kind: bundles are then one entry each."""
        return not self.about() and not self.facet()


@dataclass(frozen=True, slots=True)
class TimelineCursor:
    """The end of a page: the next one begins with older entries."""

    at: datetime
    id: int

    def __str__(self) -> str:
        return f"{self.at.isoformat()}_{self.id}"

    @classmethod
    def read(cls, written: str) -> TimelineCursor | None:
        """Parse the text that `str` wrote; None for an empty or invalid text."""
        at, _, number = written.rpartition("_")
        try:
            moment = datetime.fromisoformat(at)
            # In UTC, as the database compares it: the first and the last hours of the calendar have none.
            return cls(moment.astimezone(UTC), int(number[:18])) if moment.tzinfo else None
        except (ValueError, OverflowError):
            return None


# SQLite takes 500 parts in one statement.
AT_ONCE = 100
PART = """SELECT * FROM (SELECT at, id FROM toolsupport_historyentry WHERE {conditions}
ORDER BY at DESC, id DESC LIMIT %s) AS walk"""
# PostgreSQL plans a union of many parts slowly; this form scans once per facet instead.
FOR_EACH = """SELECT walk.at, walk.id FROM UNNEST(STRING_TO_ARRAY(%s::text, ',')::bigint[]) AS facet (id)
CROSS JOIN LATERAL
(SELECT at, id FROM toolsupport_historyentry AS entry WHERE entry.facet_id = facet.id AND {conditions}
ORDER BY at DESC, id DESC LIMIT %s) AS walk ORDER BY walk.at DESC, walk.id DESC LIMIT %s"""

# The numbers of facets are part of the statement: they come from the database, and are few.
COUNT = """SELECT CAST(%s AS INTEGER), COUNT(*) FROM
(SELECT 1 FROM toolsupport_historyentry WHERE facet_id IN ({facets}) LIMIT %s) AS counted"""

# A condition with a value, or a literal without one: SQLite does not use a partial index for a parameter.
Conditions = list[tuple[str, *tuple[object, ...]]]
TimelineRows = list[tuple[Any, int]]


def newest(wanted: TimelineFilter, after: TimelineCursor | None, most: int) -> list[int]:
    """Return at most so many ids of the newest entries, or of those after a place."""
    about = wanted.about()
    if "profile_id" in about and "server_id" in about:
        # A model has one server: the second condition is either redundant or matches nothing.
        server = about.pop("server_id")
        if not ModelProfile.objects.filter(pk=about["profile_id"], server_id=server).exists():
            return []
    conditions = [*((f"{column} = %s", value) for column, value in about.items()), *_time(wanted, after)]
    if wanted.open and wanted.every:
        return [entry for _, entry in _walk([conditions], most)]
    facets = HistoryFacet.objects.filter(**wanted.facet()).order_by("pk")
    if not wanted.every:
        # By facet and not by `lead_id IS NULL`: SQLite would take the index of that column and sort all entries.
        facets = facets.filter(depth__lt=HistoryFacet.MEMBER if wanted.open else HistoryFacet.FINDING)
    walk = _for_each if connection.vendor == "postgresql" else _side_by_side
    return [entry for _, entry in walk(list(facets.values_list("pk", flat=True)), conditions, most)]


def counts(filters: Sequence[TimelineFilter], most: int) -> list[int]:
    """Return how many entries match each of these filters, at most `most`; only facets count."""
    every = list(HistoryFacet.objects.all())
    parts = []
    for wanted in filters:
        needed = wanted.facet().items()
        fitting = (one for one in every if all(getattr(one, name) == value for name, value in needed))
        facets = [one.pk for one in fitting if one.depth < HistoryFacet.FINDING]
        parts.append(COUNT.replace("{facets}", ",".join(map(str, facets)) or "NULL"))
    rows = raw_sql.rows(
        " UNION ALL ".join(parts), *(value for place, _ in enumerate(filters) for value in (place, most))
    )
    found = dict(rows)
    return [found[place] for place, _ in enumerate(filters)]


def _time(wanted: TimelineFilter, after: TimelineCursor | None) -> Conditions:
    found: Conditions = []
    if wanted.since is not None:
        found.append(("at >= %s", wanted.since))
    if wanted.until is not None:
        found.append(("at < %s", wanted.until))
    if after is not None:
        # Written like this, and not as "earlier, or at the same time with a lower id", it is one range of the index.
        found += [("at <= %s", after.at), ("NOT (at = %s", after.at), ("id >= %s)", after.id)]
    return found


def _where(conditions: Conditions) -> tuple[str, list[object]]:
    """Return the conditions with their values."""
    values = [value for _, *given in conditions for value in given]
    return " AND ".join(where for where, *_ in conditions) or "1 = 1", values


def _for_each(facets: list[int], conditions: Conditions, most: int) -> TimelineRows:
    where, values = _where(conditions)
    statement = FOR_EACH.replace("{conditions}", where)
    listed = ",".join(map(str, facets))
    return [(at, entry) for at, entry in raw_sql.rows(statement, listed, *values, most, most)]


def _side_by_side(facets: list[int], conditions: Conditions, most: int) -> TimelineRows:
    walks: list[Conditions] = [[*conditions, ("facet_id = %s", facet)] for facet in facets]
    parts = [walks[first : first + AT_ONCE] for first in range(0, len(walks), AT_ONCE)]
    return sorted((found for part in parts for found in _walk(part, most)), reverse=True)[:most]


def _walk(walks: list[Conditions], most: int) -> TimelineRows:
    """Return (at, id) of the newest entries from all of these index scans."""
    parts, values = [], list[object]()
    for conditions in walks:
        where, given = _where(conditions)
        parts.append(PART.replace("{conditions}", where))
        values += [*given, most]
    statement = " UNION ALL ".join(parts) + " ORDER BY at DESC, id DESC LIMIT %s"
    return [(at, entry) for at, entry in raw_sql.rows(statement, *values, most)]
