"""A silent name server delays only the requests that use it."""

from __future__ import annotations

import asyncio
import socket
import threading
from dataclasses import replace
from typing import Any

import pytest

from tests.toolsupport.providers.scripted import FINE, scripted
from tests.toolsupport.providers.test_transport import HI, ask, failure
from toolsupport.core.types import Limits

MANY = 60  # more than the loop has threads
SLOW = "http://silent.example:80"


# SAFETY 2
@pytest.mark.asyncio
async def test_a_silent_name_server_keeps_no_thread_that_others_need(monkeypatch: pytest.MonkeyPatch) -> None:
    look_up, silence, asked = socket.getaddrinfo, threading.Event(), []

    def silent(host: str, *rest: Any, **more: Any) -> Any:
        if host == "silent.example":
            asked.append(host)
            silence.wait(30)
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")
        return look_up(host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", silent)
    async with scripted(FINE) as server:
        endpoint = server.endpoint(Limits(connect=20))
        waiting = [asyncio.ensure_future(failure(replace(endpoint, base_url=SLOW))) for _ in range(MANY)]
        while not asked:
            await asyncio.sleep(0)
        try:
            # Files are read by the loop's threads, and other servers are found by their names.
            assert await asyncio.wait_for(asyncio.to_thread(lambda: "read"), 10) == "read"
            named = replace(endpoint, base_url=f"http://localhost:{server.port}")
            assert await asyncio.wait_for(ask(named), 10) == HI
            assert not any(one.done() for one in waiting) and len(asked) == 1
        finally:
            silence.set()
        assert {found.kind for found in await asyncio.gather(*waiting)} == {"unreachable"}


@pytest.mark.asyncio
async def test_a_name_that_does_not_exist_is_said_at_once() -> None:
    async with scripted(FINE) as server:
        nowhere = replace(server.endpoint(), base_url="http://nowhere.invalid:80")
        assert (await failure(nowhere)).kind == "unreachable"
