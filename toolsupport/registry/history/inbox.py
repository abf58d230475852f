"""Finds the changes to review: proposals, changed results of tests, and objections without an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import Any

from django.db import connection
from django.db.models import BigIntegerField, Exists, Max, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from toolsupport.models import Detection, HistoryEntry, HistoryFacet
from toolsupport.registry import raw_sql, row_cache
from toolsupport.registry.knowledge.effective_values import display_name
from toolsupport.registry.knowledge.reviews import AGREES, DECIDED, DISAGREES, REOPENED, flags_waiting, open_proposals

# Only the newest tests are read, so that the list is quick for any number of tests.
WINDOW = 1_000
NO_RESULT = ("", "inconclusive")
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class WaitingEntry:
    """An entry (id) that waits. `objection` is the text of a person against it, by `objector`; both "" without one."""

    entry: int
    objection: str = ""
    objector: str = ""


def waiting(most: int) -> list[WaitingEntry]:
    """Return the changes to review, newest first. Two queries, the second one only for objections."""
    found, flags = _sorted(row_cache.read(_found, most))
    objections = {one.entry: one for one in _objections(flags)}
    both = {entry: WaitingEntry(entry) for entry in found} | objections
    return sorted(both.values(), key=lambda one: one.entry, reverse=True)[:most]


def count(most: int) -> int:
    """Return the number of waiting entries, at most `most`: one query, none while no row changes."""
    return _counted(row_cache.read(_found, most), most)


def count_with(most: int, statement: str, values: Sequence[object]) -> tuple[int, Rows]:
    """Return the same and the rows of another statement, which gives (id, kind): both in one query.

    If the count is kept, only the other statement runs.
    """
    others: Rows | None = None

    def both() -> Rows:
        nonlocal others
        sql, parameters = _query(connection.vendor, 2 * most)
        joined = f"SELECT * FROM ({sql}) AS waiting UNION ALL SELECT other.*, -1 FROM ({statement}) AS other"
        found = raw_sql.rows(joined, *parameters, *values)
        others = [row for row in found if row[2] == -1]
        return sorted((row for row in found if row[2] != -1), key=itemgetter(0), reverse=True)

    waiting = _counted(row_cache.read_by(both, _found, most), most)
    return waiting, raw_sql.rows(statement, *values) if others is None else others


def _counted(rows: Rows, most: int) -> int:
    return min(most, sum(map(len, _sorted(rows))))


def _found(most: int) -> Rows:
    """Return (id, kind, model) of the entries that wait, newest first."""
    sql, parameters = _query(connection.vendor, 2 * most)
    return raw_sql.rows(sql, *parameters)


def _sorted(rows: Rows) -> tuple[list[int], list[int]]:
    """Return the changes and the flags that wait (ids of entries), one flag for each model."""
    flags = {profile: entry for entry, kind, profile in reversed(rows) if kind not in ("proposal", "detection")}
    return [entry for entry, kind, _ in rows if kind in ("proposal", "detection")], [*flags.values()]


@cache
def _query(vendor: str, most: int) -> tuple[str, tuple[Any, ...]]:
    """Return the SQL for (entry, kind, profile), newest first. Every page counts, and writing it takes 10 ms."""
    proposals = HistoryEntry.objects.filter(kind="proposal", override__in=open_proposals().values("pk"))
    parts = [rows.order_by().values_list("pk", "kind", "profile") for rows in (proposals, _tests(), flags_waiting())]
    query = parts[0].union(*parts[1:], all=True).order_by("-pk")[:most].query
    sql, parameters = query.get_compiler(connection.alias).as_sql()
    return sql, tuple(parameters)


def _tests() -> QuerySet[HistoryEntry]:
    """The newest test of each model that changed a value, unless a person has agreed, undone or decided since."""
    findings = HistoryEntry.objects.filter(detection=OuterRef("pk"), facet__depth=HistoryFacet.FINDING)
    newest = Subquery(Detection.objects.order_by("-pk").values("pk")[:1], output_field=BigIntegerField())
    recent = Detection.objects.filter(Exists(findings), status="done", pk__gt=newest - WINDOW)
    last = recent.exclude(verdict__in=NO_RESULT).order_by().values("profile", "kind").annotate(newest=Max("pk"))
    opinions = HistoryEntry.objects.filter(kind="review", review__detection=OuterRef("detection")).order_by("-pk")
    since = Subquery(opinions.filter(verdict=REOPENED).values("pk")[:1])
    opinion = Coalesce(Subquery(opinions.values("verdict")[:1]), Value(""))
    decided = HistoryEntry.objects.filter(DECIDED, profile=OuterRef("profile"), pk__gt=OuterRef("since"))
    tests = HistoryEntry.objects.filter(kind="detection", detection__in=last.values("newest"))
    tests = tests.annotate(since=Coalesce(since, "pk"), opinion=opinion)
    return tests.filter(~Exists(decided)).exclude(opinion__in=(AGREES, DISAGREES))


def _objections(flags: list[int]) -> list[WaitingEntry]:
    """The entries that were objected to, each with the newest objection; the objection itself if its entry is gone."""
    if not flags:
        return []
    about = HistoryEntry.objects.filter(
        Q(kind="override", override=OuterRef("review__override"))
        | Q(kind="override", override=OuterRef("override"))
        | Q(kind="detection", detection=OuterRef("review__detection"))
    )
    rows = HistoryEntry.objects.filter(pk__in=flags).select_related("actor")
    found = []
    for row in rows.annotate(subject=Subquery(about.order_by("pk").values("pk")[:1])):
        found.append(WaitingEntry(row.subject or row.pk, row.text or REFUSED, display_name(row.actor)))
    return found


REFUSED = "The server refused tools that a person had confirmed."
