"""Sums up the counts of calls for the page of the insights: sentence, tiles, bars, causes, the line of success."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from toolsupport.core import insight_sentences
from toolsupport.core.insight_sentences import CAUSES, CallTotals
from toolsupport.registry.metrics import insights, reply_times
from toolsupport.registry.metrics.insights import InsightsFilter, MetricPoint
from toolsupport.registry.metrics.reply_times import ReplyTimes

NATIVE = "native"
UNRELIABLE = 80  # percent of calls that could run, below which a model counts as broken

MOST_TRACED = 90  # days of a small line


@dataclass(slots=True)
class CallBar:
    """The calls of one model or format."""

    name: str
    outcomes: Counter[str] = field(default_factory=Counter)

    @property
    def calls(self) -> int:
        """All of them."""
        return self.outcomes.total()

    @property
    def success(self) -> float:
        """In percent."""
        return insight_sentences.percent(self.outcomes["ready"] + self.outcomes["repaired"], self.calls)


@dataclass(slots=True)
class FormatBar(CallBar):
    """The calls of all models in one format."""

    label: str = ""

    @property
    def evidence(self) -> str:
        """The evidence of calls in this format."""
        return "proven" if self.name == NATIVE else "text"


@dataclass(slots=True)
class ModelBar(CallBar):
    """The calls of one model: its bar has the colour of their evidence."""

    profile: int = 0
    formats: Counter[str] = field(default_factory=Counter)
    times: ReplyTimes = field(default_factory=ReplyTimes)

    @property
    def repaired(self) -> int:
        """Those that could run after a repair."""
        return self.outcomes["repaired"]

    @property
    def refused(self) -> int:
        """Requests whose tools the server refused."""
        return self.outcomes["refused"]

    @property
    def evidence(self) -> tuple[str, str]:
        """Its state, and the word beside the colour."""
        if self.success < UNRELIABLE:
            return "broken", "Unreliable"
        usual = self.formats.most_common(1)[0][0] if self.formats else ""
        return ("proven", "Native") if usual == NATIVE else ("text", "Text mode") if usual else ("off", "No tools")


@dataclass(frozen=True, slots=True)
class InsightTile:
    """One number with its unit and its comparison; `state` narrows the calls that it links to.

    `trace` is the path of its line, day by day, or "".
    """

    title: str
    number: str
    unit: str = ""
    beside: str = ""
    state: str = ""
    trace: str = ""


@dataclass(frozen=True, slots=True)
class CauseShare:
    """Why some calls could not run: the `outcome` that they are counted as, and their share of the biggest cause."""

    outcome: str
    words: str
    calls: int
    share: float


@dataclass(frozen=True, slots=True)
class InsightSummary:
    """Everything above the table. `line` is a path or ""."""

    headline: str
    cause: str
    worst: ModelBar | None
    tiles: Sequence[InsightTile]
    bars: Sequence[ModelBar]
    formats: Sequence[FormatBar]
    causes: Sequence[CauseShare]
    line: str
    days: Sequence[date]
    first: float
    last: float
    failed: int


def summary(
    points: Sequence[MetricPoint], by_day: Sequence[MetricPoint], wanted: InsightsFilter, today: date
) -> InsightSummary:
    """Sum up the points of models and of days, and compare them with the same time before: two queries."""
    times = reply_times.by_model(wanted)
    outcomes, bars = Counter[str](), _bars(points, times)
    for bar in bars:
        outcomes += bar.outcomes
    causes = Counter({name: outcomes[name] for name in CAUSES if outcomes[name]})
    biggest = next((name for name, _ in causes.most_common(1)), "")
    models = {bar.name: bar.outcomes[biggest] for bar in bars if bar.outcomes[biggest]}
    totals = CallTotals(outcomes.total(), outcomes["repaired"], causes, models)
    words, worst = insight_sentences.biggest_cause(totals)
    line = [_success(day) for day in by_day]
    return InsightSummary(
        insight_sentences.headline(totals, insight_sentences.period(wanted.since, wanted.until, today)),
        words,
        next((bar for bar in bars if bar.name == worst), None),
        _tiles(totals, by_day, reply_times.of_all(times), _before(wanted, today)),
        bars,
        _formats(points),
        [
            CauseShare(name, CAUSES[name][0], calls, round(100 * calls / causes[biggest], 1))
            for name, calls in causes.most_common()
        ],
        insight_sentences.trace(line),
        [day.day for day in by_day],
        first=line[0] if line else 0,
        last=line[-1] if line else 0,
        failed=totals.failed,
    )


def _bars(points: Sequence[MetricPoint], times: Mapping[int, ReplyTimes]) -> list[ModelBar]:
    bars: dict[int, ModelBar] = {}
    for point in points:
        bar = bars.setdefault(point.profile, ModelBar(point.model, profile=point.profile))
        bar.times = times.get(point.profile, bar.times)
        bar.outcomes += point.outcomes
        if point.format:
            bar.formats[point.format] += point.calls
    return sorted(bars.values(), key=lambda bar: (-bar.calls, bar.name))


def _success(point: MetricPoint) -> float:
    return insight_sentences.percent(point.valid + point.repaired, point.calls)


def _formats(points: Sequence[MetricPoint]) -> list[FormatBar]:
    """A bar for each format, most calls first; refusals of all tools have no format."""
    bars: dict[str, FormatBar] = {}
    for point in points:
        if point.format:
            bars.setdefault(point.format, FormatBar(point.format, label=point.label)).outcomes += point.outcomes
    return sorted(bars.values(), key=lambda bar: (-bar.calls, bar.label))


def _trace(by_day: Sequence[MetricPoint], count: Callable[[MetricPoint], int]) -> str:
    """The line of a count from the first day with calls to the last, days without calls included."""
    if not by_day:
        return ""
    counts = {point.day: count(point) for point in by_day}
    days = (by_day[-1].day - by_day[0].day).days + 1
    each = [counts.get(by_day[0].day + timedelta(days=n), 0) for n in range(days)][-MOST_TRACED:]
    return insight_sentences.trace([100 * one / max(each) for one in each]) if any(each) else ""


def _before(wanted: InsightsFilter, today: date) -> MetricPoint | None:
    """The same number of days before the period, None for one without a beginning."""
    if wanted.since is None:
        return None
    days = max(1, ((wanted.until or today) - wanted.since).days + 1)
    if (wanted.since - date.min).days <= days:
        return None
    since, until = wanted.since - timedelta(days=days), wanted.since - timedelta(days=1)
    return insights.total(replace(wanted, since=since, until=until))


def _tiles(
    totals: CallTotals, by_day: Sequence[MetricPoint], times: ReplyTimes, before: MetricPoint | None
) -> list[InsightTile]:
    was = before or MetricPoint(date.min, 0, "", "")
    ran = _success(was)
    share = insight_sentences.percent(totals.repaired, totals.calls)
    return [
        InsightTile(
            *("Calls", f"{totals.calls:,}", "", insight_sentences.change(totals.calls, was.calls)),
            trace=_trace(by_day, lambda day: day.calls),
        ),
        InsightTile(
            *("Could run", f"{totals.success:g}", "%", insight_sentences.change(totals.success, ran, "\u00a0%")),
            trace=insight_sentences.trace([_success(day) for day in by_day]),
        ),
        InsightTile(
            *("Repaired first", f"{totals.repaired:,}", "", f"{share:g}\u00a0% of all calls", "repaired"),
            trace=_trace(by_day, lambda day: day.repaired),
        ),
        _reply_time(times),
    ]


def _reply_time(times: ReplyTimes) -> InsightTile:
    if not times.replies:
        return InsightTile("Median reply time", "–", "", "Measured from the next reply")
    beside = f"95\u00a0% within {times.most_text} · {insight_sentences.replies(times.replies)}"
    number, unit = times.median_text.split()
    return InsightTile("Median reply time", number, unit, beside)
