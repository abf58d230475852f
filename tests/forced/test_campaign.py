"""Requests of programs for a model that writes noise: no invalid call reaches them, each required call comes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import cycle
from typing import Any

import pytest
import pytest_asyncio
from channels.db import database_sync_to_async as in_database
from django.contrib.auth.models import Group
from django.test import AsyncClient

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from tests.forced import noise_server
from tests.forced.campaign import KINDS, CampaignTally, Post, ask, requests
from toolsupport import providers
from toolsupport.core.types import JSON
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.people import api_keys

BY_DAY, BY_NIGHT = 100, 10_000
AT_ONCE, KEYS = 8, 20


def _rows(port: int) -> list[str]:
    """Make a server of each kind with the model, and return keys, each of which has a limit of requests a minute."""
    Group.objects.get_or_create(name="user")
    person = UserFactory(role="user")
    for kind in KINDS:
        server = ServerFactory(name=f"{kind}-box", kind=kind, base_url=f"http://127.0.0.1:{port}/{kind}")
        profile = ModelProfileFactory(server=server, name="noise")
        for name, value in {"tools": False, "format": "forced_json", "constrains": "enforced"}.items():
            overrides.add(NewOverride(profile.pk, name, value, actor=person.pk, reason="For this test."))
    return [api_keys.create(person.pk, f"campaign {number}") for number in range(KEYS)]


@pytest_asyncio.fixture
async def post(transactional_db: None) -> AsyncIterator[Post]:
    async with noise_server.running() as server:
        keys = cycle(await in_database(_rows)(server.port))

        async def send(path: str, body: JSON) -> tuple[int, Any]:
            headers = {"Authorization": f"Bearer {next(keys)}"}
            answer = await AsyncClient().post(path, body, content_type="application/json", headers=headers)
            return answer.status_code, json.loads(answer.content)

        yield send
        await providers.close()


async def campaign(count: int, post: Post) -> CampaignTally:
    tally, waiting = CampaignTally(), requests(count)

    async def one_after_the_other() -> None:
        for asked in waiting:
            await ask(asked, post, tally)

    await asyncio.gather(*(one_after_the_other() for _ in range(AT_ONCE)))
    return tally


def report(tally: CampaignTally) -> str:
    return f"{sorted(tally.statuses.items())} called: {dict(tally.called)} {tally.errors.most_common(9)}"


@pytest.mark.asyncio
async def test_noise_reaches_programs_as_valid_calls_only(post: Post) -> None:  # K3, K4
    tally = await campaign(BY_DAY, post)
    assert tally.wrong == []
    assert {status for _, status in tally.statuses} == {200}, report(tally)


@pytest.mark.nightly
@pytest.mark.asyncio
async def test_ten_thousand_requests(post: Post) -> None:  # K3, K4
    tally = await campaign(BY_NIGHT, post)
    print(report(tally))
    assert tally.wrong == []
    assert {status for choice, status in tally.statuses} == {200}, report(tally)
