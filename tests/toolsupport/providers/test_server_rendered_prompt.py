"""The rendered prompt of a server: by debug render, by template, or none."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from tests.toolsupport.detection.test_silent_servers import server
from toolsupport import providers
from toolsupport.core.types import ChatMessage, Endpoint, Permit, Request, Role, ToolSpec
from toolsupport.simulator.server import Simulator

ASKED = Request("sim-honest", (ChatMessage(Role.USER, "Hello!"),), (ToolSpec("lookup_ticket"),), permit=Permit.PROBE)


@pytest_asyncio.fixture
async def simulator() -> AsyncIterator[Simulator]:
    running = Simulator(pace_ms=0)
    await running.start()
    yield running
    await providers.close()
    await running.stop()


async def rendered(kind: str, answers: dict[str, Any]) -> providers.RenderedPrompt | None:
    """What is shown by a server that gives these answers, by a word of the request or of its path."""

    def answer(_: int, body: bytes) -> tuple[int, bytes]:
        found = next((told for word, told in answers.items() if word.encode() in body), None)
        return (404, b"{}") if found is None else (200, json.dumps(found).encode())

    async with server(answer) as endpoint:
        return await providers.rendered(replace(endpoint, kind=kind), ASKED)


@pytest.mark.asyncio
async def test_ollama_renders_without_answering(simulator: Simulator) -> None:  # D6
    shown = await providers.rendered(Endpoint("ollama", simulator.url), ASKED)
    assert shown is not None and (shown.by, "lookup_ticket" in shown.text) == ("debug render", True)


@pytest.mark.asyncio
async def test_an_older_ollama_shows_its_template() -> None:  # D6
    whole = {"message": {"role": "assistant", "content": "Hello"}, "done": True}
    shown = await rendered("ollama", {"_debug": whole, "model": {"template": "{{ if .Tools }}{{ .Tools }}{{ end }}"}})
    assert shown is not None and (shown.by, shown.proves) == ("template", True)
    assert await rendered("ollama", {"_debug": whole, "model": {"template": "{{ .Prompt }}"}}) is None


@pytest.mark.asyncio
async def test_llama_server_applies_its_template() -> None:  # D6
    shown = await rendered("llamacpp", {"lookup_ticket": {"prompt": "<tools>lookup_ticket</tools>Hello!"}})
    assert shown is not None and (shown.by, "lookup_ticket" in shown.text) == ("template", True)


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", ["openai", "vllm", "groq"])
async def test_others_show_nothing_and_are_not_asked(kind: str) -> None:
    assert await rendered(kind, {}) is None


SWITCHED = {"ollama": True, "llamacpp": True, "vllm": True, "openrouter": True, "groq": True, "openai": False}


@pytest.mark.parametrize("kind", SWITCHED)
def test_which_wires_have_a_word_for_thinking(kind: str) -> None:  # D6
    assert providers.switches_thinking(kind) is SWITCHED[kind]
