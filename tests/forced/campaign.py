"""Asks for many answers of a model that writes noise, behind servers that enforce the schema of a reply."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import jsonschema_rs

from tests.forced.tool_sets import tool_sets
from toolsupport.core.types import JSON, ToolSpec

# Kinds of servers in the address of the model, and how a call is chosen.
KINDS = ("ollama", "llamacpp", "vllm", "sglang", "lmstudio", "openai")
CHOICES = ("auto", "required", "named")
MOST_TOKENS = 4000
Call = tuple[str, JSON]
Post = Callable[[str, JSON], Awaitable[tuple[int, Any]]]


@dataclass(frozen=True, slots=True)
class CampaignRequest:
    """One request: these tools, asked for through an API with a choice of them."""

    number: int
    kind: str
    api: str
    choice: str
    tools: tuple[ToolSpec, ...]

    @property
    def named(self) -> str:
        return self.tools[self.number % len(self.tools)].name if self.choice == "named" else ""


@dataclass
class CampaignTally:
    """What came back: statuses by choice, and what is wrong with answers."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    called: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)


def requests(count: int, seed: int = 20) -> Iterator[CampaignRequest]:
    """Yield so many requests, each with other tools; every kind of server is asked in every way."""
    for number, made in enumerate(tool_sets(count, seed)):
        tools = tuple(
            ToolSpec(tool.name.replace(".", "_"), tool.description, tool.parameters, strict=False)
            for tool in made.tools
        )
        chance = Random(f"{seed} way {number}")
        yield CampaignRequest(number, chance.choice(KINDS), chance.choice(list(APIS)), chance.choice(CHOICES), tools)


def _chat(asked: CampaignRequest) -> JSON:
    tools = [tool.to_openai() for tool in asked.tools]
    named = {"type": "function", "function": {"name": asked.named}}
    return {
        "messages": [{"role": "user", "content": f"Do number {asked.number}."}],
        "tools": tools,
        "tool_choice": named if asked.named else asked.choice,
    }


def _responses(asked: CampaignRequest) -> JSON:
    tools = [{"type": "function", **tool.to_openai()["function"]} for tool in asked.tools]
    named = {"type": "function", "name": asked.named}
    return {
        "input": f"Do number {asked.number}.",
        "tools": tools,
        "tool_choice": named if asked.named else asked.choice,
    }


def _messages(asked: CampaignRequest) -> JSON:
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in asked.tools
    ]
    choice = {"named": {"type": "tool", "name": asked.named}, "required": {"type": "any"}, "auto": {"type": "auto"}}
    return {
        "messages": [{"role": "user", "content": f"Do number {asked.number}."}],
        "tools": tools,
        "tool_choice": choice[asked.choice],
        "max_tokens": MOST_TOKENS,
    }


def _of_chat(answer: Any) -> list[Call]:
    calls = answer["choices"][0]["message"].get("tool_calls") or ()
    return [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls]


def _of_responses(answer: Any) -> list[Call]:
    calls = [item for item in answer["output"] if item["type"] == "function_call"]
    return [(call["name"], json.loads(call["arguments"])) for call in calls]


def _of_messages(answer: Any) -> list[Call]:
    return [(block["name"], block["input"]) for block in answer["content"] if block["type"] == "tool_use"]


Api = tuple[Callable[[CampaignRequest], JSON], Callable[[Any], list[Call]]]
APIS: Mapping[str, Api] = {
    "/v1/chat/completions": (_chat, _of_chat),
    "/v1/responses": (_responses, _of_responses),
    "/v1/messages": (_messages, _of_messages),
}


def faults(asked: CampaignRequest, calls: list[Call]) -> Iterator[str]:
    """Yield what is wrong with the calls of an answer, as its program judges them."""
    offered = {tool.name: tool.parameters for tool in asked.tools}
    for name, arguments in calls:
        if name not in offered:
            yield f"{asked.number}: no tool {name}"
        elif not jsonschema_rs.is_valid(offered[name], arguments):
            yield f"{asked.number}: {name} {json.dumps(arguments)[:200]} for {json.dumps(offered[name])[:300]}"
    if asked.choice != "auto" and not calls:
        yield f"{asked.number}: no call, and {asked.choice}"
    if asked.named and any(name != asked.named for name, _ in calls):
        yield f"{asked.number}: another tool than {asked.named}"


async def ask(asked: CampaignRequest, post: Post, tally: CampaignTally) -> None:
    write, read = APIS[asked.api]
    status, answer = await post(asked.api, {"model": f"{asked.kind}-box/noise", **write(asked)})
    tally.statuses[asked.choice, status] += 1
    if status != 200:
        tally.errors[f"{asked.choice} {asked.kind} {status} {json.dumps(answer)[:400]}"] += 1
        return
    calls = read(answer)
    tally.called[asked.choice] += bool(calls)
    tally.wrong += faults(asked, calls)
