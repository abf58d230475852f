"""All sockets are checked together, and one that cannot be closed does not keep others open."""

from __future__ import annotations

import pytest
from django.contrib.auth import HASH_SESSION_KEY
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chat.broadcast.socket_revocation import SocketRevocation, pass_of
from tests.factories import UserFactory
from toolsupport.models import Session
from toolsupport.registry.people import socket_access
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.people.socket_access import FORBIDDEN, SIGNED_OUT, SocketAccess


def held_by(person: User) -> SocketAccess:
    client = Client()
    client.force_login(person)
    return SocketAccess(person.pk, str(client.session.session_key), client.session[HASH_SESSION_KEY])


@pytest.mark.django_db
def test_a_good_pass_holds_and_any_number_costs_four_queries(alice: User) -> None:
    held = [held_by(alice), *(held_by(UserFactory(role="reviewer")) for _ in range(9))]
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert socket_access.refused(held, Action.CHAT) == {}
    assert len(asked) == 4


@pytest.mark.django_db
def test_more_passes_than_fit_into_one_question(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_access, "AT_ONCE", 2)
    held = [held_by(alice) for _ in range(5)]
    Session.objects.filter(session_key=held[4].session).delete()
    assert socket_access.refused(held, Action.CHAT) == {held[4]: SIGNED_OUT}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("what", "why"),
    [
        (lambda user: User.objects.filter(pk=user.pk).update(is_active=False), SIGNED_OUT),
        (lambda user: User.objects.filter(pk=user.pk).update(password="another"), SIGNED_OUT),
        (lambda user: Session.objects.filter(person=user).delete(), SIGNED_OUT),
        (lambda user: Session.objects.update(expire_date="2020-01-01T00:00Z"), SIGNED_OUT),
        (lambda user: user.groups.clear(), FORBIDDEN),
        (lambda user: user.groups.set(Group.objects.filter(name="viewer")), FORBIDDEN),
    ],
)
def test_what_is_taken_away_is_seen(alice: User, what, why: str) -> None:
    held = held_by(alice)
    what(alice)
    assert socket_access.refused([held], Action.CHAT) == {held: why}


@pytest.mark.django_db
def test_a_signing_key_that_is_being_rotated_out_still_holds(alice: User, settings) -> None:
    held = held_by(alice)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "a new signing key for tests"
    assert socket_access.refused([held], Action.CHAT) == {}


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
async def test_one_that_cannot_be_closed_keeps_nobody_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    revocation, ended = SocketRevocation(), []
    gone, other, good = (SocketAccess(number, "key", "mark") for number in range(3))
    monkeypatch.setattr(socket_access, "refused", lambda held, action: {gone: SIGNED_OUT, other: FORBIDDEN})

    async def fails(code: int) -> None:
        raise RuntimeError("the browser went away")

    async def ends(code: int) -> None:
        ended.append(code)

    revocation.admit(gone, fails, 9)
    for held in (other, other, good):
        revocation.admit(held, ends, 9)
    left = revocation.admit(other, ends, 9)
    revocation.forget(left)
    await revocation.look()
    await revocation.look()
    assert ended == [4403, 4403]


# SAFETY 2
def test_one_person_gets_so_many_sockets_and_others_theirs() -> None:
    revocation = SocketRevocation()
    mine = [revocation.admit(SocketAccess(1, "key", "mark"), ends_never, 2) for _ in range(3)]
    assert [ticket is not None for ticket in mine] == [True, True, False]
    assert revocation.admit(SocketAccess(2, "key", "mark"), ends_never, 2)
    revocation.forget(mine[0])
    assert revocation.admit(SocketAccess(1, "other", "mark"), ends_never, 2)


async def ends_never(code: int) -> None: ...


@pytest.mark.asyncio
async def test_nobody_inside_costs_no_question(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(socket_access, "refused", lambda *given: asked.append(given))
    await SocketRevocation().look()
    assert asked == []


def test_a_pass_is_read_from_the_scope() -> None:
    class Kept(dict[str, str]):
        session_key = "key"

    scope = {"user": User(pk=3), "session": Kept({HASH_SESSION_KEY: "mark"})}
    assert pass_of(scope) == SocketAccess(3, "key", "mark")
