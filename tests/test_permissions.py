"""Every address and every frame, for every role and every owner, against what they declare."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import AnonymousUser, Group, User
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, path, reverse

from chat.broadcast import client_frames
from chat.models import Conversation
from chat.turns import runner
from chat.websocket import handlers
from chat.websocket.consumer import ChatConsumer
from tests.factories import UserFactory
from tests.parameters import KEPT, KINDS, Kind
from tests.tables import every
from tests.toolsupport.stand_in import Servers
from toolsupport import providers
from toolsupport.registry.people.permissions import PUBLIC, ROLES, Action
from toolsupport.registry.people.session_store import SessionStore
from toolsupport.web import urls as pages
from toolsupport.web.view_permissions import public, requires

VERBS = ("get", "post")
SIGNED_OUT = "signed out"
Visitor = tuple[User, Client]
EVERYBODY = (*ROLES, SIGNED_OUT, "no role", "kept out")


# -- the addresses ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Address:
    """One address with the names and kinds of its parameters."""

    name: str
    permission: str
    parameters: tuple[str, ...]


def addresses(patterns: list[Any]) -> Iterator[Address]:
    """All but Django's administration, which has a check of its own (see the end of this file)."""
    for entry in patterns:
        if isinstance(entry, URLResolver) and entry.namespace != "admin":
            yield from addresses(entry.url_patterns)
        if isinstance(entry, URLPattern):
            permission = getattr(entry.callback, "permission", None)
            assert permission == PUBLIC or permission in list(Action), f"{entry.pattern} does not say who may see it"
            assert entry.name, f"{entry.pattern} needs a name"
            yield Address(entry.name, str(permission), tuple(entry.pattern.converters))


ADDRESSES = list(addresses(get_resolver().url_patterns))

# Views that wait for servers reach the rows from other threads, which see only what was committed.
WAITING = {
    "start-ask",
    "server",
    "server-upkeep",
    "server-upkeep-act",
    "server-remove",
    "server-add",
    "server-check",
    "servers-refresh",
    "server-edit",
    "mcp-test",
    "source-example",
    "source-look",
    "backup-make",
    "person-delete",
}
# What an address needs besides, so that its own thing is found.
QUERIES = {"conversation-files-download": {"path": "config.json"}, "conversation-image": {"path": "there.png"}}
QUERIES["call-picture"] = {"path": KEPT}
QUERIES["insights-calls"] = {"day": "2026-11-21"}


def visitor(who: str) -> Visitor:
    """Somebody of that kind, signed in where they can be; what a session begins with is written."""
    person = UserFactory(role=who if who in ROLES else None)
    client = Client()
    if who != SIGNED_OUT:
        client.force_login(person)
    if who == "kept out":
        person.groups.add(Group.objects.get_or_create(name="admin")[0])
        User.objects.filter(pk=person.pk).update(is_active=False)
    client.get(reverse("models"))
    return person, client


@contextmanager
def undone(*visitors: Visitor) -> Iterator[None]:
    """Takes back what is written meanwhile, and gives these visitors the cookies that they had."""
    cookies = [{name: one.value for name, one in client.cookies.items()} for _, client in visitors]
    before = transaction.savepoint()
    try:
        yield
    finally:
        transaction.savepoint_rollback(before)
        for (_, client), had in zip(visitors, cookies, strict=True):
            client.cookies.clear()
            client.cookies.load(had)


def expected(who: str, permission: str, owner: str, kinds: list[Kind]) -> str:
    """What the declaration promises: let in, sent to sign in, forbidden, or nothing there."""
    if permission != PUBLIC and who in (SIGNED_OUT, "kept out"):
        return "sign in"
    if permission != PUBLIC and Action(permission) not in ROLES.get(who, frozenset()):
        return "forbidden"
    if owner == "absent" or (owner == "foreign" and any(not kind.shared for kind in kinds)):
        return "nothing there"
    return "in"


def outcome(answer: HttpResponse) -> str:
    if answer.status_code == 302 and answer.headers["Location"].startswith("/login/?next="):
        return "sign in"
    if answer.status_code == 401:  # what programs are told
        return "sign in"
    if answer.status_code >= 500:
        return f"failed with {answer.status_code}"
    return {403: "forbidden", 404: "nothing there"}.get(answer.status_code, "in")


def put_away(answer: HttpResponse) -> None:
    """Close the file of a download. `close` of the answer itself would close the test's database too."""
    for close in answer._resource_closers:  # type: ignore[attr-defined]
        close()


