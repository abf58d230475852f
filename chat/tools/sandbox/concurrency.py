"""Limits how many tools of a kind run at once in this process; the others wait for some time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

from chat.tools.tool import ToolContext
from toolsupport.config import environment
from toolsupport.core.errors import ToolError

PATIENCE = 10.0  # seconds; it is part of the time that a tool has


class ConcurrencyLimiter:
    """The limit of one kind, named `what`; waiting calls proceed in order of arrival."""

    def __init__(self, what: str) -> None:
        self.what = what
        # A semaphore belongs to one event loop; a server has only one.
        self._places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

    @asynccontextmanager
    async def entered(self, context: ToolContext) -> AsyncIterator[None]:
        """Acquire a place, with a notice to people while it waits. Raises ToolError after too long."""
        places = self._places.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(most()))
        if places.locked():
            context.say(f"[Waiting until one of the other {self.what} ends.]\n")
        try:
            async with asyncio.timeout(PATIENCE):
                await places.acquire()
        except TimeoutError:
            words = f"Not run: too many {self.what} ran at once, for longer than {PATIENCE:g} seconds. Try again later."
            raise ToolError(words) from None
        try:
            yield
        finally:
            places.release()


def most() -> int:
    """Return how many of each kind may run at once."""
    return int(environment.read()["TOOLSUPPORT_PROGRAMS"])


PROGRAMS, COMMANDS, QUERIES = (
    ConcurrencyLimiter("programs"),
    ConcurrencyLimiter("commands"),
    ConcurrencyLimiter("questions to databases"),
)
