"""Gives other ASGI servers the application as `manage.py serve` has it: objects of the start are not collected."""

from __future__ import annotations

import gc
from typing import Any

from toolsupport.config import asgi


async def application(scope: Any, receive: Any, send: Any) -> None:
    async def sent(message: Any) -> None:
        if message["type"] == "lifespan.startup.complete":
            gc.collect()
            gc.freeze()
        await send(message)

    await asgi.application(scope, receive, sent)
