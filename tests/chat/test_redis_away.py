"""Redis goes away and comes back while one process writes and another one shows it."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.chat.test_several_processes import long_answer
from tests.installed import needs
from tests.serving import free_port, new_chat, page, serving, sign_in


class Redis:
    """A server of our own on a port of its own, that can be taken away."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.port = directory, free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        words = ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--dir"]
        self.process = subprocess.Popen([*words, str(self.directory)], stdout=subprocess.PIPE)
        assert self.process.stdout
        for line in self.process.stdout:
            if b"Ready to accept" in line:
                return

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            assert self.process.stdout
            self.process.stdout.close()
            self.process = None


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    running = Redis(tmp_path)
    running.start()
    yield running
    running.kill()


# O2 C2
@needs("redis-server")
@pytest.mark.asyncio
async def test_a_page_elsewhere_learns_of_an_end_that_was_lost(tmp_path: Path, redis: Redis) -> None:
    with ExitStack() as stack:
        environment = {"REDIS_URL": redis.url, "DATABASE_URL": f"sqlite:///{tmp_path / 'toolsupport.sqlite3'}"}
        here, there = (stack.enter_context(serving(tmp_path, **environment)) for _ in range(2))
        client = stack.enter_context(closing(sign_in(here)))
        conversation = new_chat(client)
        async with page(here, client, conversation) as first, page(there, client, conversation) as second:
            await second.until("hello")
            message = await long_answer(first)
            await second.until("text.delta", message=message)
            await asyncio.to_thread(redis.kill)
            await first.send("turn.stop")
            end = await first.until("turn.ended")
            await asyncio.to_thread(redis.start)
            told = await second.until("tail")
            assert told["tail"] == end["seq"] and "turn" not in told
            # What comes next arrives as ever.
            await first.send("model.select", model="sim-honest:latest")  # whose answers are short
            await second.until("notice", code="switched")
            await first.send("message.send", text="Hello")
            await second.until("turn.ended")
