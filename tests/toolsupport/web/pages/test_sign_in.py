"""Signing in, signing out, the first administrator."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.factories import PASSWORD, UserFactory
from toolsupport.registry.people import first_admin

pytestmark = pytest.mark.django_db
GOOD = {"username": "ana", "password": "correct horse battery", "again": "correct horse battery"}


def test_the_first_visitor_with_the_address_becomes_administrator(client: Client):  # O1
    token = first_admin.new_setup_token()
    page = client.get(f"/setup/?token={token}")
    assert page.status_code == 200
    assert f'name="token" value="{token}"' in page.content.decode()
    answer = client.post("/setup/", GOOD | {"token": token})
    assert answer.headers["Location"] == "/start/"
    assert client.session["_auth_user_id"] == str(User.objects.get(username="ana").pk)
    assert client.get(f"/setup/?token={token}").headers["Location"] == "/login/"


@pytest.mark.parametrize("token", ["", "wrong"])
def test_a_stranger_without_the_address_gets_no_form(client: Client, token: str):
    first_admin.new_setup_token()
    for answer in (client.get(f"/setup/?token={token}"), client.post("/setup/", GOOD | {"token": token})):
        assert answer.status_code == 403
        assert "<form class=" not in answer.content.decode()
    assert not User.objects.exists()


def test_the_set_up_is_closed_once_there_is_an_administrator(client: Client, bob: User):
    token = first_admin.new_setup_token()
    assert client.post("/setup/", GOOD | {"token": token}).headers["Location"] == "/login/"
    assert not User.objects.filter(username="ana").exists()


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"again": "another"}, "not the same"),
        ({"password": "123", "again": "123"}, "too short"),
        ({"password": "password", "again": "password"}, "too common"),
        ({"username": "a b"}, "valid username"),
        ({"username": ""}, "required"),
    ],
)
def test_a_form_that_does_not_do_says_why_and_can_be_sent_again(client: Client, fields: dict, why: str):
    token = first_admin.new_setup_token()
    page = client.post("/setup/", GOOD | {"token": token} | fields).content.decode()
    assert why in page
    assert "correct horse battery" not in page
    assert client.post("/setup/", GOOD | {"token": token}).headers["Location"] == "/start/"


def test_signing_in_comes_back_to_the_page(client: Client):
    UserFactory(username="alice", role="user")
    sent = {"username": "alice", "password": PASSWORD, "next": "/models/?q=a"}
    assert client.post("/login/", sent).headers["Location"] == "/models/?q=a"


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_signing_in_leads_nowhere_else(client: Client, elsewhere: str):
    UserFactory(username="alice", role="user")
    sent = {"username": "alice", "password": PASSWORD, "next": elsewhere}
    assert client.post("/login/", sent).headers["Location"] == "/"


def test_a_wrong_password_and_an_unknown_name_look_the_same(client: Client):
    UserFactory(username="alice")
    UserFactory(username="gone", is_active=False)
    pages = [
        client.post("/login/", {"username": name, "password": word}).content.decode()
        for name, word in (("alice", "wrong"), ("nobody", PASSWORD), ("gone", PASSWORD))
    ]
    for page in pages:
        assert "The username or password is wrong" in page


def test_a_fresh_site_tells_where_to_begin(client: Client):
    assert "set-up address" in client.get("/login/").content.decode()
    UserFactory(role="admin")
    assert "set-up address" not in client.get("/login/").content.decode()


def test_the_signed_in_need_no_sign_in_and_leave_by_a_post(client: Client, alice: User):
    client.force_login(alice)
    assert client.get("/login/").headers["Location"] == "/"
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/").headers["Location"] == "/login/"
    assert client.get("/models/").status_code == 302


def test_forms_need_their_token():
    client = Client(enforce_csrf_checks=True)
    assert client.post("/login/", {"username": "a", "password": "b"}).status_code == 403
