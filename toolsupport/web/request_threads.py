"""Keeps the threads of requests, each with its connection to the database, for later requests.

Django gives each request a thread of its own, and so a new connection; one to SQLite is closed by the garbage collector
alone, and nothing that was read through it is of use to the next request.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from asgiref.sync import ThreadSensitiveContext
from django.db import connections

# A page fetches about as many parts at once. Each thread may keep two MiB of pages of the database.
MOST_IDLE = 4


class RequestThreads:
    """The threads of one process that wait for a request."""

    def __init__(self, most_idle: int = MOST_IDLE) -> None:
        self._idle: deque[ThreadPoolExecutor] = deque()
        self._most_idle = most_idle

    @asynccontextmanager
    async def thread(self) -> AsyncIterator[None]:
        """Do the synchronous work of a request in a thread that no other request uses meanwhile."""
        try:
            thread = self._idle.pop()  # the one that was used last: the others may end
        except IndexError:
            thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="request")
        try:
            async with ThreadSensitiveContext(executor=thread):
                yield
        finally:
            # A cancelled request may have left work in the queue of its thread; `_keep` runs after it.
            thread.submit(self._keep, thread)

    def _keep(self, thread: ThreadPoolExecutor) -> None:
        """Wait for the next request, or end; runs in that thread."""
        if len(self._idle) < self._most_idle:
            self._idle.append(thread)
            return
        connections.close_all()
        thread.shutdown(wait=False)
