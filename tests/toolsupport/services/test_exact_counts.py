"""Exact token counts of a server that offers them, and tools that a server drops in live use (K8)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.tables import every
from tests.toolsupport.providers.scripted import answer, scripted
from toolsupport import providers
from toolsupport.core.events import Usage
from toolsupport.core.prompt.token_counts import MeasuredPrompt, TokenCounts, cost_of_each, dropped_tools
from toolsupport.core.types import Capabilities, Capability, ChatMessage, Endpoint, RequestSpec, Role, ToolSpec
from toolsupport.registry.models.request_context import RequestContext
from toolsupport.services import exact_counts
from toolsupport.services.context_guard import ContextGuard

HELLO = [ChatMessage(Role.USER, "Hello!")]
TOOLS = (ToolSpec("read_file", "x" * 3000), ToolSpec("bash", "y" * 1000))
NATIVE = Capabilities({"tools": Capability("tools", True, "user_confirmed", "A person said so.")})


def prepared(endpoint: Endpoint, counts: TokenCounts | None = None, **spec: Any) -> RequestContext:
    made = RequestSpec("m", NATIVE, **{"tools": TOOLS, "format": "native", **spec})
    return RequestContext(made, endpoint, "build", counts or TokenCounts())


def counting(*tokens: Any) -> list[Any]:
    return [
        answer(200, json.dumps({"input_tokens": count, "object": "response.input_tokens"}).encode()) for count in tokens
    ]


@pytest.mark.asyncio
async def test_llama_server_counts_a_request_with_its_tools_and_without() -> None:
    async with scripted(*counting(1029, 129, 29)) as server:
        asked = prepared(server.endpoint(kind="llamacpp"))
        assert exact_counts.wanted(asked)
        found = await exact_counts.measured(asked, HELLO)
        await providers.close()
        assert [head.split()[1] for head, _ in server.requests] == ["/v1/chat/completions/input_tokens"] * 3
        assert [len(body.get("tools", [])) for body in server.bodies] == [2, 0, 0]
        whole, bare, without = [body["messages"] for body in server.bodies]
        assert whole == bare and len(without) < len(whole)  # a text about tools is in the first two
    assert (found.with_tools, found.without) == (MeasuredPrompt(6, 1029), MeasuredPrompt(6, 29))
    costs = cost_of_each(asked.request_spec, found)
    assert sum(costs.values()) == 1000 and costs["read_file"] > costs["bash"]
    assert not exact_counts.wanted(replace(asked, counts=found))


@pytest.mark.asyncio
async def test_counts_show_that_a_server_drops_tools_beside_a_text_about_them() -> None:
    async with scripted(*counting(129, 129, 29)) as server:
        asked = prepared(server.endpoint(kind="llamacpp"))
        found = await exact_counts.measured(asked, HELLO)
        await providers.close()
        assert len(server.bodies) == 2
    guard = ContextGuard()
    guard.asked(replace(asked, counts=found), HELLO)
    assert guard.dropped_tools(replace(asked, counts=found), Usage(129))


@pytest.mark.asyncio
async def test_tools_in_text_cannot_be_dropped() -> None:
    async with scripted(*counting(900, 29)) as server:
        asked = prepared(server.endpoint(kind="llamacpp"), format="hermes")
        found = await exact_counts.measured(asked, HELLO)
        await providers.close()
    assert (found.with_tools, found.without) == (MeasuredPrompt(6, 900), MeasuredPrompt(6, 29))


@pytest.mark.parametrize(
    ("text", "tokens", "cut"),
    [
        ("=" * 6000, 40, False),
        ("| --- " * 900, 300, False),
        ("\n" * 4000 + "Why?", 30, False),
        ("0a" * 3000, 60, False),
        ("Every word counts in this long question. " * 2 + "".join(f"Line {n} of it. " for n in range(900)), 200, True),
        ("".join(chr(0x4E00 + 7 * n) for n in range(2500)), 100, True),
    ],
)
def test_repeated_marks_are_no_sign_of_a_cut(text: str, tokens: int, cut: bool) -> None:
    asked, guard = prepared(Endpoint("llamacpp", "http://x"), tools=(), format=""), ContextGuard()
    guard.asked(asked, [ChatMessage(Role.USER, text)])
    assert guard.cut(asked, Usage(tokens)) is cut


@pytest.mark.asyncio
@pytest.mark.parametrize("told", [answer(404, b"{}"), answer(200, b"[]"), *counting(None, True, 0, "9")])
async def test_a_server_without_counts_leaves_the_estimate(told: Any) -> None:
    async with scripted(told) as server:
        asked = prepared(server.endpoint(kind="llamacpp"))
        assert await exact_counts.measured(asked, HELLO) is asked.counts
        await providers.close()


def test_only_tools_of_unknown_cost_are_counted() -> None:
    here = Endpoint("llamacpp", "http://x")
    assert not exact_counts.wanted(prepared(replace(here, kind="ollama")))
    assert not exact_counts.wanted(prepared(here, tools=(), format=""))


# Definitions of about 4,200 characters are at least 126 tokens, however briefly a template writes them.
LIVE = [
    (TokenCounts(), 29, "native", True),
    (TokenCounts(), 700, "native", False),
    (TokenCounts(), 29, "hermes", False),
    (TokenCounts(), None, "native", False),
    (TokenCounts(MeasuredPrompt(6, 700), MeasuredPrompt(6, 700)), 700, "native", True),
    (TokenCounts(MeasuredPrompt(6, 1029), MeasuredPrompt(6, 29)), 1029, "native", False),
    (TokenCounts(MeasuredPrompt(6, 1029), MeasuredPrompt(6, 329)), 430, "native", True),
    (TokenCounts(MeasuredPrompt(9, 1029), MeasuredPrompt(9, 329)), 430, "native", False),
    (TokenCounts(MeasuredPrompt(6, 1029), MeasuredPrompt(6, 329)), 900, "native", False),
]


@every(("counts", "counted", "kind", "dropped"), LIVE)
def test_a_count_below_that_of_the_tools_shows_that_they_were_dropped(
    counts: TokenCounts, counted: int | None, kind: str, dropped: bool
) -> None:
    asked, guard = prepared(Endpoint("llamacpp", "http://x"), counts, format=kind), ContextGuard()
    guard.asked(asked, HELLO)
    assert guard.dropped_tools(asked, Usage(counted)) is dropped


def test_without_tools_none_were_dropped() -> None:
    spec = RequestSpec("m", NATIVE)
    assert not dropped_tools(spec, TokenCounts(), MeasuredPrompt(6, 1))
