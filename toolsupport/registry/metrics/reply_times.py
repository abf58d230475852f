"""Reads the times of models' replies with calls: median, and the time within which 95 % came."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db.models import Sum

from toolsupport.core import reply_time_histogram
from toolsupport.models import ReplyTime
from toolsupport.registry.metrics import insights
from toolsupport.registry.metrics.insights import InsightsFilter

MEDIAN, MOST = 0.5, 0.95


@dataclass(frozen=True, slots=True)
class ReplyTimes:
    """The replies of one or more models, by step of time."""

    counts: Mapping[int, int] = field(default_factory=Counter)

    @property
    def replies(self) -> int:
        return sum(self.counts.values())

    @property
    def median(self) -> float:
        """In seconds."""
        return reply_time_histogram.seconds_at(self.counts, MEDIAN)

    @property
    def most(self) -> float:
        """The seconds within which 95 % came."""
        return reply_time_histogram.seconds_at(self.counts, MOST)

    @property
    def median_text(self) -> str:
        return reply_time_histogram.text(self.median)

    @property
    def most_text(self) -> str:
        return reply_time_histogram.text(self.most)


def by_model(wanted: InsightsFilter) -> dict[int, ReplyTimes]:
    """Return the times of each model that match the filter: one query."""
    found: defaultdict[int, Counter[int]] = defaultdict(Counter)
    rows = insights.matching(ReplyTime.objects.all(), wanted).order_by().values("profile_id", "step")
    for row in rows.annotate(sum_replies=Sum("replies")):
        found[row["profile_id"]][row["step"]] += row["sum_replies"]
    return {profile: ReplyTimes(counts) for profile, counts in found.items()}


def of_all(times: Mapping[int, ReplyTimes]) -> ReplyTimes:
    """Return the times of all these models together."""
    together = Counter[int]()
    for one in times.values():
        together.update(one.counts)
    return ReplyTimes(together)
