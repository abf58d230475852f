"""The page of the people: invited, given a role, kept out."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.test import Client
from django.utils import timezone

from tests.factories import PASSWORD, UserFactory
from toolsupport.core.errors import NotAllowed
from toolsupport.models import Session
from toolsupport.registry.people import accounts
from toolsupport.registry.people.permissions import Action, may

pytestmark = pytest.mark.django_db
GOOD = {"password": "correct horse battery", "again": "correct horse battery"}


@pytest.fixture
def admins(bob: User) -> Client:
    client = Client()
    client.force_login(bob)
    return client


def _signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def _link(answer) -> str:
    return re.findall(r"/join/\?token=([\w-]+)", answer.content.decode())[0]


def test_somebody_is_invited_and_comes_in_by_the_link_once(admins: Client):  # O7
    answer = admins.post("/people/invite/", {"name": "dora", "role": "reviewer"})
    token = _link(answer)
    assert "no-store" in answer.headers["Cache-Control"]
    assert token not in admins.get("/people/").content.decode()
    dora = User.objects.get(username="dora")
    assert not dora.has_usable_password()
    client = Client()
    assert "Welcome, dora" in client.get(f"/join/?token={token}").content.decode()
    assert client.post("/join/", GOOD | {"token": token}).headers["Location"] == "/start/"
    assert client.session["_auth_user_id"] == str(dora.pk)
    assert may(dora, Action.REVIEW) and not may(dora, Action.ADMINISTER)
    assert client.get(f"/join/?token={token}").status_code == 403


@pytest.mark.parametrize("token", ["", "x", "1-x", "0-", "99999999999999999999-x", "²-x", "1-czw0-" + "a" * 32])
def test_a_link_that_never_was_opens_nothing(client: Client, alice: User, token: str):
    assert client.get("/join/", {"token": token}).status_code == 403
    assert client.post("/join/", GOOD | {"token": token}).status_code == 403


def test_a_link_is_too_old_after_a_week(admins: Client, client: Client, monkeypatch: pytest.MonkeyPatch):
    token = _link(admins.post("/people/invite/", {"name": "dora", "role": "user"}))
    tokens = default_token_generator
    began = tokens._now()
    monkeypatch.setattr(tokens, "_now", lambda: began + timedelta(days=7, seconds=-9))
    assert client.get("/join/", {"token": token}).status_code == 200
    monkeypatch.setattr(tokens, "_now", lambda: began + timedelta(days=7, seconds=9))
    assert client.get("/join/", {"token": token}).status_code == 403


def test_a_newer_link_replaces_the_older(admins: Client, client: Client):
    older = _link(admins.post("/people/invite/", {"name": "dora", "role": "user"}))
    newer = _link(admins.post(f"/people/{User.objects.get(username='dora').pk}/link/"))
    assert client.get("/join/", {"token": older}).status_code == 403
    assert client.get("/join/", {"token": newer}).status_code == 200


def test_a_password_that_does_not_do_leaves_the_link_as_it_was(admins: Client, client: Client):
    token = _link(admins.post("/people/invite/", {"name": "dora", "role": "user"}))
    for fields, why in (({"password": "123", "again": "123"}, "too short"), ({"again": "other"}, "not the same")):
        page = client.post("/join/", GOOD | fields | {"token": token}).content.decode()
        assert why in page and "correct horse" not in page
    assert client.post("/join/", GOOD | {"token": token}).status_code == 302


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("bob", "already exists"),
        ("BOB", "A person named BOB already exists"),
        ("a b", "valid username"),
        ("", "required"),
    ],
)
def test_a_name_that_does_not_do_says_why(admins: Client, name: str, why: str):
    assert why in admins.post("/people/invite/", {"name": name, "role": "user"}).content.decode()
    assert User.objects.count() == 1


def test_a_role_is_changed_and_counts_at_once(admins: Client, alice: User):
    client = _signed_in(alice)
    admins.post(f"/people/{alice.pk}/role/", {"role": "viewer"})
    assert client.post("/chat/new/").status_code == 403
    admins.post(f"/people/{alice.pk}/role/", {"role": "admin"})
    assert client.get("/admin/").status_code == 200
    admins.post(f"/people/{alice.pk}/role/", {"role": "user"})
    assert client.get("/people/").status_code == 403
    assert client.get("/admin/", follow=True).status_code == 403


def test_there_are_no_other_roles(admins: Client, alice: User):
    assert "There is no role" in admins.post(f"/people/{alice.pk}/role/", {"role": "root"}).content.decode()
    assert may(User.objects.get(pk=alice.pk), Action.CHAT)


def test_keeping_somebody_out_ends_their_sessions(admins: Client, alice: User):
    client = _signed_in(alice)
    admins.post(f"/people/{alice.pk}/switch/", {"active": "0"})
    assert client.get("/models/").headers["Location"].startswith("/login/")
    assert not Session.objects.filter(person=alice).exists()
    assert client.post("/login/", {"username": "alice", "password": PASSWORD}).status_code == 200
    admins.post(f"/people/{alice.pk}/switch/", {"active": "1"})
    assert client.post("/login/", {"username": "alice", "password": PASSWORD}).status_code == 302


def test_a_new_link_takes_the_old_password_and_the_sessions_away(admins: Client, alice: User):
    client = _signed_in(alice)
    admins.post(f"/people/{alice.pk}/link/")
    assert client.get("/models/").status_code == 302
    assert client.post("/login/", {"username": "alice", "password": PASSWORD}).status_code == 200


@pytest.mark.parametrize(("what", "fields"), [("role", {"role": "user"}), ("switch", {"active": "0"}), ("link", {})])
def test_nobody_changes_themselves_there(admins: Client, bob: User, what: str, fields: dict):
    assert admins.post(f"/people/{bob.pk}/{what}/", fields).status_code == 403
    assert may(User.objects.get(pk=bob.pk), Action.ADMINISTER)


def test_the_last_administrator_stays(bob: User):
    eve = UserFactory(username="eve", role="user")
    for change in (
        lambda: accounts.set_role(eve.pk, bob.pk, "user"),
        lambda: accounts.set_active(eve.pk, bob.pk, False),
    ):
        with pytest.raises(NotAllowed):
            change()
        assert may(User.objects.get(pk=bob.pk), Action.ADMINISTER)


def test_the_page_tells_who_is_who(admins: Client, bob: User):
    UserFactory(username="kept", role="user", is_active=False)
    UserFactory(username="roleless")
    accounts.invite("dora", "viewer")
    page = admins.get("/people/").content.decode()
    for word in ("Deactivated", "Invited", "Active", "roleless", "you</span>"):
        assert word in page
    shown = {person.name: person for person in accounts.listed()}
    assert (shown["bob"].role, shown["bob"].browsers, shown["roleless"].role) == ("admin", 1, "")


def test_a_part_is_enough_for_htmx(admins: Client, alice: User):
    answer = admins.post(f"/people/{alice.pk}/role/", {"role": "viewer"}, headers={"HX-Request": "true"})
    assert answer.content.decode().strip().startswith('<div id="board"')


def test_expired_sessions_are_not_counted_and_are_cleared(bob: User, alice: User):
    _signed_in(alice)
    Session.objects.update(expire_date=timezone.now() - timedelta(days=1))
    assert {person.browsers for person in accounts.listed()} == {0}
