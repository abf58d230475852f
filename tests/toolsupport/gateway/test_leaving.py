"""A program that leaves stops the model server, whatever it was waiting for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import aiohttp
import pytest

from tests.serving import ADMIN, Site, serving
from tests.toolsupport.providers.scripted import HANG, Step, chunk, scripted

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
WORD = chunk(b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n')
KNOWN = """
from toolsupport.models import ModelProfile, Server
server, _ = Server.objects.get_or_create(name="away", defaults={{"kind": "openai"}})
Server.objects.filter(name="away").update(base_url="http://127.0.0.1:{port}", reachable=True)
ModelProfile.objects.get_or_create(server=server, name="m")
"""
SECOND = 1.0


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serving(tmp_path_factory.mktemp("site"), TOOLSUPPORT_STARTUP_REFRESH="0") as running:
        yield running


@pytest.fixture(scope="module")
def key(site: Site) -> str:
    return site.manage("create_api_key", ADMIN[0]).strip()


# A server that has begun, one that has not, and a program that waits for the whole answer.
@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("steps", "stream"), [((HEAD, WORD, HANG), True), ((HANG,), True), ((HEAD, WORD, HANG), False)]
)
async def test_the_server_is_stopped_within_a_second(
    site: Site, key: str, steps: Sequence[Step], stream: bool
) -> None:  # G4
    async with scripted(steps) as server:
        await asyncio.to_thread(site.manage, "shell", "--no-imports", "-c", KNOWN.format(port=server.port))
        body = {"model": "away/m", "messages": [{"role": "user", "content": "Hello"}], "stream": stream}
        async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {key}"}) as program:
            asking = asyncio.ensure_future(program.post(f"{site.url}/v1/chat/completions", json=body))
            await server.until_open(1)
            if stream and steps[0] is HEAD:
                answer = await asking
                assert b'"content":"Hi"' in await answer.content.readline()
                answer.close()
            else:
                asking.cancel()
        await asyncio.wait_for(server.until_open(0), SECOND)
