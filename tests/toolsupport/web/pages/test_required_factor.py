"""The rule that requires a second factor: who has none may set one up, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from tests.factories import PASSWORD
from tests.parameters import KINDS
from tests.test_permissions import ADDRESSES
from tests.toolsupport.web.authenticator import Authenticator
from toolsupport.config import environment
from toolsupport.models import Audit, Passkey, Session
from toolsupport.registry.factors import recovery_codes, requirement, second_factors
from toolsupport.registry.people import api_keys, socket_access
from toolsupport.registry.people.permissions import PUBLIC, Action
from toolsupport.registry.people.session_store import SessionStore
from toolsupport.registry.people.socket_access import SocketAccess
from toolsupport.registry.settings import team_settings
from toolsupport.web.authentication.trusted_header import SocketGuard

pytestmark = pytest.mark.django_db
PAGES = ("/", "/models/", "/people/", "/servers/", "/tools/", "/admin/", "/account/passkeys/1/remove/")


def text(answer: Any) -> str:
    return str(answer.content.decode())


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def require(rule: str) -> None:
    team_settings.put(requirement.KEY, rule)


def give_passkey(person: User) -> None:
    Passkey.objects.create(person=person, name="Phone", site="localhost", credential=f"c{person.pk}", handle="h")


def lands_on_set_up(client: Client, path: str) -> bool:
    answer = client.get(path, follow=True)
    return answer.redirect_chain[-1:] == [("/account/", 302)] and "Set up a second factor" in text(answer)


def set_up(client: Client) -> Any:
    page = text(client.post("/account/second-factor/", {"factor-password": PASSWORD}))
    return client.post("/account/second-factor/confirm/", {"factor-code": Authenticator(page).code()})


def test_who_has_none_sets_one_up_before_anything_else(bob: User) -> None:  # P4
    User.objects.filter(pk=bob.pk).update(is_staff=True, is_superuser=True)  # for Django's administration
    client = signed_in(bob)
    assert [path for path in ("/models/", "/admin/") if client.get(path).status_code != 200] == []
    require("everyone")  # holds for sessions that began before
    assert [path for path in PAGES if not lands_on_set_up(client, path)] == []
    page = text(client.get("/account/"))
    assert "API keys" not in page and "/people/" not in page and 'action="/logout/"' in page
    assert client.get("/models/", headers={"HX-Request": "true"}).headers["HX-Redirect"] == "/account/"
    for path in ("/account/keys/", "/account/password/", "/people/invite/", "/account/recovery-codes/"):
        assert client.post(path).headers["Location"] == "/account/", path
    done = text(set_up(client))
    assert "Recovery codes" in done and "Continue" in done
    assert client.get("/models/").status_code == 200 and client.get("/account/").status_code == 200


SET_UP = {"account", "factor-begin", "factor-confirm", "passkey-add", "passkey-begin"}


def test_every_address_but_the_set_up_is_closed(bob: User) -> None:
    """The permission matrix for an administrator without a required factor."""
    client = signed_in(bob)
    require("everyone")
    let_in = set()
    for one in (one for one in ADDRESSES if one.permission != PUBLIC):
        url = reverse(one.name, args=[KINDS[name].absent(bob) for name in one.parameters])
        answers = [answer for answer in (client.get(url), client.post(url)) if answer.status_code != 405]
        if not all(answer.headers.get("Location") == "/account/" for answer in answers):
            let_in.add(one.name)
    assert let_in == SET_UP


def test_a_rule_for_administrators_is_for_them_alone(bob: User, alice: User, charlie: User) -> None:
    clients = {person: signed_in(person) for person in (bob, alice, charlie)}
    User.objects.filter(pk=charlie.pk).update(is_superuser=True)
    require("admins")
    confined = [person for person, client in clients.items() if lands_on_set_up(client, "/models/")]
    assert confined == [bob, charlie]
    alice.groups.add(Group.objects.get(name="admin"))  # a new role counts at the next page
    assert lands_on_set_up(clients[alice], "/models/")
    for person in (bob, alice, charlie):
        give_passkey(person)
    assert not any(lands_on_set_up(client, "/models/") for client in clients.values())


def test_the_last_factor_stays_while_it_is_required(alice: User, bob: User) -> None:
    client = signed_in(alice)
    require("everyone")
    give_passkey(alice)
    client.post("/account/second-factor/check/", {"factor-code": recovery_codes.renew(alice)[0]})
    path = f"/account/passkeys/{Passkey.objects.get().pk}/remove/"
    answer = client.post(path, {"passkey-password": PASSWORD})
    assert (answer.status_code, requirement.KEEP in text(answer)) == (409, True)
    assert second_factors.active(alice.pk)
    second_factors.remove(bob.pk, alice.pk, "on the page People")  # by an administrator
    assert lands_on_set_up(client, "/models/")


def test_a_link_of_the_machine_leads_past_the_rule(bob: User, capsys: pytest.CaptureFixture[str]) -> None:
    """The last administrator may know no password any more, and no factor is set up without it."""
    require("everyone")
    call_command("sign_in_link", "bob", "--url=http://testserver")
    client = Client()
    client.post("/login/link/", {"token": capsys.readouterr().out.strip().partition("token=")[2]})
    assert client.get("/people/").status_code == 200
    client.post("/people/second-factor/", {"rule": "off"})
    assert requirement.present() == "off"
    require("everyone")
    client.post("/logout/")
    client.post("/login/", {"username": "bob", "password": PASSWORD})
    assert lands_on_set_up(client, "/people/")


def test_keys_of_programs_work_on(alice: User) -> None:
    key = api_keys.create(alice.pk, "a program")
    require("everyone")
    answer = Client().get("/api/models", headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 200


def test_no_socket_is_opened_or_stays_open(alice: User) -> None:
    client = signed_in(alice)
    key = str(client.session.session_key)
    require("everyone")
    seen: list[Any] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["user"].is_authenticated)

    def opened() -> None:
        store = SessionStore(key)
        assert store.get(SESSION_KEY)  # as Channels loads it
        async_to_sync(SocketGuard(inner))({"user": alice, "session": store}, None, None)

    open_one = SocketAccess(alice.pk, key, alice.get_session_auth_hash())
    opened()
    assert socket_access.refused([open_one], Action.CHAT) == {open_one: "signed_out"}
    give_passkey(alice)
    opened()
    assert seen == [False, True] and socket_access.refused([open_one], Action.CHAT) == {}


def test_an_admin_sets_the_rule_with_a_factor_of_their_own(bob: User, alice: User, charlie: User) -> None:
    client = signed_in(bob)
    for rule, words in (("everyone", requirement.OWN_FIRST), ("nonsense", "Choose one of")):
        assert words in text(client.post("/people/second-factor/", {"rule": rule}))
    give_passkey(bob)
    for other in (alice, charlie):
        assert signed_in(other).post("/people/second-factor/", {"rule": "admins"}).status_code == 403
    assert "Saved." in text(client.post("/people/second-factor/", {"rule": "admins"}))
    assert requirement.present() == "admins" and Audit.objects.latest("id").deed == "require_second_factor"


def test_the_environment_decides(bob: User, settings: Settings) -> None:
    settings.ENV = settings.ENV | environment.read({"TOOLSUPPORT_REQUIRE_SECOND_FACTOR": "everyone"})
    client = signed_in(bob)
    assert lands_on_set_up(client, "/models/")
    give_passkey(bob)
    assert "cannot change it" in text(client.post("/people/second-factor/", {"rule": "off"}))
    assert requirement.present() == "everyone"


def test_a_session_is_read_with_one_query(alice: User, django_assert_num_queries: Any) -> None:
    client = signed_in(alice)
    store = client.session
    assert Session.objects.count() == 1
    with django_assert_num_queries(1):
        store.load()
