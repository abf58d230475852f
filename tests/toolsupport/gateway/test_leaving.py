"""A program that disconnects stops the model server, at any point of its request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import aiohttp
import pytest

from tests.serving import ADMIN, Site
from tests.toolsupport.providers.scripted import HANG, chunk, scripted

HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
# How a server of each kind says a word.
WORDS = {
    "openai": chunk(b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n'),
    "ollama": chunk(b'{"message":{"role":"assistant","content":"Hi"},"done":false}\n'),
}
KNOWN = """
from toolsupport.models import ModelProfile, Server
base = "http://127.0.0.1:{port}"
server, _ = Server.objects.update_or_create(name="{kind}", defaults=dict(kind="{kind}", base_url=base, reachable=True))
ModelProfile.objects.get_or_create(server=server, name="m")
"""
SECOND = 1.0


@pytest.fixture(scope="module")
def site(sites: Callable[..., Site]) -> Site:
    """Nothing but the programs asks the servers of its tests."""
    return sites(TOOLSUPPORT_STARTUP_REFRESH="0").alive()


@pytest.fixture(scope="module")
def key(site: Site) -> str:
    return site.manage("create_api_key", ADMIN[0]).strip()


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize("begun", [True, False], ids=["begun", "silent"])
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_the_server_is_stopped_within_a_second(
    site: Site, key: str, kind: str, begun: bool, stream: bool
) -> None:  # G4
    async with scripted([HEAD, WORDS[kind], HANG] if begun else [HANG]) as server:
        await asyncio.to_thread(site.manage, "shell", "--no-imports", "-c", KNOWN.format(port=server.port, kind=kind))
        body = {"model": f"{kind}/m", "messages": [{"role": "user", "content": "Hello"}], "stream": stream}
        async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {key}"}) as program:
            asking = asyncio.ensure_future(program.post(f"{site.url}/v1/chat/completions", json=body))
            await server.until_open(1)
            if stream and begun:
                answer = await asking
                assert b'"content":"Hi"' in await answer.content.readline()
                answer.close()
            else:
                asking.cancel()
        await asyncio.wait_for(server.until_open(0), SECOND)
