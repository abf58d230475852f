"""The page of the servers, for Alice, Bob, Charlie and strangers."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.factories import ModelProfileFactory, ServerFactory
from tests.markup import flat
from tests.toolsupport.stand_in import Servers
from toolsupport.models import Server
from toolsupport.providers import ModelReport, ServerReport
from toolsupport.registry.servers import missing_flags

pytestmark = pytest.mark.django_db(transaction=True)
HTMX = {"HX-Request": "true"}
BOX = "http://box:11434"
SENT = {"name": "Box", "kind": "ollama", "base_url": BOX, "api_key": "sk-canary"}


def _text(answer) -> str:
    assert answer.status_code == 200
    return answer.content.decode()


def test_everybody_sees_whether_servers_answer_and_what_to_do(client: Client, charlie: User):  # M2
    ServerFactory(name="up", version="0.13.0", last_seen_at="2026-11-03T10:00Z")
    ServerFactory(name="down", reachable=False, last_error="Connection refused.", down_since="2026-11-03T09:00Z")
    ServerFactory(name="new", reachable=None)
    client.force_login(charlie)
    page = _text(client.get("/servers/"))
    for words in ("answers", "does not answer", "not asked yet", "Connection refused.", "ollama serve", "3 Nov 2026"):
        assert words in page
    assert "Check again" not in page
    assert "Add a server" not in page


def test_a_missing_setting_is_a_mark_until_it_is_solved(client: Client, alice: User, bob: User, charlie: User):  # P9
    model = ModelProfileFactory(name="m:1b", server=ServerFactory(name="box"))
    missing_flags.missing(model.pk, "--jinja")
    bar = "> server needs a setting for tools<"
    for person, sees, tests in ((alice, False, True), (bob, True, True), (charlie, False, False)):
        client.force_login(person)
        for address in ("/servers/", f"/models/{model.pk}/"):
            page = flat(_text(client.get(address)))
            assert "The server needs a setting for tools: <code>--jinja</code>" in page, person
            assert (bar in page, "Test again" in page) == (sees, tests), person
    missing_flags.solved(model.pk)
    client.force_login(bob)
    for address in ("/servers/", f"/models/{model.pk}/"):
        page = _text(client.get(address))
        assert "--jinja" not in page and bar not in page


@pytest.mark.parametrize("path", ["add/", "refresh/", "1/check/", "1/switch/"])
def test_charlie_may_change_nothing(client: Client, charlie: User, path: str):
    assert client.post(f"/servers/{path}").headers["Location"].startswith("/login/")
    client.force_login(charlie)
    assert client.post(f"/servers/{path}").status_code == 403
    assert client.get(f"/servers/{path}").status_code == 405


def test_alice_may_check_but_not_add_or_switch(client: Client, alice: User, servers_out_there: Servers):
    server = ServerFactory(base_url=BOX)
    client.force_login(alice)
    assert "does not answer" in _text(client.post(f"/servers/{server.pk}/check/", headers=HTMX))
    for path in ("add/", f"{server.pk}/switch/"):
        assert client.post(f"/servers/{path}", SENT).status_code == 403


def test_bob_adds_a_server_and_it_is_asked_at_once(client: Client, bob: User, servers_out_there: Servers):  # M1
    servers_out_there.reports[BOX] = ServerReport("0.13.0", (ModelReport("qwen3:8b"), ModelReport("gemma3:1b")))
    client.force_login(bob)
    part = _text(client.post("/servers/add/", SENT, headers=HTMX))
    assert "It answered with 2 models." in part
    assert "with an API key" in part
    assert "canary" not in part
    assert "<html" not in part
    assert Server.objects.get().reachable is True
    assert "canary" not in Server.objects.get().api_key


def test_one_that_does_not_answer_is_kept_and_says_so(client: Client, bob: User, servers_out_there: Servers):
    client.force_login(bob)
    part = _text(client.post("/servers/add/", SENT, headers=HTMX))
    assert "It does not answer" in part
    assert Server.objects.get().reachable is False


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("name", "box", "already a server called"),
        ("name", "", "required"),
        ("kind", "simulator", "Select a valid choice"),
        ("base_url", "box", "begin with http"),
        ("base_url", "http://ana:pw@box", "API key has a field"),
    ],
)
def test_a_server_that_cannot_be_is_refused(
    client: Client, bob: User, servers_out_there: Servers, field: str, value: str, why: str
):
    ServerFactory(name="Box")
    client.force_login(bob)
    part = _text(client.post("/servers/add/", SENT | {"name": "Other", field: value}, headers=HTMX))
    assert why in part
    assert "sk-canary" not in part
    assert Server.objects.count() == 1
    assert servers_out_there.surveyed == []


def test_bob_switches_a_server_off_and_on(client: Client, bob: User):
    server = ServerFactory()
    client.force_login(bob)
    assert "switched off" in _text(client.post(f"/servers/{server.pk}/switch/", {"enabled": "0"}, headers=HTMX))
    server.refresh_from_db()
    assert server.enabled is False
    client.post(f"/servers/{server.pk}/switch/", {"enabled": "1"}, headers=HTMX)
    server.refresh_from_db()
    assert server.enabled is True


def test_refresh_asks_every_server(client: Client, bob: User, servers_out_there: Servers):
    servers_out_there.reports[BOX] = ServerReport("0.13.0")
    ServerFactory(base_url=BOX)
    ServerFactory(base_url="http://down:1")
    client.force_login(bob)
    assert "Asked 2 servers, 1 answered." in _text(client.post("/servers/refresh/", headers=HTMX))


@pytest.mark.parametrize("path", ["check/", "switch/"])
def test_an_absent_server_is_not_found(client: Client, bob: User, servers_out_there: Servers, path: str):
    client.force_login(bob)
    assert client.post(f"/servers/999/{path}").status_code == 404


def test_without_scripts_the_whole_page_comes_back(client: Client, bob: User, servers_out_there: Servers):
    client.force_login(bob)
    assert "<html" in _text(client.post("/servers/add/", SENT))


def test_many_servers_take_few_queries(
    client: Client, charlie: User, django_assert_max_num_queries: DjangoAssertNumQueries
):
    for _ in range(30):
        ModelProfileFactory()
    client.force_login(charlie)
    with django_assert_max_num_queries(8):
        assert client.get("/servers/").content.count(b'<section class="card" id="server-') == 30
