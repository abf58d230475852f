"""Signing in is tried a few times, then not for a while, however many processes count."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from tests.factories import PASSWORD
from toolsupport.core.errors import Busy
from toolsupport.models import SignInTally
from toolsupport.registry.people import sign_in_limits
from toolsupport.registry.people.sign_in_limits import ADDRESS, NAME, PAIR, attempt, succeeded


def _tried(name: str, address: str) -> bool:
    try:
        attempt(name, address)
    except Busy:
        return False
    return True


@pytest.mark.django_db
def test_one_name_from_one_address():
    assert [_tried("alice", "a") for _ in range(PAIR + 2)] == [True] * PAIR + [False] * 2
    assert not _tried(" ALICE ", "a")
    assert _tried("alice", "b") and _tried("bob", "a")


@pytest.mark.django_db
def test_many_names_from_one_address():
    assert all(_tried(f"name{number}", "a") for number in range(ADDRESS))
    assert not _tried("another", "a")
    assert _tried("another", "b")


@pytest.mark.django_db
def test_one_name_from_many_addresses():
    assert all(_tried("alice", f"address{number}") for number in range(NAME))
    assert not _tried("alice", "another")


@pytest.mark.django_db
def test_the_window_ends_and_success_forgets():
    while _tried("alice", "a"):
        pass
    SignInTally.objects.update(until=timezone.now())
    assert _tried("alice", "a")
    assert SignInTally.objects.count() == 3
    succeeded("alice", "a")
    assert all(_tried("alice", "a") for _ in range(PAIR))


@pytest.mark.django_db
def test_what_was_typed_is_not_kept():
    attempt("hunter2-in-the-wrong-field", "192.0.2.7")
    kept = str(list(SignInTally.objects.values()))
    assert "hunter2" not in kept and "192.0.2.7" not in kept


@pytest.mark.django_db(transaction=True)
def test_those_who_come_at_once_are_all_counted():
    together = Barrier(8)

    def come(_: int) -> int:
        try:
            together.wait(10)
            return sum(_tried("alice", "a") for _ in range(4))
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(come, range(8))) == PAIR


@pytest.mark.django_db
def test_the_page_says_so_and_the_right_password_does_not_help(client: Client, alice: User):
    wrong = {"username": "alice", "password": "wrong"}
    pages = [client.post("/login/", wrong) for _ in range(PAIR + 1)]
    assert [page.status_code for page in pages] == [200] * PAIR + [429]
    assert "too often" in pages[-1].content.decode()
    right = client.post("/login/", wrong | {"password": PASSWORD})
    assert right.status_code == 429 and "_auth_user_id" not in client.session
    elsewhere = Client(REMOTE_ADDR="192.0.2.9")
    assert elsewhere.post("/login/", wrong | {"password": PASSWORD}).status_code == 302


@pytest.mark.django_db
def test_an_invented_forwarding_gives_no_fresh_tries(client: Client, settings, alice: User):
    wrong = {"username": "alice", "password": "wrong"}
    for https, invented in ((False, "{}"), (True, "{}, 192.0.2.1")):
        settings.BEHIND_HTTPS = https
        answers = [
            client.post("/login/", wrong, headers={"X-Forwarded-For": invented.format(f"10.0.0.{number}")})
            for number in range(PAIR + 1)
        ]
        assert answers[-1].status_code == 429


@pytest.mark.django_db
def test_the_administration_has_no_door_of_its_own(client: Client, alice: User):
    assert client.get("/admin/login/?next=/admin/auth/user/").headers["Location"] == "/login/?next=/admin/auth/user/"
    assert client.post("/admin/login/", {"username": "alice", "password": PASSWORD}).status_code == 405
    assert "_auth_user_id" not in client.session


def test_the_window_is_told_in_minutes():
    assert sign_in_limits.WINDOW.total_seconds() % 60 == 0
