"""No call is lost or changed between a model and a program, in any format, through each of the three APIs."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database
from django.conf import settings
from django.contrib.auth.models import Group
from django.test import AsyncClient

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from tests.loss import bfcl, gold
from tests.loss.measuring import Case, Gateway, Tally, measured
from tests.loss.programs import APIS
from tests.loss.upstream import running
from toolsupport import providers
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.people import api_keys


class InProcess:
    """Stands for a session of programs: asks this process, and reads what would be sent."""

    def __init__(self, key: str) -> None:
        self.headers = {"Authorization": f"Bearer {key}"}

    @asynccontextmanager
    async def post(self, path: str, json: Any) -> AsyncIterator[SimpleNamespace]:
        answer: Any = await AsyncClient().post(path, json, content_type="application/json", headers=self.headers)
        assert answer.status_code == 200, answer.content
        yield SimpleNamespace(status=200, content=lines(answer.streaming_content))


async def lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    for line in b"".join([piece async for piece in pieces]).splitlines(keepends=True):
        yield line


def known(port: int) -> str:
    """A key, once the models have the formats that they write."""
    Group.objects.get_or_create(name="user")
    person = UserFactory(role="user")
    server = ServerFactory(name="loss", kind="openai", base_url=f"http://127.0.0.1:{port}")
    for name in (gold.NATIVE, *gold.TEXT):
        profile = ModelProfileFactory(server=server, name=name)
        native = name == gold.NATIVE
        for capability, value in {"tools": native, **({} if native else {"format": name})}.items():
            overrides.add(NewOverride(profile.pk, capability, value, actor=person.pk, reason="It writes so."))
    return api_keys.create(person.pk, "tests")


@pytest.mark.asyncio
async def test_every_call_arrives(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:  # G11
    """In pieces of five characters; `make loss` goes over HTTP, cuts at every position, and asks for more."""
    monkeypatch.setitem(settings.ENV, "TOOLSUPPORT_KEY_REQUESTS", 10_000)
    formats = (gold.NATIVE, *gold.TEXT)
    cases = [Case(format, 0, -5, api) for format, api in zip(formats, itertools.cycle(APIS), strict=False)]
    async with running() as upstream:
        key = await in_database(known)(upstream.port)
        tallies = await measured(Gateway(upstream, InProcess(key)), cases)  # type: ignore[arg-type]
        await providers.close()
    assert [example for one in tallies.values() for example in one.examples] == []
    assert sum(one.again for one in tallies.values()) == 0 and tallies.keys() == set(formats)


def test_calls_of_others_are_read(tmp_path: Path) -> None:
    """Their types are made those of JSON Schema, and what does not fit its own tool is left out."""
    parameters = {"type": "dict", "properties": {"a": {"type": "float"}, "b": {"type": "dict"}}, "required": ["a"]}
    tool = {"name": "math.add", "parameters": parameters}
    (tmp_path / "possible_answer").mkdir()
    for part in bfcl.PARTS:
        tasks = [{"id": f"{part}_{number}", "function": [tool]} for number in range(2)]
        calls = [{"math.add": {"a": [value], "b": ["", {"c": [1]}]}} for value in (5, "five")]
        answers = [{"id": f"{part}_{number}", "ground_truth": [call]} for number, call in enumerate(calls)]
        for folder, rows in ((tmp_path, tasks), (tmp_path / "possible_answer", answers)):
            (folder / f"BFCL_v4_{part}.json").write_text("\n".join(map(json.dumps, rows)))
    found = bfcl.load(tmp_path)
    assert [task.name for task in found] == [f"{part}_0" for part in bfcl.PARTS]
    assert found[0].calls == [("math_add", {"a": 5.0})]
    assert found[0].tools["math_add"]["properties"] == {"a": {"type": "number"}, "b": {"type": "object"}}


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (lambda calls: calls, (0, 0, 0)),
        (lambda calls: calls[1:], (1, 0, 1)),
        (lambda calls: [*calls, calls[0]], (0, 1, 1)),
        (lambda calls: calls[::-1], (0, 0, 1)),
        (lambda calls: [(name, dict(reversed(given.items()))) for name, given in calls], (0, 0, 0)),
        (lambda calls: [(calls[0][0], {**calls[0][1], "extra": 1}), *calls[1:]], (1, 1, 1)),
    ],
)
def test_what_is_lost_or_changed_is_counted(
    monkeypatch: pytest.MonkeyPatch, change: Any, counts: tuple[int, int, int]
) -> None:
    seed = next(seed for seed in itertools.count() if len(gold.calls(seed, "hermes")) == 2)

    async def api(*asked: object) -> gold.Gold:
        return list(change(gold.calls(seed, "hermes")))

    monkeypatch.setitem(APIS, "chat completions", api)
    tally = Tally()
    asked = Gateway(SimpleNamespace(), SimpleNamespace())  # type: ignore[arg-type]
    asyncio.run(asked.ask(Case("hermes", seed, 1, "chat completions"), tally))
    assert (tally.lost, tally.added, len(tally.examples)) == counts
