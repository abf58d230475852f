"""Access of programs: Alice with a key, Bob who is deactivated, Charlie whose role does not chat."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import AsyncClient, Client

from toolsupport.config.logs import request_id
from toolsupport.core.errors import ConfigError
from toolsupport.models import ApiKey
from toolsupport.registry.people import api_keys
from toolsupport.registry.people.api_keys import KeyLimits
from toolsupport.web.authentication import api_key_auth

pytestmark = pytest.mark.django_db


def get(path: str, key: str, kind: str = "Bearer") -> Any:
    return Client().get(path, headers={"Authorization": f"{kind} {key}"})


@pytest.mark.parametrize("path", ["/v1/models", "/api/models"])
def test_one_key_opens_both(alice: User, path: str) -> None:
    assert get(path, api_keys.create(alice.pk, "laptop")).status_code == 200
    assert get(path, api_keys.create(alice.pk, "again"), kind="bearer").status_code == 200


@pytest.mark.parametrize("path", ["/v1/models", "/v1/chat/completions", "/v1/nothing", "/api/models"])
@pytest.mark.parametrize("header", ["", "Bearer ", "Bearer tsk-guessed", "Basic YTpi", "tsk-"])
def test_without_a_key_nothing_is_told(client: Client, path: str, header: str) -> None:
    answer = client.get(path, headers={"Authorization": header})
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert answer.json()["error"]["type"] == "authentication_error"


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
async def test_a_key_is_checked_under_the_number_of_its_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is logged meanwhile has it, though the check runs in another thread."""
    numbers = list[str]()
    monkeypatch.setattr(api_keys, "holder", lambda key: numbers.append(request_id.get()))
    headers = {"Authorization": "Bearer tsk-guessed", "X-Request-ID": "of-this-request"}
    body = {"model": "m", "messages": []}
    answer = await AsyncClient().post("/v1/chat/completions", body, content_type="application/json", headers=headers)
    assert (answer.status_code, numbers) == (401, ["of-this-request"])


def test_a_wrong_key_is_not_made_good_by_a_session(client: Client, alice: User) -> None:
    client.force_login(alice)
    assert client.get("/v1/models", headers={"Authorization": "Bearer tsk-guessed"}).status_code == 401
    assert client.get("/v1/models").status_code == 200


def test_a_key_is_worth_nothing_on_the_pages(alice: User) -> None:
    assert get("/account/", api_keys.create(alice.pk, "laptop")).status_code == 302


def test_a_key_stops_with_its_person(bob: User) -> None:  # SAFETY (Gateway)
    key = api_keys.create(bob.pk, "laptop")
    assert get("/v1/models", key).status_code == 200
    User.objects.filter(pk=bob.pk).update(is_active=False)
    assert get("/v1/models", key).status_code == 401


def test_a_key_may_no_more_than_the_role_of_its_person(charlie: User) -> None:
    answer = get("/v1/models", api_keys.create(charlie.pk, "laptop"))
    assert answer.status_code == 403
    assert "does not allow you to chat" in answer.json()["error"]["message"]


def test_a_key_may_no_more_than_it_was_made_for(alice: User) -> None:
    key = api_keys.create(alice.pk, "laptop")
    ApiKey.objects.update(scopes=["models"])
    assert (get("/api/models", key).status_code, get("/v1/models", key).status_code) == (200, 403)


OPENED = {
    "chat": "/v1/models /v1/chat/completions /v1/responses /v1/messages /v1/messages/count_tokens /v1/embeddings",
    "models": "/api/models /api/models/box/m /api/detections/1 /api/openapi.json",
    "detect": "/api/models/box/m/detect /api/detections/1",
}
READ = ("/v1/models", *OPENED["models"].split())


@pytest.mark.parametrize("scope", OPENED)
def test_each_scope_opens_its_addresses_only(bob: User, scope: str) -> None:  # P5
    """Also those of an administrator's key. A request that is let in fails for another reason."""
    key = api_keys.create(bob.pk, "laptop", KeyLimits([scope]))
    for path in " ".join(OPENED.values()).split():
        client, headers = Client(), {"Authorization": f"Bearer {key}"}
        answer = (client.get if path in READ else client.post)(path, headers=headers)
        assert (answer.status_code == 403) == (path not in OPENED[scope].split()), path


def test_a_session_still_needs_its_token_to_write(alice: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice)
    answer = strict.post("/v1/chat/completions", {}, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["type"]) == (403, "permission_error")
    key = {"Authorization": f"Bearer {api_keys.create(alice.pk, 'laptop')}"}
    assert strict.post("/v1/chat/completions", {}, content_type="application/json", headers=key).status_code == 400


def test_too_many_requests_are_told_when_to_come_back(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ENV", {**settings.ENV, "TOOLSUPPORT_KEY_REQUESTS": 2})
    monkeypatch.setattr(api_key_auth, "rate", api_key_auth.RateLimiter())
    monkeypatch.setattr(time, "time", lambda: 6_000_000.0)
    key, other = api_keys.create(alice.pk, "laptop"), api_keys.create(alice.pk, "other")
    assert [get("/v1/models", key).status_code for _ in range(3)] == [200, 200, 429]
    slow = get("/v1/models", key)
    assert (slow.headers["Retry-After"], slow.json()["error"]["type"]) == ("60", "rate_limit_error")
    assert get("/v1/models", other).status_code == 200


@pytest.mark.parametrize("name", [" ", "a\u202eb", "a\nb", "\u2800"])
def test_a_key_has_a_name_that_people_can_see(alice: User, name: str) -> None:
    with pytest.raises(ConfigError, match="name"):
        api_keys.create(alice.pk, name)


def test_the_next_minute_counts_anew() -> None:
    rate = api_key_auth.RateLimiter()
    assert [rate.wait(1, 1, now) for now in (60.0, 90.0, 119.5, 120.0)] == [0, 30, 1, 0]
