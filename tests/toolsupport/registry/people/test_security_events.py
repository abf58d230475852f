"""The events of an attack for administrators: one row per source and hour, in plain English, and never a flood."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.factories import PASSWORD
from tests.markup import flat
from toolsupport.models import SecurityEvent
from toolsupport.registry.people import security_events
from toolsupport.registry.people.sign_in_limits import ADDRESS, PAIR

pytestmark = pytest.mark.django_db


def _page(bob: User) -> str:
    admin = Client()
    admin.force_login(bob)
    return flat(admin.get("/people/audit/").content.decode())


def test_an_attack_is_one_row_with_a_count(client: Client, alice: User, bob: User):
    for _ in range(PAIR + 20):
        client.post("/login/", {"username": "Alice", "password": "wrong"})
    client.post("/login/", {"username": "hunter2", "password": "x"})
    Client(REMOTE_ADDR="192.0.2.9").post("/login/", {"username": "alice", "password": PASSWORD})
    rows = {(row.kind, row.person_id): row.times for row in SecurityEvent.objects.all()}
    assert rows == {
        ("sign_in_wrong", alice.pk): PAIR,
        ("sign_in_limited", alice.pk): 20,
        ("sign_in_wrong", None): 1,
        ("new_device", alice.pk): 1,
    }
    page = _page(bob)
    for sentence in (
        "A sign-in as alice failed: wrong name or password.",
        "A sign-in as alice was refused after too many attempts.",
        "A sign-in as an unknown name failed",
        "alice signed in on a new device.",
        "192.0.2.9",
    ):
        assert sentence in page
    assert "hunter2" not in page


def test_a_known_device_is_no_news(alice: User):
    browser = Client()
    for _ in range(3):
        browser.post("/login/", {"username": "alice", "password": PASSWORD})
        browser.post("/logout/")
    assert SecurityEvent.objects.get().times == 1


def test_many_sources_do_not_fill_the_audit(monkeypatch: pytest.MonkeyPatch, bob: User):
    monkeypatch.setattr(security_events, "MOST", 5)
    for number in range(30):
        security_events.record("api_key_wrong", f"198.51.100.{number}")
    assert SecurityEvent.objects.count() == 6
    assert SecurityEvent.objects.get(address=security_events.SEVERAL).times == 25


def test_pages_of_events(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(security_events, "PAGE", 3)
    for number in range(5):
        security_events.record("link_wrong", f"198.51.100.{number}")
    first = security_events.newest()
    assert [event.address[-1] for event in (*first, *security_events.newest(first[-1].id))] == ["4", "3", "2", "1", "0"]


def test_wrong_keys_and_tokens_are_limited_by_address_and_right_ones_pass(client: Client, alice: User, settings):
    settings.ENV = settings.ENV | {"TOOLSUPPORT_METRICS_TOKEN": "a long enough token"}
    elsewhere = Client(REMOTE_ADDR="192.0.2.9")
    wrong = {"Authorization": "Bearer tsk-wrong"}
    for path, headers, status in (
        ("/v1/models", wrong, 401),
        ("/metrics", wrong, 401),
        ("/setup/?token=wrong", {}, 403),
        ("/join/?token=1-wrong", {}, 403),
    ):
        answers = [client.get(path, headers=headers) for _ in range(ADDRESS + 1)]
        assert [answer.status_code for answer in answers] == [status] * ADDRESS + [429], path
        assert int(answers[-1].headers["Retry-After"]) > 200
        assert elsewhere.get(path, headers=headers).status_code == status
    before = SecurityEvent.objects.count()
    assert [Client(REMOTE_ADDR="192.0.2.8").get(path).status_code for path in ("/setup/", "/join/")] == [403, 403]
    assert SecurityEvent.objects.count() == before  # no token, no guess
    right = {"Authorization": "Bearer a long enough token"}
    assert client.get("/metrics", headers=right).status_code == 200
    assert set(SecurityEvent.objects.values_list("kind", flat=True)) == {
        *("api_key_wrong", "metrics_token_wrong", "setup_token_wrong", "link_wrong")
    }
