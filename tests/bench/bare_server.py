"""A small ASGI application that only sends, so that the server alone is measured; as a command Daphne serves it."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

TOKENS, PACE = 50, 0.02
FRAME = '{"type":"text.delta","message":123456,"offset":%d,"text":" token @0000000000000000"}'
END = b"END"


async def application(scope: Any, receive: Any, send: Any) -> None:
    kinds = {"lifespan": lifespan, "http": http, "websocket": websocket}
    await kinds[scope["type"]](scope, receive, send)


async def lifespan(scope: Any, receive: Any, send: Any) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def http(scope: Any, receive: Any, send: Any) -> None:
    """`/sse` sends paced events, anything else a page."""
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    paced = scope["path"] == "/sse"
    for number in range(TOKENS if paced else 0):
        event = b"data: " + (FRAME % number).encode() + b"\n\n"
        await send({"type": "http.response.body", "body": event, "more_body": True})
        await asyncio.sleep(PACE)
    await send({"type": "http.response.body", "body": END + b"x" * (0 if paced else 20_000)})


async def websocket(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    while (await receive())["type"] == "websocket.receive":
        for number in range(TOKENS):
            await send({"type": "websocket.send", "text": FRAME % number})
            await asyncio.sleep(PACE)
        await send({"type": "websocket.send", "text": END.decode()})


def serve(port: str) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolsupport.config.settings")
    import django

    django.setup()
    from toolsupport.web.server import BoundedServer  # needs the settings

    endpoints = [f"tcp:port={port}:interface=127.0.0.1"]
    server = BoundedServer(application=application, endpoints=endpoints, http_timeout=120, websocket_timeout=-1)
    server.run()


if __name__ == "__main__":
    serve(sys.argv[1])
