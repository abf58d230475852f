"""Requests of programs to a server that enforces schemas, with a model that writes noise: no invalid call arrives.

Every tool set, choice and API is drawn from a seed. 10,000 by night, a few by day.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import jsonschema_rs
import pytest

from tests.forced.tool_sets import one_set
from tests.toolsupport.gateway.conftest import Program
from tests.toolsupport.gateway.test_required_calls import post
from toolsupport.core.types import ToolSpec

Knows = Callable[..., Any]
Call = tuple[str, Any]
MODEL = "sim-noise"
BY_DAY, BY_NIGHT = 24, 10_000
CHOICES = ("auto", "required", "named")


def completions(tools: tuple[ToolSpec, ...], words: str, choice: str) -> dict[str, Any]:
    named = {"type": "function", "function": {"name": tools[0].name}}
    body = {"messages": [{"role": "user", "content": words}], "tools": [tool.to_openai() for tool in tools]}
    return body | {"tool_choice": named if choice == "named" else choice}


def responses(tools: tuple[ToolSpec, ...], words: str, choice: str) -> dict[str, Any]:
    named = {"type": "function", "name": tools[0].name}
    flat = [{"type": "function", "name": tool.name, "parameters": tool.parameters} for tool in tools]
    return {"input": words, "tools": flat, "tool_choice": named if choice == "named" else choice}


def messages(tools: tuple[ToolSpec, ...], words: str, choice: str) -> dict[str, Any]:
    kinds = {"auto": {"type": "auto"}, "required": {"type": "any"}, "named": {"type": "tool", "name": tools[0].name}}
    offered = [{"name": tool.name, "input_schema": tool.parameters} for tool in tools]
    body = {"max_tokens": 4000, "messages": [{"role": "user", "content": words}], "tools": offered}
    return body | {"tool_choice": kinds[choice]}


def calls_of_completions(body: dict[str, Any]) -> list[Call]:
    called = body["choices"][0]["message"].get("tool_calls") or []
    return [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in called]


def calls_of_responses(body: dict[str, Any]) -> list[Call]:
    called = [item for item in body["output"] if item["type"] == "function_call"]
    return [(call["name"], json.loads(call["arguments"])) for call in called]


def calls_of_messages(body: dict[str, Any]) -> list[Call]:
    return [(part["name"], part["input"]) for part in body["content"] if part["type"] == "tool_use"]


APIS: dict[str, tuple[Callable[..., dict[str, Any]], Callable[..., list[Call]]]] = {
    "/v1/chat/completions": (completions, calls_of_completions),
    "/v1/responses": (responses, calls_of_responses),
    "/v1/messages": (messages, calls_of_messages),
}


def fault(tools: tuple[ToolSpec, ...], choice: str, calls: list[Call]) -> str:
    """Return what is wrong with the calls that reached the program, "" for nothing."""
    schemas = {tool.name: tool.parameters for tool in tools}
    for name, arguments in calls:
        if name not in schemas:
            return f"unknown tool {name}"
        if not jsonschema_rs.is_valid(schemas[name], arguments):
            return f"misfit {name} {arguments}"
    if choice == "required" and not calls:
        return "no call"
    return "another call" if choice == "named" and [name for name, _ in calls] != [tools[0].name] else ""


async def campaign(program: Program, count: int) -> tuple[Counter[str], list[str]]:
    """Send so many requests; return how they ended, and each fault."""
    found: Counter[str] = Counter()
    faults: list[str] = []
    for number in range(count):
        chance = Random(f"campaign {number}")
        tools, choice, path = one_set(chance).tools, chance.choice(CHOICES), chance.choice([*APIS])
        write, read = APIS[path]
        answer = await post(program, path, **write(tools, f"Do number {number}.", choice), model=MODEL)
        calls = read(answer.json()) if answer.status_code == 200 else []
        found[f"{choice} {answer.status_code} {'called' if calls else 'not called'}"] += 1
        wrong = fault(tools, choice, calls) if answer.status_code == 200 else f"{answer.status_code} {answer.content!r}"
        faults += [f"{number} {path} {choice}: {wrong}"] if wrong else []
    return found, faults


@pytest.mark.asyncio
@pytest.mark.parametrize("count", [BY_DAY, pytest.param(BY_NIGHT, marks=pytest.mark.nightly)])
async def test_no_invalid_call_reaches_a_program_and_choices_are_honoured(
    program: Program, knows: Knows, count: int
) -> None:  # K2 K4
    await knows(MODEL, tools=False, format="forced_json", constrains="enforced")
    found, faults = await campaign(program, count)
    assert faults == []
    assert all(any(key.startswith(choice) for key in found) for choice in CHOICES), found
