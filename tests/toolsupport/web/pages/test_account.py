"""One's own account: a new password ends what the old one opened."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.factories import PASSWORD
from toolsupport.models import Session
from toolsupport.registry.people import session_store, sign_in_limits

pytestmark = pytest.mark.django_db
NEW = "another long passphrase"


@pytest.fixture
def browsers(alice: User) -> list[Client]:
    clients = [Client(), Client(), Client()]
    for client in clients:
        client.force_login(alice)
    return clients


def _change(client: Client, **fields: str):
    sent = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    return client.post("/account/password/", sent | fields)


def test_a_new_password_ends_every_other_session(browsers: list[Client], alice: User):  # O7
    assert _change(browsers[0]).headers["Location"] == "/account/"
    page = browsers[0].get("/account/").content.decode()
    assert "Saved. 2 other browsers were signed out." in page
    assert [client.get("/account/").status_code for client in browsers] == [200, 302, 302]
    assert Session.objects.filter(person=alice).count() == 1
    assert Client().login(username="alice", password=NEW)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"old_password": "wrong"}, "entered incorrectly"),
        ({"new_password2": "different from it"}, "match"),
        ({"new_password1": "123", "new_password2": "123"}, "too short"),
    ],
)
def test_what_does_not_do_changes_nothing(browsers: list[Client], fields: dict, why: str):
    answer = _change(browsers[0], **fields)
    assert (answer.status_code, why in answer.content.decode()) == (422, True)
    assert NEW not in answer.content.decode()
    assert [client.get("/account/").status_code for client in browsers] == [200, 200, 200]


def test_the_old_password_cannot_be_guessed_without_end(browsers: list[Client]):
    for _ in range(sign_in_limits.PAIR):
        _change(browsers[0], old_password="wrong")
    assert "Too many attempts" in _change(browsers[0]).content.decode()


def test_signing_out_everywhere_includes_here(browsers: list[Client], alice: User):
    assert "with 3 browsers" in browsers[0].get("/account/").content.decode()
    assert browsers[0].post("/account/sign-out-everywhere/").headers["Location"] == "/login/"
    assert [client.get("/account/").status_code for client in browsers] == [302, 302, 302]
    assert session_store.count(alice.pk) == 0


def test_signing_out_here_leaves_the_others(browsers: list[Client]):
    browsers[0].post("/logout/")
    assert [client.get("/account/").status_code for client in browsers] == [302, 200, 200]


def test_every_role_has_an_account(client: Client, charlie: User):
    client.force_login(charlie)
    assert "Sign out everywhere" in client.get("/account/").content.decode()
