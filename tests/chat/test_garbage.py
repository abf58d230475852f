"""Answers and pages leave nothing in memory that only the garbage collector frees: it runs seldom (`serve`)."""

from __future__ import annotations

import asyncio
import gc
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from channels.db import database_sync_to_async as in_database
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from chat.broadcast import frames
from chat.models import Conversation, Message
from chat.transcript.messages import formatted
from chat.transcript.turns.sent_message import SentMessage
from chat.turns.runner import TurnRunner
from tests.factories import ConversationFactory, ModelProfileFactory, ServerFactory, UserFactory
from tests.toolsupport.config.test_program_chain import asked, scope
from tests.toolsupport.providers.scripted import DONE, HEAD, LAST_CHUNK, said, scripted
from toolsupport.config.asgi import HttpApplication
from toolsupport.core.weak_methods import weak
from toolsupport.models import Server
from toolsupport.registry.people import api_keys

pytestmark = pytest.mark.django_db(transaction=True)
OURS = ("chat.", "toolsupport.", "django.template", "django.http")
TIMES = 3
# Left: a request, to which what Django's own middleware adds to it refers.
REQUEST = ("django.http.request.", "toolsupport.registry.people.session_store.")


@contextmanager
def garbage() -> Iterator[Counter[str]]:
    """Count, at the end of the block, the objects of ours that were dropped in it and could not be freed, by type."""
    found = Counter[str]()
    gc.collect()
    gc.disable()
    try:
        yield found
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        names = (f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.garbage)
        found.update(name for name in names if name.startswith(OURS))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def in_chat() -> Conversation:
    made: Conversation = ConversationFactory(
        owner=UserFactory(role="user"), profile=ModelProfileFactory(server=ServerFactory())
    )
    return made


async def served_by(url: str) -> None:
    await in_database(Server.objects.update)(base_url=url)


# O5
@pytest.mark.asyncio
async def test_an_answer_in_a_chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "WORKSPACES_DIR", tmp_path)
    conversation, runner, ended = await in_database(in_chat)(), TurnRunner(), asyncio.Queue[frames.ServerFrame]()

    def tell(_: str, *given: frames.ServerFrame) -> None:
        for frame in given:
            if isinstance(frame, frames.TurnEndedFrame):
                ended.put_nowait(frame)

    monkeypatch.setattr(runner.listeners, "tell", tell)
    runner.start()
    try:
        async with scripted((HEAD, said("Let me *see*.\n\nHere."), DONE, LAST_CHUNK)) as server:
            await served_by(server.endpoint().base_url)

            async def answer(number: int) -> None:
                sent = SentMessage(f"c{number}", "tell me")
                await runner.begin(conversation.owner_id, str(conversation.pk), sent)
                frame = await ended.get()
                assert isinstance(frame, frames.TurnEndedFrame) and frame.reason == "done"
                while runner.runs:  # its task is about to end
                    await asyncio.sleep(0)

            await answer(0)
            with garbage() as left:
                for number in range(1, TIMES + 1):
                    await answer(number)
        assert left == {}
    finally:
        await runner.stop()


# O5
@pytest.mark.asyncio
async def test_an_answer_to_a_program() -> None:
    def made() -> str:
        ModelProfileFactory(server=ServerFactory(), name="one")
        return api_keys.create(UserFactory(role="user").pk, "program")

    key = await in_database(made)()
    body = json.dumps({"model": "one", "stream": True, "messages": [{"role": "user", "content": "hello"}]}).encode()
    headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {key}".encode())]
    async with scripted((HEAD, said("Let me see."), DONE, LAST_CHUNK)) as server:
        await served_by(server.endpoint().base_url)
        application = HttpApplication()

        async def answer() -> None:
            status, _, answered = await asked(application, scope("/v1/chat/completions", "POST", headers), body)
            assert status == 200 and b"Let me see." in answered and answered.endswith(b"data: [DONE]\n\n")

        await answer()
        with garbage() as left:
            for _ in range(TIMES):
                await answer()
    assert left == {}


# O5
@pytest.mark.asyncio
async def test_a_page_with_formatted_messages() -> None:
    def made() -> tuple[User, Conversation]:
        conversation = in_chat()
        row = Message.objects.create(conversation=conversation, role="assistant", content="Some *text*", finished=True)
        Conversation.objects.filter(pk=conversation.pk).update(leaf=row)
        formatted.keep(row, "Some *text*", "<p>Some <em>text</em></p>")
        return conversation.owner, conversation

    owner, conversation = await in_database(made)()
    client = Client()
    await in_database(client.force_login)(owner)
    cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
    application, headers = HttpApplication(), [(b"host", b"127.0.0.1"), (b"cookie", cookie.encode())]
    address = reverse("conversation", args=[conversation.pk])

    async def open_page() -> None:
        status, _, page = await asked(application, scope(address, "GET", headers))
        assert status == 200 and b"<em>text</em>" in page

    await open_page()
    with garbage() as left:
        for _ in range(TIMES):
            await open_page()
    assert {name: count for name, count in left.items() if not name.startswith(REQUEST)} == {}


class Bell:
    """Rings for `bell`, as the part of an object that calls it back."""

    def __init__(self) -> None:
        self.rung = list[str]()

    def ring(self, word: str) -> None:
        self.rung.append(word)


def test_a_weak_method_is_called_as_long_as_its_object_lives() -> None:
    bell = Bell()
    ring, rung = weak(bell.ring), bell.rung
    ring("once")
    ring(word="twice")
    del bell
    ring("never")
    assert rung == ["once", "twice"]
