"""Who gets a thread of their own."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import SyncToAsync
from django.urls import reverse

from toolsupport.config.asgi import ANSWERS, ThreadedASGIHandler


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("path", "shares"), [*((path, True) for path in sorted(ANSWERS)), ("/", False), ("/v1/models", False)]
)
async def test_answers_to_programs_share_the_thread_of_the_chats(
    monkeypatch: pytest.MonkeyPatch, path: str, shares: bool
) -> None:
    seen = []

    async def handle(self: ThreadedASGIHandler, *_: Any) -> None:
        seen.append(SyncToAsync.thread_sensitive_context.get(None) is None)

    monkeypatch.setattr(ThreadedASGIHandler, "handle", handle)
    await ThreadedASGIHandler()({"type": "http", "path": path}, None, None)
    assert seen == [shares]


def test_the_addresses_are_those_of_the_gateway() -> None:
    names = ("completions", "responses", "messages", "embeddings")
    assert {reverse(f"v1-{name}") for name in names} == ANSWERS
