"""Sign-in through a provider: who gets in with which role, and what a hostile provider cannot do."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio
from channels.db import database_sync_to_async as in_database
from django.contrib.auth.models import Group, User
from django.test import AsyncClient
from django.utils import timezone

from tests.factories import UserFactory
from tests.toolsupport.web.oidc_provider import Provider, provider, public
from toolsupport.models import ExternalIdentity, SecurityEvent, Session
from toolsupport.registry.people import accounts, quotas, sign_in_limits
from toolsupport.registry.people.permissions import ROLES
from toolsupport.services import oidc_client

pytestmark = [pytest.mark.asyncio, pytest.mark.django_db(transaction=True)]


@pytest_asyncio.fixture
async def idp(settings: Any, transactional_db: None) -> AsyncIterator[Provider]:
    await in_database(lambda: [Group.objects.get_or_create(name=role) for role in ROLES])()
    async with provider() as found:
        ours = {"ISSUER": found.issuer, "CLIENT_ID": "site", "CLIENT_SECRET": "the secret of the site"}
        settings.ENV = settings.ENV | {f"TOOLSUPPORT_OIDC_{name}": value for name, value in ours.items()}
        yield found


async def signed_in(idp: Provider, client: AsyncClient | None = None, **changed: str) -> Any:
    """The answer to a browser that comes back from the provider."""
    client = client or AsyncClient()
    sent = await client.get("/login/oidc/?next=/models/")
    if sent.status_code != 302:
        return sent
    return await client.get("/login/oidc/callback/", {**idp.signs_in(sent.headers["Location"]), **changed})


@in_database
def role_of(name: str) -> str:
    return quotas.role_of(User.objects.get(username=name).pk)


@in_database
def made(name: str, **fields: Any) -> User:
    person: User = UserFactory(username=name, **fields)
    return person


async def test_a_new_person_becomes_a_user_until_the_provider_is_asked_again(idp: Provider) -> None:  # P4
    client = AsyncClient()
    answer = await signed_in(idp, client)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/models/")
    assert await role_of("dora") == "user" and (await client.get("/account/")).status_code == 200
    ends = (await in_database(Session.objects.get)(person__username="dora")).expire_date
    assert timedelta(hours=11) < ends - timezone.now() <= timedelta(hours=12)
    await signed_in(idp)
    assert await in_database(ExternalIdentity.objects.count)() == 1


@pytest.mark.parametrize(
    ("before", "groups", "after"),
    [
        ("viewer", ["reviewer", "admin", "staff"], "admin"),
        ("viewer", "reviewer", "reviewer"),
        ("reviewer", ["staff"], "user"),
        ("viewer", ["staff"], "viewer"),
        ("reviewer", None, "user"),
        ("reviewer", [["admin"]], "user"),
        ("reviewer", {"admin": True}, "user"),
        ("viewer", "admin,reviewer", "viewer"),
        ("viewer", [None, 1, {}, "reviewer"], "reviewer"),
        ("admin", ["user"], "user"),
    ],
)
async def test_the_claim_decides_the_role(
    idp: Provider, settings: Any, before: str, groups: Any, after: str
) -> None:  # P4
    settings.ENV = settings.ENV | {"TOOLSUPPORT_OIDC_ROLE_CLAIM": "realm.roles"}
    await made("root", role="admin")
    await in_database(accounts.invite)("dora", before)
    idp.claims["realm"] = {"roles": groups}
    assert (await signed_in(idp)).status_code == 302
    assert await role_of("dora") == after


async def test_the_last_administrator_stays(idp: Provider, settings: Any) -> None:  # P4
    settings.ENV = settings.ENV | {"TOOLSUPPORT_OIDC_ROLE_CLAIM": "roles"}
    await in_database(accounts.invite)("dora", "admin")
    assert (await signed_in(idp)).status_code == 302
    assert await role_of("dora") == "admin"


async def test_an_account_with_a_password_is_not_taken_over(idp: Provider) -> None:  # P4
    await made("Dora", role="admin")
    refused = await signed_in(idp)
    assert refused.status_code == 403 and "An account named Dora exists here already." in refused.content.decode()
    assert not await in_database(ExternalIdentity.objects.exists)()


async def test_a_deactivated_person_stays_out(idp: Provider) -> None:  # P4
    await signed_in(idp)
    await in_database(User.objects.update)(is_active=False)
    assert "deactivated" in (await signed_in(idp)).content.decode()


# Every answer that cannot be used is in tests/toolsupport/services/test_oidc_client.py; the page is shown for these.
@pytest.mark.parametrize(
    "lies",
    [{"nonce": "other"}, {"sub": "x" * 300}, {"sub": "4\0002"}, {"sub": "\ud800"}],
    ids=["nonce", "long subject", "a subject with NUL", "a subject that cannot be stored"],
)
async def test_a_token_that_lies_signs_nobody_in(idp: Provider, lies: dict[str, str]) -> None:  # P4
    idp.lies = lies
    assert 'role="alert"' in await refusal(idp)


@pytest.mark.parametrize(
    "fault",
    ["alg none", "other issuer", "redirecting description", "redirecting token", "redirecting keys", "huge token"],
)
async def test_a_hostile_provider_signs_nobody_in(idp: Provider, fault: str) -> None:  # P4
    idp.fault = fault
    assert "answer cannot be used" in await refusal(idp)
    assert "/elsewhere" not in idp.asked


async def test_an_odd_address_is_not_asked(idp: Provider) -> None:  # P4
    idp.described = {"authorization_endpoint": "ISSUER\\@evil.example/"}
    assert "its authorization_endpoint is not at the origin of the issuer" in await refusal(idp)


async def test_keys_that_were_replaced_are_read_anew(idp: Provider) -> None:  # P4
    await signed_in(idp)
    idp.key_set = [public(2), public(1) | {"kid": "old"}]
    assert (await signed_in(idp)).status_code == 403  # the provider signs with key 1 under a name that is gone
    idp.key_set = [public(2), public(1)]
    assert (await signed_in(idp)).status_code == 302


@pytest.mark.parametrize("name", ["description", "token", "keys"])
async def test_a_silent_provider_is_given_up(idp: Provider, name: str, monkeypatch: pytest.MonkeyPatch) -> None:  # P4
    monkeypatch.setattr(oidc_client, "TIMEOUT", 0.3)
    idp.fault = f"silent {name}"
    assert "does not answer" in await refusal(idp)


@pytest.mark.parametrize("changed", [{"state": "other"}, {"state": ""}, {"code": ""}, {"code": "other"}])
async def test_a_return_that_nobody_began_signs_nobody_in(idp: Provider, changed: dict[str, str]) -> None:  # P4
    assert 'role="alert"' in await refusal(idp, **changed)


async def test_a_return_that_names_another_issuer_signs_nobody_in(idp: Provider) -> None:  # P4
    assert "it names another issuer" in await refusal(idp, iss="https://evil.example")
    assert "/token" not in idp.asked
    assert (await signed_in(idp, iss=idp.issuer)).status_code == 302


async def test_of_returns_at_once_one_signs_in(idp: Provider) -> None:  # P4
    first = AsyncClient()
    back = idp.signs_in((await first.get("/login/oidc/")).headers["Location"])
    browsers = [AsyncClient() for _ in range(5)]
    for browser in browsers:
        browser.cookies["sign_in"] = first.cookies["sign_in"].value
    answers = await asyncio.gather(*(browser.get("/login/oidc/callback/", back) for browser in browsers))
    assert sorted(answer.status_code for answer in answers) == [302, 403, 403, 403, 403]
    assert await in_database(Session.objects.count)() == 1


async def test_a_sign_out_ends_the_session_and_begins_no_other(idp: Provider) -> None:  # P4
    client, stolen = AsyncClient(), AsyncClient()
    await signed_in(idp, client)
    stolen.cookies["sessionid"] = client.cookies["sessionid"].value
    asked = len(idp.asked)
    assert (await client.get("/logout/")).status_code == 405, "a link on another page signs nobody out"
    left = await client.post("/logout/")
    page = await client.get(left.headers["Location"])
    assert page.status_code == 200 and "/login/oidc/" in page.content.decode(), "the person begins the next sign-in"
    assert [(await one.get("/account/")).status_code for one in (client, stolen)] == [302, 302]
    assert len(idp.asked) == asked and not await in_database(Session.objects.exists)()


async def test_a_return_in_another_browser_signs_nobody_in(idp: Provider) -> None:  # P4
    sent = await AsyncClient().get("/login/oidc/")
    answer = await AsyncClient().get("/login/oidc/callback/", idp.signs_in(sent.headers["Location"]))
    assert answer.status_code == 403 and "sessionid" not in answer.cookies
    assert (await AsyncClient().get("/login/oidc/callback/")).status_code == 403


async def test_a_code_of_another_person_signs_nobody_in_without_an_attempt(idp: Provider) -> None:  # P4
    idp.codes["code1"] = {}  # begun by an attacker, without nonce and challenge
    answer = await AsyncClient().get("/login/oidc/callback/?code=code1")
    assert answer.status_code == 403 and "sessionid" not in answer.cookies and idp.asked == []


async def test_the_provider_is_asked_once_for_each_attempt(idp: Provider) -> None:  # P4
    client = AsyncClient()
    sent = await client.get("/login/oidc/")
    back, cookie = idp.signs_in(sent.headers["Location"]), client.cookies["sign_in"].value
    assert (await client.get("/login/oidc/callback/", back | {"code": "guess"})).status_code == 403
    asked = len(idp.asked)
    for _ in range(3):
        client.cookies["sign_in"] = cookie
        assert (await client.get("/login/oidc/callback/", back)).status_code == 403
    assert len(idp.asked) == asked


async def test_one_address_begins_so_many_sign_ins(idp: Provider, monkeypatch: pytest.MonkeyPatch) -> None:  # P4
    monkeypatch.setattr(sign_in_limits, "BEGUN", 2)
    begun = [(await AsyncClient().get("/login/oidc/")).status_code for _ in range(4)]
    assert begun == [302, 302, 429, 429] and len(idp.asked) == 2


async def test_each_sign_in_has_a_session_key_of_its_own(idp: Provider) -> None:  # P4
    client, stolen = AsyncClient(), AsyncClient()
    await signed_in(idp, client)
    stolen.cookies["sessionid"] = client.cookies["sessionid"].value
    assert (await stolen.get("/account/")).status_code == 200
    await signed_in(idp, client)
    assert (await stolen.get("/account/")).status_code == 302 and (await client.get("/account/")).status_code == 200


@pytest.mark.parametrize(
    ("claims", "connected"),
    [
        ({"preferred_username": "BOSS@corp.example"}, True),
        ({"email": "boss@corp.example", "email_verified": True}, True),
        ({"email": "boss@corp.example", "email_verified": "false"}, False),
        ({"email": "boss@corp.example"}, False),
        ({"preferred_username": "boss @corp.example"}, False),
        ({"preferred_username": "<boss>@corp.example"}, False),
        ({"preferred_username": "boss@corp.example\0"}, False),
        ({"preferred_username": "\uff42oss@corp.example"}, False),
    ],
)
async def test_only_the_exact_name_connects_an_invited_person(
    idp: Provider, claims: dict[str, Any], connected: bool
) -> None:  # P4
    await in_database(accounts.invite)("boss@corp.example", "admin")
    idp.claims = {"sub": "66", **claims}
    await signed_in(idp)
    found = await in_database(lambda: list(ExternalIdentity.objects.values_list("person__username", flat=True)))()
    assert ("boss@corp.example" in found) == connected


async def refusal(idp: Provider, **changed: str) -> str:
    """The page that a browser gets when nobody was signed in."""
    answer = await signed_in(idp, AsyncClient(), **changed)
    assert answer.status_code == 403
    assert "sessionid" not in answer.cookies and not await in_database(User.objects.exists)()
    assert (await in_database(SecurityEvent.objects.get)()).kind == "provider_refused"
    return str(answer.content.decode())


async def test_certificates_are_loaded_once(idp: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading them takes 20 ms, in which the event loop does nothing else."""
    assert (await signed_in(idp)).status_code == 302
    loaded: list[object] = []
    monkeypatch.setattr("httpx._transports.default.create_ssl_context", lambda verify=True, **_: loaded.append(verify))
    async with oidc_client._asking():
        pass
    assert [type(one) for one in loaded] == [ssl.SSLContext]


async def test_without_a_provider_the_addresses_are_absent(db: None) -> None:
    assert [(await AsyncClient().get(path)).status_code for path in ("/login/oidc/", "/login/oidc/callback/")] == [
        404
    ] * 2


async def test_the_next_page_is_one_of_this_site(idp: Provider) -> None:  # P4
    client = AsyncClient()
    sent = await client.get("/login/oidc/?next=//evil.example/")
    answer = await client.get("/login/oidc/callback/", idp.signs_in(sent.headers["Location"]))
    assert answer.headers["Location"] == "/"
