"""Quotas: which one a person has, and that no more requests get through than it allows."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.factories import UserFactory
from toolsupport.core.errors import ConfigError, NotFound, QuotaSpent
from toolsupport.core.quota_rules import Quota
from toolsupport.models import QuotaUse
from toolsupport.registry.people import accounts, api_keys, quota_overview, quota_use, quotas
from toolsupport.registry.people.api_keys import KeyLimits

NOW = datetime(2026, 11, 30, 22, 0, tzinfo=UTC)


def spent(person: User, now: datetime = NOW, key: int = 0) -> str:
    """The reason of a refusal, "" if the request was counted."""
    try:
        quota_use.spend(quotas.limited(person.pk, key), now)
    except QuotaSpent as error:
        return str(error)
    return ""


@pytest.mark.django_db
def test_the_nearest_quota_holds(alice: User, bob: User, settings: Any) -> None:  # P5
    settings.ENV = settings.ENV | {"TOOLSUPPORT_QUOTA_REQUESTS_DAY": 9, "TOOLSUPPORT_QUOTA_TOKENS_DAY": 99}
    quotas.put("role", "user", Quota(requests_day=7))
    quotas.put("person", str(bob.pk), Quota(requests_day=0))
    assert [quotas.of_person(person.pk).requests_day for person in (alice, bob, UserFactory(role="viewer"))] == [
        7,
        0,
        9,
    ]
    assert quotas.of_person(bob.pk).tokens_day == 99
    accounts.set_role(bob.pk, alice.pk, "reviewer")
    assert quotas.of_person(alice.pk).requests_day == 9
    quotas.put("person", str(bob.pk), Quota())
    assert quotas.of_person(bob.pk).requests_day == 9


@pytest.mark.django_db
@pytest.mark.parametrize(("kind", "subject"), [("role", "guest"), ("person", "0"), ("person", "007"), ("team", "1")])
def test_a_quota_needs_a_subject(kind: str, subject: str) -> None:
    with pytest.raises(NotFound):
        quotas.put(kind, subject, Quota(requests_day=1))


@pytest.mark.django_db
@pytest.mark.parametrize("value", [-1, 2_000_000_001])
def test_a_quota_is_a_sensible_number(alice: User, value: int) -> None:
    with pytest.raises(ConfigError):
        quotas.put("person", str(alice.pk), Quota(requests_day=value))


@pytest.mark.django_db
def test_without_a_quota_no_request_asks_the_database(alice: User) -> None:  # P5
    quotas.limited(alice.pk)
    with CaptureQueriesContext(connection) as queries:
        assert quotas.limited(alice.pk, 7) == ()
    assert [query["sql"] for query in queries] == []


@pytest.mark.django_db
def test_a_day_and_a_month_end(alice: User) -> None:  # P5
    quotas.put("person", str(alice.pk), Quota(requests_day=2, requests_month=3))
    assert [spent(alice) for _ in range(2)] == ["", ""]
    assert "2 requests per day" in spent(alice)
    yesterday = NOW - timedelta(days=1)
    assert [spent(alice, yesterday), "3 requests per month" in spent(alice, NOW)] == ["", True]
    assert spent(alice, NOW + timedelta(hours=2)) == ""  # December
    assert sum(QuotaUse.objects.values_list("requests", flat=True)) == 4  # what was refused is not counted


@pytest.mark.django_db
def test_tokens_are_counted_and_failed_requests_given_back(alice: User) -> None:  # P5
    quotas.put("person", str(alice.pk), Quota(requests_day=2, tokens_day=100))
    counted = quota_use.spend(quotas.limited(alice.pk), NOW)
    quota_use.settle(counted, 99)
    quota_use.settle(quota_use.spend(quotas.limited(alice.pk), NOW), 0, given_back=True)
    [subject] = quotas.limited(alice.pk)
    assert [(share.used, share.left) for share in quota_use.shares(subject, NOW)] == [(1, 1), (99, 1)]
    quota_use.settle(counted, 1)
    assert "100 tokens per day" in spent(alice)


@pytest.mark.django_db
def test_a_key_has_a_quota_within_that_of_its_person(alice: User) -> None:  # P5
    api_keys.create(alice.pk, "small", KeyLimits(quota=Quota(requests_day=1)))
    small = api_keys.listed(alice.pk)[0].id
    quotas.put("person", str(alice.pk), Quota(requests_day=3))
    assert spent(alice, key=small) == ""
    assert "The quota of this key" in spent(alice, key=small)
    assert [spent(alice), spent(alice), "Your quota" in spent(alice)] == ["", "", True]
    listed = {(row.kind, row.own): [share.most for share in row.shares] for row in quota_overview.overview().listed}
    assert listed == {("person", True): [3], ("key", True): [1]}


def at_once(work: Callable[[], object], times: int) -> list[object]:
    """What comes of calls in threads that begin together."""
    together = Barrier(times)

    def run(_: int) -> object:
        try:
            together.wait(10)
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(run, range(times)))


@pytest.mark.django_db(transaction=True)
def test_as_many_requests_get_through_at_once_as_the_quota_allows() -> None:  # P5
    alice = UserFactory()
    quotas.put("person", str(alice.pk), Quota(requests_day=5, requests_month=4))
    outcomes = at_once(lambda: spent(alice) == "", 8)
    assert outcomes.count(True) == 4
    assert QuotaUse.objects.get().requests == 4


@pytest.mark.django_db
def test_counts_end_when_no_quota_needs_them(alice: User) -> None:
    quotas.put("person", str(alice.pk), Quota(requests_day=5))
    assert spent(alice, datetime.now(UTC)) == spent(alice, datetime.now(UTC) - timedelta(days=500)) == ""
    quota_use.clear_old()
    assert QuotaUse.objects.count() == 1
