"""Sums up the counts of calls for the page of the insights: sentence, tiles, bars, causes, the line of success."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from toolsupport.core import insight_sentences
from toolsupport.core.insight_sentences import CAUSES, CallTotals
from toolsupport.registry.metrics import insights, reply_times
from toolsupport.registry.metrics.insights import InsightsFilter, MetricPoint
from toolsupport.registry.metrics.reply_times import ReplyTimes

UNRELIABLE = 80  # percent of calls that could run, below which a model counts as broken


@dataclass(slots=True)
class ModelBar:
    """The calls of one model: its bar has the colour of the evidence that its calls are."""

    profile: int
    model: str
    outcomes: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    times: ReplyTimes = field(default_factory=ReplyTimes)

    @property
    def calls(self) -> int:
        """All of them."""
        return self.outcomes.total()

    @property
    def success(self) -> float:
        """In percent."""
        return insight_sentences.percent(self.outcomes["ready"] + self.outcomes["repaired"], self.calls)

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
        return ("proven", "Native") if usual == "native" else ("text", "Text mode") if usual else ("off", "No tools")


@dataclass(frozen=True, slots=True)
class InsightTile:
    """One number with its unit and what it compares with; `state` narrows the calls that it links to."""

    title: str
    number: str
    unit: str = ""
    beside: str = ""
    state: str = ""


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
    causes: Sequence[CauseShare]
    line: str
    days: Sequence[date]
    first: float
    last: float
    failed: int


def summary(points: Sequence[MetricPoint], wanted: InsightsFilter, today: date) -> InsightSummary:
    """Sum up these points, and compare them with the same time before: two queries."""
    times = reply_times.by_model(wanted)
    outcomes, bars = Counter[str](), _bars(points, times)
    for bar in bars:
        outcomes += bar.outcomes
    causes = Counter({name: outcomes[name] for name in CAUSES if outcomes[name]})
    biggest = next((name for name, _ in causes.most_common(1)), "")
    models = {bar.model: bar.outcomes[biggest] for bar in bars if bar.outcomes[biggest]}
    totals = CallTotals(outcomes.total(), outcomes["repaired"], causes, models)
    words, worst = insight_sentences.biggest_cause(totals)
    days, line = _days(points)
    return InsightSummary(
        insight_sentences.headline(totals, insight_sentences.period(wanted.since, wanted.until, today)),
        words,
        next((bar for bar in bars if bar.model == worst), None),
        _tiles(totals, reply_times.of_all(times), _before(wanted, today)),
        bars,
        [
            CauseShare(name, CAUSES[name][0], calls, round(100 * calls / causes[biggest], 1))
            for name, calls in causes.most_common()
        ],
        insight_sentences.trace(line),
        days,
        first=line[0] if line else 0,
        last=line[-1] if line else 0,
        failed=totals.failed,
    )


def _bars(points: Sequence[MetricPoint], times: Mapping[int, ReplyTimes]) -> list[ModelBar]:
    bars: dict[int, ModelBar] = {}
    for point in points:
        bar = bars.setdefault(point.profile, ModelBar(point.profile, point.model))
        bar.times = times.get(point.profile, bar.times)
        bar.outcomes += point.outcomes
        if point.format:
            bar.formats[point.format] += point.calls
    return sorted(bars.values(), key=lambda bar: (-bar.calls, bar.model))


def _days(points: Sequence[MetricPoint]) -> tuple[list[date], list[float]]:
    """The days with calls, oldest first, and the success of each."""
    by_day: defaultdict[date, Counter[str]] = defaultdict(Counter)
    for point in points:
        by_day[point.day] += point.outcomes
    days = sorted(by_day)
    ran = [by_day[day]["ready"] + by_day[day]["repaired"] for day in days]
    shares = [insight_sentences.percent(good, by_day[day].total()) for day, good in zip(days, ran, strict=True)]
    return days, shares


def _before(wanted: InsightsFilter, today: date) -> MetricPoint | None:
    """The same number of days before the period, None for one without a beginning."""
    if wanted.since is None:
        return None
    days = max(1, ((wanted.until or today) - wanted.since).days + 1)
    if (wanted.since - date.min).days <= days:
        return None
    since, until = wanted.since - timedelta(days=days), wanted.since - timedelta(days=1)
    return insights.total(replace(wanted, since=since, until=until))


def _tiles(totals: CallTotals, times: ReplyTimes, before: MetricPoint | None) -> list[InsightTile]:
    was = before or MetricPoint(date.min, 0, "", "")
    ran = insight_sentences.percent(was.valid + was.repaired, was.calls)
    share = insight_sentences.percent(totals.repaired, totals.calls)
    return [
        InsightTile("Calls", f"{totals.calls:,}", "", insight_sentences.change(totals.calls, was.calls)),
        InsightTile("Could run", f"{totals.success:g}", "%", insight_sentences.change(totals.success, ran, " %")),
        InsightTile("Repaired first", f"{totals.repaired:,}", "", f"{share:g} % of all calls", "repaired"),
        _reply_time(times),
    ]


def _reply_time(times: ReplyTimes) -> InsightTile:
    if not times.replies:
        return InsightTile("Median reply time", "–", "", "Measured from the next reply")
    beside = f"95 % within {times.most:g} s · {insight_sentences.replies(times.replies)}"
    return InsightTile("Median reply time", f"{times.median:g}", "s", beside)
