"""The websocket URL patterns."""

from typing import Any, cast

from django.urls import path, re_path

from chat.websocket.consumer import ChatConsumer


async def unknown(scope: Any, receive: Any, send: Any) -> None:
    """Refuse a websocket at any other path; without a route the router would raise an error."""
    await receive()
    await send({"type": "websocket.close"})


# `path` is typed for views; Channels' router takes ASGI applications.
WEBSOCKETS: list[Any] = [
    path("ws/chat/<uuid:conversation>/", cast(Any, ChatConsumer.as_asgi())),
    re_path("", cast(Any, unknown)),
]
