"""The timeline: pages without gaps, filters, what is unread."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from tests.examples import at_least
from tests.factories import ModelProfileFactory, UserFactory
from toolsupport.core.errors import NotFound
from toolsupport.models import HistoryEntry
from toolsupport.registry.history import read_marks, timeline, timeline_query
from toolsupport.registry.history.timeline_query import TimelineCursor, TimelineFilter
from toolsupport.registry.knowledge import event_log, overrides, reviews
from toolsupport.registry.knowledge.overrides import NewOverride

BEGIN = timezone.now().replace(microsecond=0)


def told(profile: int, **fields: object) -> HistoryEntry:
    pk = event_log.record(event_log.HistoryEvent("override", profile, "tools"))
    HistoryEntry.objects.filter(pk=pk).update(**fields)
    row = HistoryEntry.objects.get(pk=pk)
    row.facet_id = event_log.facet(row.kind, row.source, row.verdict)
    row.save()
    return row


# D11
class Pages(TestCase):
    @settings(max_examples=at_least(10), suppress_health_check=[HealthCheck.too_slow])
    @given(minutes=st.lists(st.integers(0, 3), max_size=12), most=st.integers(1, 5))
    def test_every_entry_stands_on_one_page_even_where_times_are_the_same(self, minutes: list[int], most: int) -> None:
        profile = ModelProfileFactory().pk
        made = [told(profile, at=BEGIN + timedelta(minutes=minute)) for minute in minutes]
        wanted = TimelineFilter(profile=profile)
        seen, place = [], None
        while True:
            page = timeline.page(wanted, place, most)
            seen += [entry.id for entry in page.entries]
            place = TimelineCursor.read(str(page.following)) if page.following else None
            if place is None:
                break
        assert seen == [row.pk for row in sorted(made, key=lambda row: (row.at, row.pk), reverse=True)]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "written",
    [
        *("", "x", "2026-01-01_1", "2026-01-01T00:00:00+00:00_", "_9"),
        *("0001-01-01T00:00:00+23:59_1", "9999-12-31T23:59:59-23:59_1"),
    ],
)
def test_a_place_nobody_wrote_is_none(written: str):
    assert TimelineCursor.read(written) is None


@pytest.mark.django_db
@pytest.mark.parametrize("at_once", [timeline_query.AT_ONCE, 1])
def test_each_filter_lets_through_what_it_says(alice, bob, at_once: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(timeline_query, "AT_ONCE", at_once)
    mine, other = ModelProfileFactory(), ModelProfileFactory()
    wanted = told(mine.pk, kind="refusal", source="declared", verdict="refused", actor=alice, at=BEGIN)
    told(other.pk, kind="override", source="user_confirmed", actor=bob, at=BEGIN - timedelta(days=3))
    for given_ in (
        TimelineFilter(profile=mine.pk),
        TimelineFilter(server=mine.server_id),
        TimelineFilter(source="declared"),
        TimelineFilter(verdict="refused"),
        TimelineFilter(kind="refusal"),
        TimelineFilter(actor=alice.pk),
        TimelineFilter(since=BEGIN),
        TimelineFilter(profile=mine.pk, server=mine.server_id, kind="refusal"),
        TimelineFilter(server=mine.server_id, actor=alice.pk, verdict="refused"),
        TimelineFilter(profile=mine.pk, actor=alice.pk, until=BEGIN + timedelta(seconds=1)),
    ):
        assert [entry.id for entry in timeline.page(given_).entries] == [wanted.pk]
    assert timeline.page(TimelineFilter(until=BEGIN, profile=mine.pk)).entries == ()
    assert timeline.page(TimelineFilter(profile=mine.pk, server=other.server_id)).entries == ()
    assert timeline.page(TimelineFilter(kind="review")).entries == ()


@pytest.mark.django_db
def test_an_entry_says_what_was_and_what_is(alice):
    profile = ModelProfileFactory()
    overrides.declare(profile.pk, {"tools": True})
    overrides.add(NewOverride(profile.pk, "tools", False, actor=alice.pk, reason="tried it"))
    entry = timeline.page(TimelineFilter(profile=profile.pk)).entries[0]
    assert (entry.before, entry.after, entry.actor, entry.text) == ("yes", "no", "alice", "tried it")
    assert entry.may_revert and entry.may_review
    with pytest.raises(NotFound):
        timeline.entry(987_654_321)


@pytest.mark.django_db
def test_what_others_did_is_unread_until_it_was_seen(alice, bob):
    profile = ModelProfileFactory().pk
    told(profile, actor=alice)
    told(profile, actor=bob)
    told(profile, actor=None)
    told(profile, actor=None, source="declared")
    _, of_bob, of_nobody, _ = every = [*HistoryEntry.objects.order_by("pk").values_list("pk", flat=True)]
    assert read_marks.unread_among(alice.pk, every) == {of_bob, of_nobody}
    read_marks.mark_all(alice.pk)
    assert read_marks.unread_among(alice.pk, every) == frozenset() and len(read_marks.unread_among(bob.pk, every)) == 2


@pytest.mark.django_db
def test_everything_is_read_in_batches(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(timeline, "BATCH", 2)
    profile = ModelProfileFactory().pk
    for _ in range(5):
        told(profile)
    assert [len(batch) for batch in timeline.batches(TimelineFilter())] == [2, 2, 1]
    assert list(timeline.batches(TimelineFilter(kind="drift"))) == []


@pytest.mark.django_db
def test_a_model_needs_review_until_somebody_answers():
    profile, reviewer = ModelProfileFactory(), UserFactory(role="reviewer")
    overrides.add(NewOverride(profile.pk, "tools", True))
    entry = HistoryEntry.objects.get(kind="override")
    judged = reviews.NewReview(entry.pk, reviewer.pk, "It never calls one.")
    assert reviews.needing() == frozenset()
    before = overrides.stands(profile.pk, "tools")
    reviews.act("disagree", judged)
    assert reviews.needing() == reviews.needing([profile.pk]) == {profile.pk}
    assert overrides.stands(profile.pk, "tools") == before
    assert reviews.needing([]) == frozenset()
    reviews.act("agree", judged)
    assert reviews.needing() == frozenset()
