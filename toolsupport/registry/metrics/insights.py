"""Reads the outcomes of models' calls, day by day, for the plots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby, islice
from typing import Any, TypeVar

from django.db.models import Model, QuerySet, Sum

from toolsupport.core import format_choice
from toolsupport.core.name_order import by_name
from toolsupport.models import CallMetric

# More rows are neither shown nor exported.
MOST_POINTS, MOST_EXPORTED = 1000, 100_000
MODEL = ("profile__server__name", "profile__name", "profile_id")
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


def found(wanted: InsightsFilter, most: int | None = None) -> InsightsResult:
    """Return the newest days that match the filter, each model and format apart, in one query."""
    most = most or MOST_POINTS
    points = [*islice(_points(wanted, "-day", *MODEL, "format"), most + 1)]
    return InsightsResult(points[:most], cut=len(points) > most)


def sums(wanted: InsightsFilter, result: InsightsResult) -> tuple[list[MetricPoint], list[MetricPoint]]:
    """Return a point for each model and format, and one for each day, oldest first: two queries where days are cut."""
    if result.cut:
        return [*_points(wanted, *MODEL, "format")], [*_points(wanted, "day")]
    days = _merged(result.points, lambda point: point.day)
    return _merged(result.points, lambda point: (point.profile, point.format)), sorted(
        days, key=lambda point: point.day
    )


def _merged(points: Iterable[MetricPoint], key_of: Callable[[MetricPoint], object]) -> list[MetricPoint]:
    found: dict[object, MetricPoint] = {}
    for point in points:
        made = found.setdefault(key_of(point), MetricPoint(point.day, point.profile, point.model, point.format))
        made.outcomes.update(point.outcomes)
        made.requests.update(point.requests)
        made.latency_ms += point.latency_ms
        made.tokens += point.tokens
    return [*found.values()]


def total(wanted: InsightsFilter) -> MetricPoint:
    """Sum up everything that matches the filter, as one point: one query."""
    point = MetricPoint(wanted.since or date.min, 0, "", "")
    sums = {"sum_calls": Sum("calls"), "sum_latency": Sum("latency_ms")}
    rows: Iterator[Any] = _matching(wanted).order_by().values("outcome").annotate(**sums).iterator()
    for row in rows:
        point.outcomes[row["outcome"]] += row["sum_calls"]
        point.latency_ms += row["sum_latency"]
    return point


def _points(wanted: InsightsFilter, *order: str) -> Iterator[MetricPoint]:
    """A point for each combination of these fields, in their order."""
    names = [name.lstrip("-") for name in order]
    sums = {"sum_calls": Sum("calls"), "sum_latency": Sum("latency_ms"), "sum_tokens": Sum("tokens")}
    sums["sum_requests"] = Sum("requests")
    rows: Iterator[Any] = _matching(wanted).order_by(*order).values(*names, "outcome").annotate(**sums).iterator()
    for key, group in groupby(rows, key=lambda row: [row[name] for name in names]):
        given = dict(zip(names, key, strict=True))
        name = f"{given['profile__server__name']}/{given['profile__name']}" if "profile_id" in given else ""
        point = MetricPoint(given.get("day", date.min), given.get("profile_id", 0), name, given.get("format", ""))
        for row in group:
            point.outcomes[row["outcome"]] += row["sum_calls"]
            point.requests[row["outcome"]] += row["sum_requests"]
            point.latency_ms += row["sum_latency"]
            point.tokens += row["sum_tokens"]
        yield point


def _matching(wanted: InsightsFilter) -> QuerySet[CallMetric]:
    return matching(CallMetric.objects.all(), wanted)


def matching(rows: QuerySet[Row], wanted: InsightsFilter) -> QuerySet[Row]:
    """Return the rows of days, models and formats that match the filter."""
    given = {"profile": wanted.profile, "format": wanted.format, "day__gte": wanted.since, "day__lte": wanted.until}
    return rows.filter(**{name: value for name, value in given.items() if value})


def choices() -> dict[str, Choices]:
    """Return the filter's choices: models and formats that have counts."""
    models = CallMetric.objects.order_by().values_list("profile_id", "profile__name", "profile__server__name")
    named = sorted(models.distinct(), key=lambda row: by_name(row[1], row[2]))
    formats = CallMetric.objects.order_by("format").values_list("format", flat=True).distinct()
    return {
        "profile": [(pk, f"{name} ({server})") for pk, name, server in named],
        "format": [(name, format_choice.label(name)) for name in formats if name],
    }
