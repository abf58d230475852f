"""Reads the outcomes of models' calls, day by day, for the plots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeVar

from django.db.models import Model, QuerySet, Sum

from toolsupport.core import format_choice
from toolsupport.models import CallMetric

# More rows are not read.
MOST_POINTS = 1000
VALID, REPAIRED, REFUSED = "ready", "repaired", "refused"

Row = TypeVar("Row", bound=Model)
Choices = list[tuple[object, str]]


@dataclass(frozen=True, slots=True)
class InsightsFilter:
    """The filter; None and "" match everything."""

    profile: int | None = None
    format: str = ""
    since: date | None = None
    until: date | None = None


@dataclass(slots=True)
class MetricPoint:
    """One day of one model in one format."""

    day: date
    profile: int
    model: str
    format: str
    outcomes: Counter[str] = field(default_factory=Counter)
    requests: Counter[str] = field(default_factory=Counter)
    latency_ms: int = 0
    tokens: int = 0

    @property
    def label(self) -> str:
        return format_choice.label(self.format) if self.format else "no tools"

    @property
    def calls(self) -> int:
        return self.outcomes.total()

    @property
    def valid(self) -> int:
        return self.outcomes[VALID]

    @property
    def repaired(self) -> int:
        return self.outcomes[REPAIRED]

    @property
    def unreadable(self) -> int:
        return self.outcomes["rejected"]

    @property
    def unknown(self) -> int:
        """Calls of tools that were not offered."""
        return self.outcomes["unknown"]

    @property
    def misfit(self) -> int:
        """Calls whose arguments did not fit the schema."""
        return self.outcomes["schema"]

    @property
    def in_prose(self) -> int:
        return self.outcomes["prose"]

    @property
    def refused(self) -> int:
        return self.outcomes[REFUSED]

    @property
    def success(self) -> int:
        """Calls that could run, in percent of all attempts."""
        return round(100 * (self.valid + self.repaired) / self.calls) if self.calls else 0

    @property
    def seconds(self) -> float:
        return round(self.latency_ms / self.calls / 1000, 2) if self.calls else 0.0

    @property
    def tokens_each(self) -> int:
        return round(self.tokens / self.calls) if self.calls else 0


@dataclass(frozen=True, slots=True)
class InsightsResult:
    """The points, newest day first; `cut`: older days are left out."""

    points: Sequence[MetricPoint]
    cut: bool = False


def found(wanted: InsightsFilter) -> InsightsResult:
    """Return everything that matches the filter, in one query."""
    groups: dict[tuple[date, int, str], MetricPoint] = {}
    for row in _rows(wanted):
        key = (row["day"], row["profile_id"], row["format"])
        if key not in groups and len(groups) == MOST_POINTS:
            return InsightsResult([*groups.values()], cut=True)
        name = f"{row['profile__server__name']}/{row['profile__name']}"
        point = groups.setdefault(key, MetricPoint(key[0], key[1], name, key[2]))
        point.outcomes[row["outcome"]] += row["sum_calls"]
        point.requests[row["outcome"]] += row["sum_requests"]
        point.latency_ms += row["sum_latency"]
        point.tokens += row["sum_tokens"]
    return InsightsResult([*groups.values()])


def total(wanted: InsightsFilter) -> MetricPoint:
    """Sum up everything that matches the filter, as one point: one query."""
    point = MetricPoint(wanted.since or date.min, 0, "", "")
    sums = {"sum_calls": Sum("calls"), "sum_latency": Sum("latency_ms")}
    rows: Iterator[Any] = _matching(wanted).order_by().values("outcome").annotate(**sums).iterator()
    for row in rows:
        point.outcomes[row["outcome"]] += row["sum_calls"]
        point.latency_ms += row["sum_latency"]
    return point


def _rows(wanted: InsightsFilter) -> Iterator[Any]:
    rows = _matching(wanted)
    rows = rows.order_by("-day", "profile__server__name", "profile__name", "profile_id", "format")
    names = ("day", "profile_id", "format", "outcome", "profile__name", "profile__server__name")
    sums = {"sum_calls": Sum("calls"), "sum_latency": Sum("latency_ms"), "sum_tokens": Sum("tokens")}
    sums["sum_requests"] = Sum("requests")
    summed: Iterator[Any] = rows.values(*names).annotate(**sums).iterator()
    return summed


def _matching(wanted: InsightsFilter) -> QuerySet[CallMetric]:
    return matching(CallMetric.objects.all(), wanted)


def matching(rows: QuerySet[Row], wanted: InsightsFilter) -> QuerySet[Row]:
    """Return the rows of days, models and formats that match the filter."""
    given = {"profile": wanted.profile, "format": wanted.format, "day__gte": wanted.since, "day__lte": wanted.until}
    return rows.filter(**{name: value for name, value in given.items() if value})


def choices() -> dict[str, Choices]:
    """Return the filter's choices: models and formats that have counts."""
    models = CallMetric.objects.order_by("profile__name", "profile__server__name")
    named = models.values_list("profile_id", "profile__name", "profile__server__name").distinct()
    formats = CallMetric.objects.order_by("format").values_list("format", flat=True).distinct()
    return {
        "profile": [(pk, f"{name} ({server})") for pk, name, server in named],
        "format": [(name, format_choice.label(name)) for name in formats if name],
    }
