"""The websocket URL patterns."""

from typing import Any, cast

from django.urls import path

from chat.websocket.consumer import ChatConsumer

# `path` is typed for views; Channels' router takes ASGI applications.
WEBSOCKETS: list[Any] = [path("ws/chat/<uuid:conversation>/", cast(Any, ChatConsumer.as_asgi()))]
