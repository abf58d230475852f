"""The outcomes of a turn's calls are counted by format, time and tokens once per reply."""

from __future__ import annotations

import pytest

from tests.factories import ModelProfileFactory
from toolsupport.core import events
from toolsupport.core.events import CallFound, CallReady, CallRejected, ToolsRefused
from toolsupport.core.types import ToolCall
from toolsupport.models import CallMetric
from toolsupport.registry.metrics import call_metrics
from toolsupport.registry.metrics.call_metrics import OUTCOMES, CallCount
from toolsupport.registry.metrics.call_tally import FAULTS, CallTally, CountedEvent, outcome_of

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
    assert tally.taken() == (CallCount("native", "ready", 1, 250, 7, (250,)), CallCount("native", "rejected"))
    assert tally.taken() == ()


@pytest.mark.django_db
def test_counts_of_a_day_add_up() -> None:
    profile = ModelProfileFactory()
    call_metrics.add(profile.pk, [CallCount("native", "ready", 2, 10, 3)])
    call_metrics.add(profile.pk, [CallCount("native", "ready", 1, 5, 1), CallCount("hermes", "rejected")])
    rows = CallMetric.objects.filter(profile=profile).values_list("format", "outcome", "calls", "latency_ms", "tokens")
    assert set(rows) == {("native", "ready", 3, 15, 4), ("hermes", "rejected", 1, 0, 0)}
