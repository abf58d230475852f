"""The limit of a program's answers at once, over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import aiohttp
import pytest

from tests.serving import ADMIN, Site
from tests.toolsupport.gateway.test_leaving import HEAD, KNOWN, WORDS
from tests.toolsupport.providers.scripted import HANG, scripted

MOST = 24  # more than a person's chats may have, fewer than take long


@pytest.fixture(scope="module")
def site(sites: Callable[..., Site]) -> Site:
    return sites(TOOLSUPPORT_STARTUP_REFRESH="0", TOOLSUPPORT_ANSWERS_PER_KEY=str(MOST)).alive()


@pytest.mark.asyncio
async def test_a_program_gets_as_many_answers_at_once_as_its_key_may_have(site: Site) -> None:  # P5
    first, second = (site.manage("create_api_key", ADMIN[0]).strip() for _ in range(2))
    async with scripted([HEAD, WORDS["openai"], HANG]) as server:
        known = KNOWN.format(port=server.port, kind="openai")
        await asyncio.to_thread(site.manage, "shell", "--no-imports", "-c", known)
        body = {"model": "openai/m", "messages": [{"role": "user", "content": "Hello"}], "stream": True}
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as program:

            async def ask(key: str) -> aiohttp.ClientResponse:
                headers = {"Authorization": f"Bearer {key}"}
                return await program.post(f"{site.url}/v1/chat/completions", json=body, headers=headers)

            answers = await asyncio.gather(*(ask(first) for _ in range(MOST)))
            assert [answer.status for answer in answers] == [200] * MOST
            assert server.open == MOST
            refused = await ask(first)
            error = (await refused.json())["error"]
            assert (refused.status, error["code"], error["type"]) == (429, "busy", "rate_limit_error")
            assert f"{MOST} answers with this key" in error["message"] and int(refused.headers["Retry-After"]) > 0
            assert "Traceback" not in (site.directory / "serve.log").read_text()
            other = await ask(second)
            assert {answer.headers["x-toolsupport-answers-limit"] for answer in (*answers, refused, other)} == {
                str(MOST)
            }
            answers[0].close()
            await asyncio.wait_for(server.until_open(MOST), 10)
            async with asyncio.timeout(10):
                while (again := await ask(first)).status == 429:
                    await again.read()
            assert again.status == 200
            for answer in (*answers, other, again):
                answer.close()
