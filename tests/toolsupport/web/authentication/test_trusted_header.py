"""The header of a proxy counts from the proxies in the list only, sent once, in its own spelling."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_network
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database
from django.contrib.auth.models import AnonymousUser, Group, User
from django.test import AsyncClient

from tests.factories import UserFactory
from toolsupport.models import Session
from toolsupport.registry.people.permissions import ROLES
from toolsupport.registry.people.session_store import SessionStore
from toolsupport.web.authentication.trusted_header import MARK, SocketGuard, name_in

NAMED = (b"x-remote-user", b"ana")


@pytest.fixture
def trusting(settings: Any) -> None:
    ours = {"TOOLSUPPORT_TRUSTED_HEADER": "X-Remote-User", "TOOLSUPPORT_TRUSTED_PROXIES": (ip_network("127.0.0.1"),)}
    settings.ENV = settings.ENV | ours


@pytest.mark.parametrize(
    ("peer", "headers", "name"),
    [
        ("127.0.0.1", [NAMED], "ana"),
        ("::ffff:127.0.0.1", [NAMED], "ana"),
        ("127.0.0.1", [(b"X-REMOTE-USER", b" ana ")], "ana"),
        ("127.0.0.1", [(b"x-remote-user", b"\t ana\t")], "ana"),
        ("127.0.0.1", [(b"x-remote-user", "\xa0ana\u2003".encode())], "\xa0ana\u2003"),
        ("127.0.0.1", [(b"x-remote-user", b"\x1cana\x85")], "\x1cana\ufffd"),
        ("127.0.0.2", [NAMED], ""),
        ("10.0.0.1", [NAMED, (b"x-forwarded-for", b"127.0.0.1")], ""),
        ("127.0.0.1", [NAMED, NAMED], ""),
        ("127.0.0.1", [NAMED, (b"x_remote_user", b"eve")], ""),
        ("127.0.0.1", [NAMED, (b"x-remote_user", b"eve")], ""),
        ("127.0.0.1", [(b"x_remote_user", b"eve")], ""),
        ("127.0.0.1", [(b"x-remote-user", b"")], ""),
        ("127.0.0.1", [], ""),
        ("not an address", [NAMED], ""),
    ],
)
def test_which_header_counts(trusting: None, peer: str, headers: Sequence[Any], name: str) -> None:  # P4
    assert name_in({"client": (peer, 1), "headers": headers}) == name


def test_without_proxies_it_is_trusted_for_none(trusting: None, settings: Any) -> None:  # P4
    settings.ENV = settings.ENV | {"TOOLSUPPORT_TRUSTED_PROXIES": ()}
    assert name_in({"client": ("127.0.0.1", 1), "headers": [NAMED]}) == ""


@in_database
def prepared() -> None:
    for role in ROLES:
        Group.objects.get_or_create(name=role)
    UserFactory(username="ana", role="admin")
    UserFactory(username="gone", role="user", is_active=False)


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
async def test_the_session_holds_as_long_as_the_proxy_names_the_person(trusting: None) -> None:  # P4
    await prepared()
    client = AsyncClient()
    assert (await client.get("/people/", headers={"X-Remote-User": "ana"})).status_code == 200
    assert (await client.get("/people/", headers={"X-Remote-User": "ana"})).status_code == 200
    assert await in_database(Session.objects.count)() == 1
    assert (await client.get("/account/")).status_code == 302  # its session is over
    assert (await client.get("/people/", headers={"X-Remote-User": "ana"})).status_code == 200
    assert (await client.get("/people/", headers={"X-Remote-User": "newcomer"})).status_code == 403
    assert await in_database(lambda: User.objects.get(username="newcomer").groups.get().name)() == "user"
    for name in ("gone", "ANA", "two words", "<b>", "x" * 151, "ana, ana", "%61na", "\uff41na", "ne\u0301e", "\ufb01n"):
        sent = {"X-Remote-User": name.encode().decode("latin1")}
        assert (await client.get("/account/", headers=sent)).status_code == 302, name
    assert await in_database(User.objects.count)() == 3


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
async def test_programs_without_a_key_are_named_too(trusting: None) -> None:  # P4
    await prepared()
    client = AsyncClient()
    assert (await client.get("/v1/models", headers={"X-Remote-User": "ana"})).status_code == 200
    assert (await client.get("/v1/models")).status_code == 401
    assert await in_database(Session.objects.count)() == 0


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/embeddings"])
async def test_a_program_sends_requests_by_the_header_and_a_page_of_another_site_does_not(
    trusting: None, path: str
) -> None:  # P4
    await prepared()
    client = AsyncClient(enforce_csrf_checks=True)

    async def status(kind: str = "application/json", **headers: str) -> int:
        sent = {"X-Remote-User": "ana"} | {name.replace("_", "-"): value for name, value in headers.items()}
        return int((await client.post(path, '{"model": "none"}', content_type=kind, headers=sent)).status_code)

    assert await status() in (400, 404)  # read by the view
    assert await status(Origin="https://evil.example") == await status("text/plain") == 403
    assert await status(Sec_Fetch_Site="cross-site") == await status(Referer="https://evil.example/") == 403


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("mark", "sent", "let_in"), [
    ("ana", [NAMED], True), ("ana", [], False), ("eve", [NAMED], False), (None, [], True), (None, [NAMED], True),
])  # fmt: skip
async def test_a_socket_needs_the_same_name(trusting: None, mark: str | None, sent: Any, let_in: bool) -> None:  # P4
    await prepared()
    session, seen = SessionStore(), list[Any]()
    if mark:
        session[MARK] = mark

    async def inside(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["user"])

    ana = await in_database(User.objects.get)(username="ana")
    scope = {"client": ("127.0.0.1", 1), "headers": sent, "session": session, "user": ana}
    await SocketGuard(inside)(scope, None, None)
    assert isinstance(seen[0], AnonymousUser) != let_in
