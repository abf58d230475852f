"""A Simulator whose models stand in the rows, and programs that ask them through the whole site."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from channels.db import database_sync_to_async as in_database
from django.contrib.auth.models import Group, User
from django.test import AsyncClient

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from toolsupport import providers
from toolsupport.models import Server
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.people import api_keys
from toolsupport.simulator.server import Simulator

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
LIST = {"type": "function", "function": {"name": "list_directory", "description": "Lists.", "parameters": PATH}}
FOLDER = {"role": "user", "content": "What's in this folder?"}


@dataclass
class Program:
    """Asks with a key of Alice's, and reads the answer whole."""

    key: str
    person: User

    async def post(self, body: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.key}"}
        return await AsyncClient().post("/v1/chat/completions", body, content_type="application/json", headers=headers)

    async def ask(self, model: str, **fields: Any) -> Any:
        return await self.post({"model": model, "messages": [FOLDER], "tools": [LIST]} | fields)

    async def stream(self, model: str, **fields: Any) -> list[str]:
        """The lines of a stream that say something."""
        answer = await self.ask(model, stream=True, **fields)
        assert answer.status_code == 200, answer.content
        text = b"".join([piece async for piece in answer.streaming_content]).decode()
        return [line for line in text.split("\n") if line]


def pieces(lines: list[str]) -> list[dict[str, Any]]:
    """The objects of a stream that ended as it should."""
    assert lines[-1] == "data: [DONE]"
    return [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]


@pytest_asyncio.fixture
async def simulator() -> AsyncIterator[Simulator]:
    running = Simulator("127.0.0.1", 0, pace_ms=0, load_seconds=0)
    await running.start()
    yield running
    await providers.close()
    await running.stop()


def _alice() -> Program:
    Group.objects.get_or_create(name="user")
    person = UserFactory(role="user")
    return Program(api_keys.create(person.pk, "tests"), person)


@pytest_asyncio.fixture
async def program(transactional_db: None) -> Program:
    return await in_database(_alice)()


@pytest.fixture
def knows(simulator: Simulator, transactional_db: None) -> Callable[..., Any]:
    """Writes a simulated model into the rows, with what is known of it."""

    def make(name: str, known: dict[str, Any], kind: str) -> int:
        url = f"http://127.0.0.1:{simulator.port}"
        server = Server.objects.filter(name="box").first() or ServerFactory(name="box", kind=kind, base_url=url)
        profile = ModelProfileFactory(server=server, name=name)
        for capability, value in known.items():
            overrides.add(NewOverride(profile.pk, capability, value, actor=UserFactory().pk, reason="tried it"))
        return int(profile.pk)

    async def know(name: str, kind: str = "simulator", **known: Any) -> int:
        return await in_database(make)(name, known, kind)

    return know
