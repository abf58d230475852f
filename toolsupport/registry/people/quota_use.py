"""Counts the use of quotas: one row for each person or key and day.

A request is counted, in the transaction that admits it, before a model is asked: neither a second process nor a killed
one lets more requests through. Tokens are added when an answer ends. A request whose model wrote nothing, because its
server failed, is taken off the count. Only people and keys with a quota are counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.db import transaction
from django.db.models import Q, Sum
from django.utils import timezone

from toolsupport.core import quota_rules
from toolsupport.core.errors import QuotaSpent
from toolsupport.core.quota_rules import Quota, QuotaShare
from toolsupport.models import QuotaUse
from toolsupport.registry import raw_sql
from toolsupport.registry.people.quotas import QuotaHolder

KEPT = timedelta(days=400)

# A second transaction waits for the row until the first one ends, and then reads its count.
ADD = """INSERT INTO toolsupport_quotause (kind, subject, day, requests, tokens) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (kind, subject, day) DO UPDATE SET requests = toolsupport_quotause.requests + excluded.requests,
tokens = toolsupport_quotause.tokens + excluded.tokens RETURNING requests, tokens"""

# A request that began before the quota was set was not counted, so it takes nothing off.
SETTLE = """INSERT INTO toolsupport_quotause (kind, subject, day, requests, tokens) VALUES (%s, %s, %s, 0, %s)
ON CONFLICT (kind, subject, day) DO UPDATE SET tokens = toolsupport_quotause.tokens + excluded.tokens,
requests = toolsupport_quotause.requests - CASE WHEN toolsupport_quotause.requests > 0 THEN %s ELSE 0 END
RETURNING requests"""

MONTH = """SELECT COALESCE(SUM(requests), 0), COALESCE(SUM(tokens), 0) FROM toolsupport_quotause
WHERE kind = %s AND subject = %s AND day >= %s AND day <= %s"""


@dataclass(frozen=True, slots=True)
class CountedRequest:
    """A request that was counted on this day for these subjects."""

    subjects: tuple[QuotaHolder, ...]
    day: date


@transaction.atomic
def spend(subjects: Sequence[QuotaHolder], now: datetime | None = None, requests: int = 1) -> CountedRequest:
    """Count requests for each subject, all or none. Raises QuotaSpent, and then nothing is counted."""
    now = (now or timezone.now()).astimezone(UTC)
    for subject in sorted(subjects, key=lambda one: (one.kind, one.id)):
        found = raw_sql.rows(ADD, subject.kind, subject.id, now.date().isoformat(), requests, 0)[0]
        over = quota_rules.refused(_shares(subject, now, found))
        if over is not None:
            seconds = math.ceil((quota_rules.restart(over, now) - now).total_seconds())
            raise QuotaSpent(quota_rules.sentence(subject.kind, over, now), seconds)
    return CountedRequest(tuple(subjects), now.date())


@transaction.atomic
def settle(counted: CountedRequest, tokens: int, *, given_back: bool = False) -> None:
    """Add the tokens of an answer, and take its request off the count if there was none."""
    if tokens or given_back:
        for subject in sorted(counted.subjects, key=lambda one: (one.kind, one.id)):
            raw_sql.rows(SETTLE, subject.kind, subject.id, counted.day.isoformat(), tokens, int(given_back))


def shares(subject: QuotaHolder, now: datetime | None = None) -> tuple[QuotaShare, ...]:
    """Return how much of each limit is used now."""
    now = (now or timezone.now()).astimezone(UTC)
    rows = QuotaUse.objects.filter(kind=subject.kind, subject=subject.id, day=now.date())
    today = rows.values_list("requests", "tokens").first() or (0, 0)
    return tuple(_shares(subject, now, today))


def _shares(subject: QuotaHolder, now: datetime, today: Sequence[int]) -> Iterator[QuotaShare]:
    used = {"requests_day": today[0], "tokens_day": today[1]}
    if _of_month(subject.quota):
        first = quota_rules.month_start(now).date().isoformat()
        used["requests_month"], used["tokens_month"] = map(
            int, raw_sql.rows(MONTH, subject.kind, subject.id, first, now.date().isoformat())[0]
        )
    return quota_rules.shares(subject.quota, used)


def _of_month(quota: Quota) -> bool:
    return bool(quota.requests_month or quota.tokens_month)


def of_all() -> Mapping[tuple[str, int], Mapping[str, int]]:
    """Return the use of today and this month, by subject and the names of FIELDS."""
    now = timezone.now()
    today = Q(day=now.date())
    rows = QuotaUse.objects.filter(day__gte=quota_rules.month_start(now).date()).values("kind", "subject")
    sums = rows.annotate(
        requests_day=Sum("requests", filter=today, default=0),
        tokens_day=Sum("tokens", filter=today, default=0),
        requests_month=Sum("requests"),
        tokens_month=Sum("tokens"),
    )
    found = sums.values_list("kind", "subject", *quota_rules.FIELDS)
    return {
        (kind, subject): dict(zip(quota_rules.FIELDS, map(int, used), strict=True)) for kind, subject, *used in found
    }


def clear_old() -> None:
    """Delete counts of days that no quota needs any more."""
    QuotaUse.objects.filter(day__lt=(timezone.now() - KEPT).date()).delete()
