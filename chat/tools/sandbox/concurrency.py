"""Lets only so many tools of a kind run at once in this process; the others wait for a while."""

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
    """For one kind, which is called by `what`; who waits goes in the order in which they came."""

    def __init__(self, what: str) -> None:
        self.what = what
        # A semaphore belongs to one event loop; a server has but one.
        self._places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

    @asynccontextmanager
    async def entered(self, context: ToolContext) -> AsyncIterator[None]:
        """A place, which people are told of where it has to be waited for. Raises ToolError where none gets free."""
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
    """How many of each kind may run at once."""
    return max(1, int(environment.read()["TOOLSUPPORT_PROGRAMS"]))


PROGRAMS, COMMANDS, QUERIES = (
    ConcurrencyLimiter("programs"),
    ConcurrencyLimiter("commands"),
    ConcurrencyLimiter("questions to databases"),
)
