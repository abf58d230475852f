"""An answer ends when its key or its person loses access in the middle of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest
from channels.db import database_sync_to_async as in_database
from django.contrib.auth.models import User
from django.utils import timezone

from tests.toolsupport.gateway.conftest import Program
from tests.toolsupport.gateway.test_answer_runner import END, ENDED, HEAD, WORD, answering, said
from tests.toolsupport.providers.scripted import Scripted, scripted
from toolsupport.gateway.answer_runner import places, revoked
from toolsupport.models import ApiKey
from toolsupport.registry.people import api_keys

pytestmark = pytest.mark.asyncio
MORE = said(delta={"content": "secret"})


def revoke(person: User) -> None:
    api_keys.revoke(person.pk, ApiKey.objects.get(name="tests").pk)


def expire(person: User) -> None:
    ApiKey.objects.filter(person=person, name="tests").update(expires_at=timezone.now() - timedelta(seconds=1))


def deactivate(person: User) -> None:
    User.objects.filter(pk=person.pk).update(is_active=False)


def demote(person: User) -> None:
    person.groups.clear()


def another(person: User) -> None:
    api_keys.create(person.pk, "other")
    api_keys.revoke(person.pk, ApiKey.objects.get(name="other").pk)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("change", "ends"), [(revoke, True), (expire, True), (deactivate, True), (demote, True), (another, False)]
)
async def test_an_answer_ends_with_its_key(
    program: Program, stream: bool, change: Callable[[User], None], ends: bool
) -> None:  # P5
    asked, may_go_on = asyncio.Event(), asyncio.Event()

    async def wait(_: Scripted) -> None:
        asked.set()
        await may_go_on.wait()

    async with scripted([b""]) as server:
        await answering(server, [HEAD, WORD, wait, MORE, ENDED, *END])
        request = asyncio.ensure_future(program.ask("made/m", stream=stream))
        await (request if stream else asked.wait())  # a stream is answered with its first word
        await in_database(change)(program.person)
        await revoked.look()
        may_go_on.set()
        answer = await request
        text = b"".join([piece async for piece in answer.streaming_content]) if stream else answer.content
    assert (b"secret" in text) != ends and (b"does not work any more" in text) == ends
    assert answer.status_code == (502 if ends and not stream else 200)
    assert not places._taken
    await revoked.look()
    assert not revoked._refused  # nothing is kept about answers that ended


async def test_the_check_goes_on_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    async def look() -> None:
        nonlocal looks
        looks += 1
        if looks == 1:
            raise OSError("the database is away")
        raise asyncio.CancelledError

    monkeypatch.setattr("toolsupport.gateway.revoked_callers.PERIOD", 0)
    monkeypatch.setattr(revoked, "look", look)
    with pytest.raises(asyncio.CancelledError):
        await revoked.watch()
    assert looks == 2
