"""Counts of the outcomes of each model's calls, by format and day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from django.db import transaction
from django.utils import timezone

from toolsupport.config import metrics
from toolsupport.core import reply_time_histogram
from toolsupport.registry import raw_sql

OUTCOMES = {
    "ready": "it ran as written",
    "repaired": "it ran after a repair",
    "rejected": "it could not be read",
    "unknown": "no such tool was offered",
    "schema": "its arguments did not fit",
    "prose": "it was written in prose",
    "refused": "the server refused the tools of the whole request",
}


@dataclass(frozen=True, slots=True)
class CallCount:
    """A number of calls in one format with one outcome; `latency_ms` and `tokens` are sums over the replies.

    `times` are those of each reply, in milliseconds. `requests` are the replies whose worst call has this outcome.
    """

    format: str
    outcome: str
    calls: int = 1
    latency_ms: int = 0
    tokens: int = 0
    times: Sequence[int] = ()
    requests: int = 0


ADD = """INSERT INTO toolsupport_callmetric (profile_id, format, outcome, day, calls, latency_ms, tokens, requests)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (profile_id, format, outcome, day) DO UPDATE SET
calls = toolsupport_callmetric.calls + excluded.calls,
latency_ms = toolsupport_callmetric.latency_ms + excluded.latency_ms,
tokens = toolsupport_callmetric.tokens + excluded.tokens,
requests = toolsupport_callmetric.requests + excluded.requests
RETURNING (SELECT server_id FROM toolsupport_modelprofile WHERE toolsupport_modelprofile.id = profile_id)"""

ADD_TIME = """INSERT INTO toolsupport_replytime (profile_id, format, day, step, replies)
VALUES (%s, %s, %s, %s, %s) ON CONFLICT (profile_id, format, day, step) DO UPDATE SET
replies = toolsupport_replytime.replies + excluded.replies"""


@transaction.atomic(savepoint=False)
def add(profile_id: int, counts: Iterable[CallCount]) -> None:
    """Add to today's counts, in a fixed order, so that two writers cannot deadlock."""
    day = timezone.now().date().isoformat()
    for one in sorted(counts, key=lambda count: (count.format, count.outcome)):
        sums = (one.calls, one.latency_ms, one.tokens, one.requests)
        [server] = raw_sql.row(ADD, profile_id, one.format, one.outcome, day, *sums) or (0,)
        for step, replies in sorted(Counter(map(reply_time_histogram.step_of, one.times)).items()):
            raw_sql.change(ADD_TIME, profile_id, one.format, day, step, replies)
        transaction.on_commit(partial(_add_to_metrics, profile_id, server, one))


def _add_to_metrics(profile_id: int, server: int, one: CallCount) -> None:
    """Add the same counts to this process's metrics, except for withdrawn calls."""
    labels = (str(profile_id), one.format or "none", one.outcome)
    metrics.CALLS.labels(*labels).inc(one.calls)
    metrics.CALL_SECONDS.labels(*labels).inc(one.latency_ms / 1000)
    metrics.CALL_TOKENS.labels(*labels).inc(one.tokens)
    if one.requests:
        metrics.CALL_REQUESTS.labels(str(server), *labels).inc(one.requests)
