"""The bus between the processes of one site on one machine."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from toolsupport.config.environment import ONE_PROCESS
from toolsupport.services import local_process_bus
from toolsupport.services.local_process_bus import Hub, LocalChannelLayer
from toolsupport.services.site_processes import ProcessGroup, listening, report_ready

Connect = Callable[[], Awaitable[LocalChannelLayer]]


def ran(work: Callable[[Connect], Awaitable[None]]) -> None:
    async def run() -> None:
        hub, tasks, layers = Hub(), list[asyncio.Task[None]](), list[LocalChannelLayer]()

        async def connect() -> LocalChannelLayer:
            here, there = socket.socketpair()
            tasks.append(asyncio.get_running_loop().create_task(hub.serve(there)))
            layers.append(LocalChannelLayer(here.detach()))
            await layers[-1].new_channel()
            return layers[-1]

        async with asyncio.timeout(10):  # a message that is lost would be waited for without an end
            await work(connect)
            for layer in layers:
                await layer.flush()
            await asyncio.gather(*tasks)
        assert not hub._groups

    asyncio.run(run())


async def marked(layer: LocalChannelLayer) -> None:
    """Wait until all that this process sent has arrived at the hub."""
    await layer.group_add("mark", "")
    await layer.group_send("mark", {"type": "mark"})
    assert await layer.receive("") == {"type": "mark"}
    await layer.group_discard("mark", "")


def test_a_group_gets_messages_in_order_and_its_sender_too() -> None:
    async def work(connect: Connect) -> None:
        one, other, stranger = await connect(), await connect(), await connect()
        for layer in (one, other):
            await layer.group_add("a", "")
            await marked(layer)
        await stranger.group_add("b", "")
        messages: list[dict[str, Any]] = [{"type": "x", "n": n, "text": "é \0 😀" * n, "to": None} for n in range(50)]
        for message in messages:
            await one.group_send("a", message)
        assert [await one.receive("") for _ in messages] == messages
        assert [await other.receive("") for _ in messages] == messages
        await marked(stranger)  # nothing else came there

    ran(work)


def test_a_process_that_left_gets_nothing() -> None:
    async def work(connect: Connect) -> None:
        one, other = await connect(), await connect()
        for layer in (one, other):
            await layer.group_add("a", "")
        await other.group_discard("a", "")
        await marked(other)
        await one.group_send("a", {"type": "x"})
        assert await one.receive("") == {"type": "x"}
        await marked(other)
        await one.flush()
        await marked(other)  # the end of another changes nothing

    ran(work)


def test_a_process_that_reads_nothing_loses_messages_and_holds_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(local_process_bus, "MOST_BEHIND", 100_000)

    async def work(connect: Connect) -> None:
        one, deaf = await connect(), await connect()
        await deaf.group_add("a", "")
        await marked(deaf)
        _, writer = await deaf._link()
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        await one.group_add("a", "")
        for n in range(200):
            await one.group_send("a", {"type": "x", "n": n, "text": "t" * 50_000})
            assert (await one.receive(""))["n"] == n
        writer.transport.resume_reading()  # type: ignore[attr-defined]
        assert (await deaf.receive(""))["n"] == 0

    ran(work)
    assert "does not read" in caplog.text


def test_redis_stays_where_it_is_set() -> None:
    redis = {"default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer"}}
    assert local_process_bus.use(redis, 7) is redis
    chosen = local_process_bus.use({"default": {"BACKEND": ONE_PROCESS}}, 7)["default"]
    assert chosen == {"BACKEND": "toolsupport.services.local_process_bus.LocalChannelLayer", "CONFIG": {"end": 7}}


def test_processes_that_cannot_start_end_the_group(monkeypatch: pytest.MonkeyPatch) -> None:
    command = (sys.executable, "-c", "raise SystemExit(3)")
    monkeypatch.setattr("toolsupport.services.site_processes.COMMAND", command)
    ready = list[str]()
    group = ProcessGroup((), listening("127.0.0.1", 0, 1), 5.0, lambda: ready.append("ready"))
    assert asyncio.run(group.run(2)) is False and not ready


def test_a_process_ends_whose_parent_ended_while_it_started() -> None:
    async def run() -> bool:
        asked_to_end = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asked_to_end.set)
        parents, own = socket.socketpair()
        parents.close()
        report_ready(own.detach())
        async with asyncio.timeout(10):  # without the signal it would serve for ever
            return await asked_to_end.wait()

    assert asyncio.run(run())
