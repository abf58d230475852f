"""The page of quotas, what an account shows of them, and the limits of a new key."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from toolsupport.core.quota_rules import Quota
from toolsupport.models import ApiKey
from toolsupport.registry.people import api_keys, quota_use, quotas
from toolsupport.registry.people.api_keys import KeyLimits

pytestmark = pytest.mark.django_db


def plain(answer: object) -> str:
    """The words of a page."""
    return " ".join(re.sub(r"<[^>]*>", " ", answer.content.decode()).split())  # type: ignore[attr-defined]


def test_an_administrator_sets_a_quota_and_sees_its_use(client: Client, alice: User, bob: User) -> None:  # P5
    client.force_login(bob)
    assert "No quota is set." in plain(client.get("/quotas/"))
    answer = client.post("/quotas/save/", {"subject": f"person:{alice.pk}", "requests_day": "5"})
    assert answer.status_code == 302
    for _ in range(2):
        quota_use.spend(quotas.limited(alice.pk))
    page = client.get(f"/quotas/?for=person:{alice.pk}")
    assert "Requests per day: 3 of 5 left" in plain(page) and 'name="requests_day" value="5"' in page.content.decode()
    client.force_login(alice)
    assert "Requests per day: 3 of 5 left" in plain(client.get("/account/"))
    client.force_login(bob)
    client.post("/quotas/save/", {"subject": f"person:{alice.pk}"})
    assert "No quota is set." in plain(client.get("/quotas/"))


@pytest.mark.parametrize(
    "given", [{"subject": "person:987654"}, {"subject": "role:user", "requests_day": "-1"}, {"requests_day": "5"}]
)
def test_a_wrong_quota_is_refused(client: Client, bob: User, given: dict[str, str]) -> None:
    client.force_login(bob)
    answer = client.post("/quotas/save/", given)
    assert answer.status_code == 422 and "errorlist" in answer.content.decode()
    assert "No quota is set." in plain(client.get("/quotas/"))


def test_a_new_key_gets_its_limits_on_the_page(client: Client, alice: User) -> None:  # P5
    client.force_login(alice)
    day = (timezone.now() + timedelta(days=3)).date()
    given = {"name": "laptop", "scopes": ["models"], "expires": day.isoformat(), "requests_day": "4"}
    assert client.post("/account/keys/", given).status_code == 200
    row = ApiKey.objects.get()
    assert (row.scopes, row.expires_at.date() if row.expires_at else None) == (["models"], day)
    assert "Requests per day: 4 of 4 left" in plain(client.get("/account/"))


def test_a_key_without_the_scope_is_refused(client: Client, alice: User) -> None:  # P5
    key = api_keys.create(alice.pk, "reader", KeyLimits(scopes=["models"]))
    head = {"Authorization": f"Bearer {key}"}
    assert client.get("/api/models", headers=head).status_code == 200
    assert client.get("/v1/models", headers=head).status_code == 403


def test_an_expired_key_lets_nobody_in(client: Client, alice: User) -> None:  # P5
    key = api_keys.create(alice.pk, "short", KeyLimits(expires=timezone.now() + timedelta(days=1)))
    assert api_keys.holder(key) is not None and api_keys.expiring(2) == 1
    ApiKey.objects.update(expires_at=timezone.now())
    assert api_keys.holder(key) is None and api_keys.expiring(2) == 0
    refused = client.get("/v1/models", headers={"Authorization": f"Bearer {key}"})
    assert refused.status_code == 401 and b"expired" in refused.content


def test_the_command_limits_a_key(alice: User, capsys: pytest.CaptureFixture[str]) -> None:  # P5
    day = (timezone.now() + timedelta(days=3)).date()
    call_command("create_api_key", "alice", "--requests-per-day=2", f"--expires={day}", "--scope=chat")
    holder = api_keys.holder(capsys.readouterr().out.strip())
    assert holder is not None and holder.scopes == ("chat",)
    assert [one.quota for one in quotas.of_key(holder.key)] == [Quota(requests_day=2)]
    assert ApiKey.objects.get().expires_at.date() == day  # type: ignore[union-attr]


@pytest.mark.parametrize("day", ["2020-01-01", "soon"])
def test_the_command_refuses_a_day_that_will_not_do(alice: User, day: str) -> None:
    with pytest.raises(CommandError, match="day"):
        call_command("create_api_key", "alice", f"--expires={day}")
