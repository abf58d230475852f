"""The problems that administrators have to solve count once, until they are solved: drift, and used-up quotas."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from tests.factories import ModelProfileFactory, ServerFactory
from tests.markup import flat
from tests.toolsupport.registry.testing.test_drift import NATIVE, becomes, concluded
from toolsupport.core.quota_rules import KEY, PERSON, ROLE, Quota
from toolsupport.models import ModelProfile, Server
from toolsupport.registry import raw_sql
from toolsupport.registry.people import accounts, api_keys, quota_use, quotas, quotas_near_limit
from toolsupport.registry.settings import team_settings
from toolsupport.registry.testing import detections, drift, open_problems

pytestmark = pytest.mark.django_db


@pytest.fixture
def changed() -> ModelProfile:
    """A model that was tested, then pulled again, and listed."""
    made: ModelProfile = ModelProfileFactory(digest="one")
    concluded(made)
    becomes(made, "two")
    drift.mark(made.server_id)
    return made


def drifted() -> int:
    return open_problems.counts()[open_problems.MODELS]


def spend(person: User, times: int, key: int = 0) -> None:
    for _ in range(times):
        quota_use.spend(quotas.limited(person.pk, key))


def test_a_changed_model_is_a_mark_until_it_is_tested_again(changed: ModelProfile) -> None:  # P9
    ModelProfileFactory()
    drift.mark(changed.server_id)
    assert drifted() == 1
    test = concluded(changed)
    assert drifted() == 0
    detections.undo(test, None)
    drift.mark(changed.server_id)
    assert drifted() == 1
    becomes(changed, "one")
    drift.mark(changed.server_id)
    assert drifted() == 0


def test_a_test_that_proves_nothing_leaves_the_mark(changed: ModelProfile) -> None:
    concluded(changed, detections.DetectionResult("inconclusive", {"why": "busy"}))
    assert drifted() == 1


@pytest.mark.parametrize(
    "out", [{"enabled": False}, {"gone_since": "2026-11-03T10:00Z"}, {"abilities": ["embedding"]}], ids=str
)
def test_what_is_out_of_use_is_no_mark(changed: ModelProfile, out: dict[str, object]) -> None:
    ModelProfile.objects.filter(pk=changed.pk).update(**out)
    drift.mark(changed.server_id)
    assert drifted() == 0


def test_a_server_out_of_use_and_a_team_that_does_not_ask_have_none(changed: ModelProfile) -> None:
    Server.objects.filter(pk=changed.server_id).update(enabled=False)
    assert drifted() == 0
    Server.objects.filter(pk=changed.server_id).update(enabled=True)
    assert drifted() == 1
    team_settings.put("drift", "off")
    drift.mark_all()
    assert drifted() == 0


def test_a_quota_is_a_mark_from_nine_tenths_on(alice: User, bob: User) -> None:  # P9
    quotas.put(PERSON, str(alice.pk), Quota(requests_day=10))
    spend(alice, 8)
    assert quotas_near_limit.open_marks() == {}
    spend(alice, 1)
    assert quotas_near_limit.open_marks() == {(PERSON, alice.pk): "close"}
    spend(alice, 1)
    assert quotas_near_limit.open_marks() == {(PERSON, alice.pk): "full"}
    assert open_problems.counts()[open_problems.QUOTAS] == 1
    quotas.put(PERSON, str(alice.pk), Quota(requests_day=20))
    assert quotas_near_limit.open_marks() == {}


def test_the_quota_of_a_role_counts_for_each_person(alice: User, bob: User) -> None:
    quotas.put(ROLE, "user", Quota(tokens_month=100))
    for _ in range(2):
        quota_use.settle(quota_use.spend(quotas.limited(alice.pk)), 60)
    assert quotas_near_limit.open_marks() == {(PERSON, alice.pk): "full"}
    accounts.set_role(bob.pk, alice.pk, "reviewer")
    assert quotas_near_limit.open_marks() == {}


def test_a_key_that_is_revoked_and_a_closed_account_need_nothing(alice: User) -> None:
    key = api_keys.create(alice.pk, "k")
    row = alice.api_keys.get()
    quotas.put(KEY, str(row.pk), Quota(requests_month=1))
    quotas.put(PERSON, str(alice.pk), Quota(requests_day=1))
    spend(alice, 1, row.pk)
    assert set(quotas_near_limit.open_marks()) == {(KEY, row.pk), (PERSON, alice.pk)} and key
    api_keys.revoke(alice.pk, row.pk)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert quotas_near_limit.open_marks() == {}


@pytest.mark.usefixtures("changed")
def test_administrators_see_both_in_the_navigation_and_on_the_way(client: Client, alice: User, bob: User) -> None:  # P9
    quotas.put(PERSON, str(alice.pk), Quota(requests_day=1))
    spend(alice, 1)
    bar = ("> model changed since its test<", "> quota is used up, or nearly<")
    for person, sees in ((alice, False), (bob, True)):
        client.force_login(person)
        page = flat(client.get("/models/").content.decode())
        assert [words in page for words in bar] == [sees, sees] and "To test again" in page
    assert "1 used up, or nearly" in flat(client.get("/people/").content.decode())
    assert ">used up<" in flat(client.get("/quotas/").content.decode())
    figures = client.get("/metrics").content.decode()
    assert 'toolsupport_marks{kind="models"} 1.0' in figures and 'toolsupport_marks{kind="quotas"} 1.0' in figures
    assert 'toolsupport_marks{kind="servers"} 0.0' in figures


def test_the_filter_lists_what_is_to_be_tested_again(client: Client, bob: User, changed: ModelProfile) -> None:
    other = ModelProfileFactory(name="stays:1b")
    concluded(other, NATIVE)
    client.force_login(bob)
    page = client.get("/models/?older=1").content.decode()
    assert changed.name in page and "stays:1b" not in page


def test_the_statement_that_is_built_once_reads_the_time_when_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    open_problems._statement.cache_clear()
    with monkeypatch.context() as earlier:
        began = timezone.now() - timedelta(hours=1)
        earlier.setattr(timezone, "now", lambda: began)
        open_problems.statement()
    server = ServerFactory(reachable=False, down_since=timezone.now() - timedelta(minutes=3))
    sql, parameters = open_problems.statement()
    assert raw_sql.rows(sql, *parameters) == [(server.pk, open_problems.SERVERS)]
