"""Long work of one exchange is done in a thread: reading a long error, writing many definitions of tools."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.toolsupport.providers.scripted import FINE, Scripted, answer, scripted
from toolsupport import providers
from toolsupport.core.events import Event, Failed
from toolsupport.core.types import ChatMessage, Request, Role, ToolSpec

QUESTION = Request("m", (ChatMessage(Role.USER, "Hello"),), supports_tools=True)


async def ask(server: Scripted, request: Request = QUESTION) -> list[Event]:
    return [event async for batch in providers.stream(server.endpoint(), request) for event in batch]


def threads_of(monkeypatch: pytest.MonkeyPatch, function: str, done: Callable[..., Any]) -> list[bool]:
    """Return a list that gets, for each call of the function, whether it runs in another thread than the loop."""
    apart: list[bool] = []

    def watched(*given: Any) -> Any:
        apart.append(threading.current_thread() is not threading.main_thread())
        return done(*given)

    monkeypatch.setattr(function, watched)
    return apart


@pytest.mark.asyncio
@pytest.mark.parametrize(("characters", "apart"), [(300, False), (3_000, True), (60_000, True)])
async def test_a_long_error_is_read_in_a_thread(
    monkeypatch: pytest.MonkeyPatch, characters: int, apart: bool
) -> None:  # S1, S2
    from toolsupport.providers.error_text import answered

    found = threads_of(monkeypatch, "toolsupport.providers.error_text.answered", answered)
    async with scripted(answer(400, b"tools are not supported by " * (characters // 27))) as server:
        last = (await ask(server))[-1]
    assert isinstance(last, Failed) and last.kind == "refused" and found == [apart]


@pytest.mark.asyncio
@pytest.mark.parametrize(("properties", "apart"), [(10, False), (6_000, True)])
async def test_many_definitions_are_written_in_a_thread(
    monkeypatch: pytest.MonkeyPatch, properties: int, apart: bool
) -> None:  # S1, S2
    from toolsupport.core.lost_keywords import in_words

    found = threads_of(monkeypatch, "toolsupport.providers.ollama_request.in_words", in_words)
    tool = ToolSpec("note", "", {"type": "object", "properties": {f"p{one}": {} for one in range(properties)}})
    async with scripted(FINE) as server:
        await ask(server, replace(QUESTION, tools=(tool,)))
    assert found == [apart]