@pytest.fixture
def out_there(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = Servers()
    monkeypatch.setattr(providers, "survey", stand_in.survey)
    monkeypatch.setattr(providers, "describe", stand_in.describe)
    monkeypatch.setattr(providers, "running", stand_in.running)


def wrong_answers(address: Address, who: str, visiting: Visitor) -> Iterator[str]:
    """Every verb and every owner; gives what came out otherwise than declared."""
    kinds = [KINDS[name] for name in address.parameters]
    person, client = visiting
    verbs: tuple[str, ...] = VERBS
    # One's own thing last: what is refused changes nothing. Who is refused one's own is refused what others own.
    refused = address.permission != PUBLIC and expected(who, address.permission, "own", kinds) != "in"
    owners = ("absent", "own") if refused else ("absent", "foreign", "own")
    for owner in owners if kinds else ("own",):
        url = reverse(address.name, args=[getattr(kind, owner)(person) for kind in kinds])
        answered = {verb: getattr(client, verb)(url, QUERIES.get(address.name, {})) for verb in verbs}
        received = {verb: answer for verb, answer in answered.items() if answer.status_code != 405}
        verbs = tuple(received)  # what it does not answer to does not depend on the owner
        if not received:
            yield f"{url} answers to no verb"
        for verb, answer in received.items():
            put_away(answer)
            wanted = expected(who, address.permission, owner, kinds)
            if outcome(answer) != wanted and not (address.permission == PUBLIC and answer.status_code < 500):
                yield f"{verb} {url} ({owner}) for {who}: {outcome(answer)}, declared: {wanted}"


# One test for all that see what another request wrote: those share their visitors, and what an address wrote is undone.
AT_ONCE = [address for address in ADDRESSES if address.name not in WAITING]
ALONE = [pytest.param(address, id=address.name) for address in ADDRESSES if address.name in WAITING]


@pytest.fixture
def visitors(db: None) -> dict[str, Visitor]:
    """One of each; the site is administered whoever else is there."""
    UserFactory(role="admin")
    return {who: visitor(who) for who in EVERYBODY}


# O5, SAFETY 4: permission matrix 100 %
@pytest.mark.usefixtures("bare_pages")
@every("address", AT_ONCE)
def test_an_address_lets_in_whom_it_declares(address: Address, visitors: dict[str, Visitor], out_there: None) -> None:
    with undone(*visitors.values()):
        assert [wrong for who, one in visitors.items() for wrong in wrong_answers(address, who, one)] == []


@pytest.mark.usefixtures("bare_pages")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("address", ALONE)
def test_an_address_that_waits_lets_in_whom_it_declares(
    address: Address, visitors: dict[str, Visitor], out_there: None
) -> None:
    assert [wrong for who, one in visitors.items() for wrong in wrong_answers(address, who, one)] == []


@pytest.mark.django_db
def test_no_address_answers_trace() -> None:  # ASVS 13.4.4
    _, client = visitor("admin")
    answers = {one.name: client.trace(reverse(one.name)).status_code for one in ADDRESSES if not one.parameters}
    assert {name: status for name, status in answers.items() if status != 405} == {}


def test_every_parameter_says_to_whom_its_thing_belongs() -> None:
    assert {name for address in ADDRESSES for name in address.parameters} - set(KINDS) == set()


@pytest.mark.parametrize("view", [lambda request: HttpResponse(), object()])
def test_an_address_without_a_declaration_is_found(view: Any) -> None:
    entry = path("planted/", lambda request: HttpResponse(), name="planted")
    entry.callback = view
    with pytest.raises(AssertionError, match="does not say who"):
        list(addresses([entry]))


@pytest.mark.django_db
def test_a_declaration_that_is_not_kept_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The matrix can fail: an address that lets everybody in, and one that says it is for administrators."""
    entry = next(one for one in pages.urlpatterns if one.name == "models")
    monkeypatch.setattr(entry, "callback", public(lambda request: HttpResponse()))
    assert list(wrong_answers(Address("models", Action.ADMINISTER, ()), "viewer", visitor("viewer")))
    monkeypatch.setattr(entry, "callback", requires(Action.ADMINISTER)(lambda request: HttpResponse()))
    assert list(wrong_answers(Address("models", Action.SEE_MODELS, ()), "viewer", visitor("viewer")))


@pytest.mark.django_db
@pytest.mark.parametrize("who", EVERYBODY)
def test_the_administration_is_for_administrators(who: str) -> None:
    _, client = visitor(who)
    if who == "admin":
        User.objects.filter(groups__name="admin").update(is_staff=True, is_superuser=True)
    for entry in ("", "auth/user/", "toolsupport/server/", "chat/turn/"):
        answer = client.get(f"/admin/{entry}")
        assert (answer.status_code == 200) == (who == "admin")
        assert who == "admin" or answer.headers["Location"].startswith("/admin/login/")


# -- the frames ---------------------------------------------------------------------------------------

SAMPLES: dict[str, Any] = {
    "str | None": None,
    "Mode": "same",
    "str": "x",
    "bool": True,
    "int": 1,
    "int | None": None,
    "dict[str, Any] | None": None,
    "list[str] | None": None,
}


def sample(kind: str) -> dict[str, Any]:
    """A well-formed frame of that type, made from its own fields."""
    fields = dataclasses.fields(client_frames.CLIENT_FRAMES[kind])
    return {"type": kind, **{field.name: SAMPLES[str(field.type)] for field in fields}}


def permission_of(kind: str) -> str:
    permission = getattr(handlers.HANDLERS[client_frames.CLIENT_FRAMES[kind]], "permission", None)
    assert permission == PUBLIC or permission in list(Action), f"{kind} does not say who may send it"
    return str(permission)


def test_every_frame_declares_its_permission() -> None:
    assert set(handlers.HANDLERS) == set(client_frames.CLIENT_FRAMES.values())
    assert all(map(permission_of, client_frames.CLIENT_FRAMES))


def test_a_frame_without_a_declaration_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def planted(place: handlers.PageContext, socket: Any, frame: Any) -> None: ...

    monkeypatch.setitem(handlers.HANDLERS, client_frames.Ping, planted)
    with pytest.raises(AssertionError, match="does not say who"):
        permission_of("ping")


def socket_of(person: User | AnonymousUser, conversation: str) -> WebsocketCommunicator:
    communicator = WebsocketCommunicator(ChatConsumer.as_asgi(), f"/ws/chat/{conversation}/")
    scope = {"user": person, "session": SessionStore(), "url_route": {"kwargs": {"conversation": conversation}}}
    communicator.scope.update(scope)  # type: ignore[typeddict-item]
    return communicator


def become(person: User, who: str) -> None:
    """Somebody whose socket is open already becomes somebody else."""
    person.groups.set(Group.objects.filter(name=who))
    User.objects.filter(pk=person.pk).update(is_active=who not in (SIGNED_OUT, "kept out"))


@pytest.fixture
def groups(transactional_db: None) -> None:
    """A test that flushes the tables takes the groups of the migration along."""
    for role in ROLES:
        Group.objects.get_or_create(name=role)


@asynccontextmanager
async def opened(person: User | AnonymousUser, conversation: str) -> AsyncIterator[tuple[WebsocketCommunicator, Any]]:
    """A socket, and what came of opening it."""
    communicator = socket_of(person, conversation)
    try:
        yield communicator, await communicator.connect()
    finally:
        await communicator.disconnect()
        await runner.shut_down()


async def told(communicator: WebsocketCommunicator, frame: dict[str, Any]) -> str:
    """The code of the error that a frame is answered with, "" for none; a ping behind it marks the end."""
    await communicator.send_json_to(frame)
    await communicator.send_json_to({"type": "ping"})
    codes = []
    while (got := await communicator.receive_json_from(10))["type"] != "pong":
        codes += [str(got["code"])] if got["type"] == "error" else []
    if frame["type"] == "ping":
        assert (await communicator.receive_json_from(10))["type"] == "pong"
    return codes[0] if codes else ""


def owner_of(make: str, who: str = "user") -> tuple[User, str]:
    """Somebody, and a conversation of theirs, of another, or of nobody."""
    person = UserFactory(role=who if who in ROLES else None)
    return person, str(getattr(KINDS["conversation_id"], make)(person))


@pytest.mark.asyncio
@pytest.mark.parametrize("who", EVERYBODY)
async def test_frames_are_obeyed_for_whom_they_declare(groups: None, who: str) -> None:
    person, conversation = await in_database(owner_of)("own")
    wrong = []
    async with opened(person, conversation) as (communicator, _):
        await in_database(become)(person, who)
        for kind in client_frames.CLIENT_FRAMES:
            permission = permission_of(kind)
            allowed = permission == PUBLIC or Action(permission) in ROLES.get(who, frozenset())
            code = await told(communicator, sample(kind))
            wrong += [f"{kind}: {code}"] if (code == "forbidden") == allowed or code == "internal" else []
    assert wrong == []


@pytest.mark.asyncio
@pytest.mark.parametrize("who", EVERYBODY)
async def test_a_socket_opens_for_the_owner_who_may_chat(groups: None, who: str) -> None:
    for owner in ("own", "foreign", "absent"):
        person, conversation = await in_database(owner_of)(owner, who)
        await in_database(become)(person, who)
        asking = AnonymousUser() if who == SIGNED_OUT else person
        allowed = owner == "own" and Action.CHAT in ROLES.get(who, frozenset())
        async with opened(asking, conversation) as (_, answer):
            # Whatever the reason, a refusal looks the same.
            assert answer == ((True, None) if allowed else (False, 4404)), owner


def messages_of_others() -> list[int]:
    theirs = Conversation.objects.get(pk=owner_of("own")[1])
    return [theirs.messages.create(role="user", content="not yours").pk, 987_654_321]


@pytest.mark.asyncio
async def test_messages_of_others_are_not_found_by_their_numbers(groups: None) -> None:
    person, conversation = await in_database(owner_of)("own")
    numbers = await in_database(messages_of_others)()
    async with opened(person, conversation) as (communicator, _):
        frames_ = [{"type": "turn.resync", "message": number} for number in numbers]
        assert [await told(communicator, frame) for frame in frames_] == ["not_found", "not_found"]
