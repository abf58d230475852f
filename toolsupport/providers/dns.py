"""Resolves the names of model servers, in a thread pool of its own."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from aiohttp.abc import AbstractResolver, ResolveResult

# The system's own lookup cannot be ended: a silent name server keeps its thread for half a minute. The loop's common
# threads are few, and files are read and written there. A name is looked up once, however many ask for it.
_threads = ThreadPoolExecutor(max_workers=32, thread_name_prefix="names")
FOUND = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV


class AddressResolver(AbstractResolver):
    """The resolver that the transport uses."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a name. Raises OSError."""
        lookup = partial(socket.getaddrinfo, host, port, family, socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
        found = await asyncio.get_running_loop().run_in_executor(_threads, lookup)
        return [
            ResolveResult(hostname=host, host=str(place[0]), port=int(place[1]), family=kind, proto=proto, flags=FOUND)
            for kind, _, proto, _, place in found
        ]

    async def close(self) -> None: ...
