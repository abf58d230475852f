"""Serves a small ASGI application with small limits, and prints its port, so that tests reach the server alone."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import socket
import sys
from collections import Counter
from typing import Any

# Twisted's loop must be chosen before anything else imports Twisted.
from daphne import server as _  # noqa: F401  # isort: skip

import django
from twisted.internet import reactor

from toolsupport.web.connection_table import ConnectionLimits, ConnectionTable

BIG = b"x" * 20 * 1024 * 1024
MEDIUM = b"y" * 100 * 1024
seen: Counter[str] = Counter()
table: ConnectionTable
daphne: Any  # the server
opened = asyncio.Event()


async def application(scope: Any, receive: Any, send: Any) -> None:
    seen[scope["path"]] += 1
    await (websocket if scope["type"] == "websocket" else http)(scope, receive, send)


async def http(scope: Any, receive: Any, send: Any) -> None:
    """`/hang` answers never, `/state` shows the connections by phase, others have bodies of different sizes.

    The first `/garbage` stops the garbage collector, the next shows what it would have freed since.
    """
    length, more = 0, True
    while more:
        message = await receive()
        length, more = length + len(message.get("body", b"")), message.get("more_body", False)
    path = scope["path"]
    if path == "/hang":
        await receive()
        return
    if path == "/open":
        opened.set()
    if path == "/garbage":
        seen.update(garbage())
    phases = Counter(one.phase.name for one in table.open)
    state = json.dumps({"phases": phases, "seen": seen, "length": length, "served": len(daphne.connections)}).encode()
    body = {"/big": BIG, "/medium": MEDIUM}.get(path, state)
    fields = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": fields})
    await send({"type": "http.response.body", "body": body})


def garbage() -> Counter[str]:
    """Count the objects of the server that were dropped and could not be freed since the last call."""
    gc.set_debug(0 if gc.isenabled() else gc.DEBUG_SAVEALL)
    gc.collect()
    gc.set_debug(0)
    found = Counter(type(one).__name__ for one in gc.garbage if type(one).__module__.startswith("toolsupport."))
    gc.garbage.clear()
    (gc.disable if gc.isenabled() else gc.enable)()
    return found


async def websocket(scope: Any, receive: Any, send: Any) -> None:
    """`/ws/never` accepts no socket; `/ws/busy` reads nothing until `/open` was asked, then counts what came."""
    await receive()
    if scope["path"] == "/ws/never":
        await asyncio.sleep(3600)
    await send({"type": "websocket.accept"})
    if scope["path"] == "/ws/busy":
        await opened.wait()
    while (message := await receive())["type"] == "websocket.receive":
        seen["messages"] += 1
        await send({"type": "websocket.send", "text": str(len(message.get("text") or ""))})


def main() -> None:
    global table, daphne
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolsupport.config.settings")
    django.setup()
    from toolsupport.web.server import BoundedServer  # needs the settings

    logging.getLogger().setLevel(logging.INFO)
    server = BoundedServer(
        application=application,
        endpoints=[str(socket.create_server(("0.0.0.0", 0), backlog=1024).detach())],
        signal_handlers=True,
        http_timeout=120,
        websocket_handshake_timeout=2,
        websocket_timeout=-1,
        verbosity=0,
        limits=ConnectionLimits(**json.loads(sys.argv[1]), proxies=()),
    )
    table, daphne = server.table, server
    twisted: Any = reactor
    twisted.callLater(0, lambda: print(server.ports[0].getHost().port, flush=True))
    server.run()


if __name__ == "__main__":
    main()
