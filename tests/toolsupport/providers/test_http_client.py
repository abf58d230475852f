"""The connections of an event loop end with it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import aiohttp
import pytest
from asgiref.sync import async_to_sync

from toolsupport import providers
from toolsupport.core.errors import Unreachable
from toolsupport.core.types import Endpoint
from toolsupport.providers import http_client


async def ask_and_leave() -> list[aiohttp.ClientSession]:
    """Ask a server that is not there, without `close`; the sessions for it."""
    with pytest.raises(Unreachable):
        await providers.survey(Endpoint("ollama", "http://127.0.0.1:9"))
    here = http_client._transports[asyncio.get_running_loop()]
    return [transport.client for transport in here.by_place.values()]  # type: ignore[attr-defined]


@pytest.mark.parametrize("run", [lambda work: asyncio.run(work()), lambda work: async_to_sync(work)()])
def test_a_loop_that_ends_leaves_no_session_open(
    run: Callable[[Callable[[], Awaitable[object]]], list[aiohttp.ClientSession]],
) -> None:
    sessions = run(ask_and_leave)
    assert [session.closed for session in sessions] == [True]


def test_a_loop_that_closed_its_connections_may_make_others() -> None:
    async def twice() -> list[aiohttp.ClientSession]:
        first = await ask_and_leave()
        await asyncio.gather(providers.close(), providers.close())
        assert [session.closed for session in first] == [True]
        return await ask_and_leave()

    assert [session.closed for session in asyncio.run(twice())] == [True]
