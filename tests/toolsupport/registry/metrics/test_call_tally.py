"""The outcomes of a turn's calls are counted by format, time and tokens once per reply."""

from __future__ import annotations

import pytest

from tests.factories import ModelProfileFactory
from toolsupport.config import metrics
from toolsupport.core import events
from toolsupport.core.events import CallFound, CallReady, CallRejected, ToolsRefused
from toolsupport.core.types import ToolCall
from toolsupport.models import CallMetric
from toolsupport.registry.metrics import call_metrics, error_rates, insights
from toolsupport.registry.metrics.call_metrics import OUTCOMES, CallCount
from toolsupport.registry.metrics.call_tally import FAULTS, CallTally, CountedEvent, outcome_of
from toolsupport.registry.metrics.insights import InsightsFilter

CALL = ToolCall("1", "read_file", {})
READY = CallReady(CALL)


# T6
def test_every_outcome_has_its_name() -> None:
    assert FAULTS.keys() == events.FAULTS.keys()
    broken: list[CountedEvent] = [CallRejected("x", "why", "raw", fault=fault) for fault in events.FAULTS]
    mended = CallReady(ToolCall("1", "read_file", {}, ("one comma",)))
    seen = [*broken, READY, mended, CallFound(CALL, "raw", "hermes"), ToolsRefused("no", "rule")]
    assert {outcome_of(event) for event in seen} == set(OUTCOMES)


def test_time_and_tokens_count_once_for_each_reply() -> None:
    tally = CallTally()
    tally.received(READY, "native")
    tally.received(CallRejected("x", "why", "raw"), "native")
    tally.used(7)
    tally.replied(250)
    tally.used(100)
    tally.replied(9)
    assert tally.taken() == (
        CallCount("native", "ready", 1, 250, 7, (250,)),
        CallCount("native", "rejected", requests=1),
    )
    assert tally.taken() == ()


@pytest.mark.django_db
def test_counts_of_a_day_add_up() -> None:
    profile = ModelProfileFactory()
    call_metrics.add(profile.pk, [CallCount("native", "ready", 2, 10, 3)])
    call_metrics.add(profile.pk, [CallCount("native", "ready", 1, 5, 1), CallCount("hermes", "rejected")])
    rows = CallMetric.objects.filter(profile=profile).values_list("format", "outcome", "calls", "latency_ms", "tokens")
    assert set(rows) == {("native", "ready", 3, 15, 4), ("hermes", "rejected", 1, 0, 0)}


# E9
@pytest.mark.django_db(transaction=True)
def test_a_request_counts_once_by_its_worst_call() -> None:
    profile, tally = ModelProfileFactory(), CallTally()
    mended = CallReady(ToolCall("1", "read_file", {}, ("one comma",)))
    faults = [CallRejected("x", "why", "raw", fault=fault) for fault in ("schema", "unknown", "unreadable")]
    replies: list[list[CountedEvent]] = [
        [READY],
        [READY, mended],
        [READY, faults[0], mended],
        [faults[1]],
        [faults[2], faults[0]],
        [],
    ]
    for reply in replies:
        for event in reply:
            tally.received(event, "native")
        tally.replied(1)
    # Refused tools are no call.
    tally.received(ToolsRefused("no", "rule"), "native")
    tally.replied(1)
    counter = metrics.CALL_REQUESTS.labels(str(profile.server_id), str(profile.pk), "native", "schema")
    before = counter._value.get()  # other tests of this process count for the same ids
    call_metrics.add(profile.pk, tally.taken())
    rows = CallMetric.objects.filter(profile=profile, requests__gt=0).values_list("outcome", "requests")
    assert dict(rows) == {"ready": 1, "repaired": 1, "schema": 1, "unknown": 1, "rejected": 1}
    assert counter._value.get() == before + 1
    wanted = InsightsFilter(profile=profile.pk)
    found = error_rates.rates(*insights.sums(wanted, insights.found(wanted)))
    [model], [server] = found.models, found.servers
    assert (model.total, model.before, model.after) == (5, 80.0, 60.0)
    assert (model.unreadable, model.unknown, model.misfit) == (1, 1, 1)
    assert (server.name, server.total, server.after) == (profile.server.name, 5, 60.0)
