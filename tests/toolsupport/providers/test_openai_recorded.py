"""Recorded replies of llama-server and llama-cpp-python, held against an account of their own."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.tables import every
from tests.toolsupport.providers.openai_reply import decode
from toolsupport.core.events import (
    CallDelta,
    CallReady,
    CallRejected,
    Event,
    Failed,
    Finished,
    TextDelta,
    ThinkingDelta,
)

WIRE = Path(__file__).parents[2] / "wire" / "openai"
RECORDED = sorted(path.name for path in WIRE.iterdir() if path.is_file())


@dataclass
class Account:
    """What a reply says in all, whatever the pieces."""

    text: str = ""
    thinking: str = ""
    calls: dict[Any, list[str]] = field(default_factory=dict)
    end: str = "cut"

    def take(self, choice: dict) -> None:
        said = choice.get("delta") or choice.get("message") or {}
        self.text += said.get("content") or ""
        self.thinking += said.get("reasoning_content") or ""
        for place, call in enumerate(said.get("tool_calls") or []):
            kept = self.calls.setdefault(call.get("index", place), ["", ""])
            kept[0] = call["function"].get("name") or kept[0]
            kept[1] += call["function"].get("arguments") or ""
        self.end = choice["finish_reason"] or self.end


def account_of(data: str) -> Account:
    account = Account()
    lines = [line[6:] for line in data.split("\n") if line.startswith("data: {")] or [data]
    for line in lines:
        chunk = json.loads(line)
        if "error" in chunk:
            account.end = "server"
        for choice in chunk.get("choices", []):
            account.take(choice)
    return account


def account_from(events: list[Event]) -> Account:
    account = Account()
    told: dict[str, str] = {}
    for event in events:
        if isinstance(event, TextDelta):
            account.text += event.text
        elif isinstance(event, ThinkingDelta):
            account.thinking += event.text
        elif isinstance(event, CallDelta):
            told[event.id] = told.get(event.id, "") + event.text
        elif isinstance(event, CallReady):
            assert told[event.call.id] == event.raw and json.loads(event.raw) == event.call.arguments
            account.calls[len(account.calls)] = [event.call.name, event.raw]
        elif isinstance(event, CallRejected):
            assert told[event.id] == event.raw
            account.calls[len(account.calls)] = [event.name, event.raw]
    last = events[-1]
    account.end = last.kind if isinstance(last, Failed) else last.reason if isinstance(last, Finished) else ""
    return account


def recorded(name: str) -> bytes:
    return (WIRE / name).read_bytes()


@every("name", RECORDED)
def test_a_recorded_reply_says_what_its_bytes_say(name: str) -> None:  # F10
    data = recorded(name)
    expected = account_of(data.decode())
    if expected.end == "cut":
        expected.calls = {}  # a call that nobody finished is no call
    assert account_from(decode([data])) == expected


@every("name", RECORDED)
def test_a_recorded_reply_is_the_same_in_any_pieces(name: str) -> None:
    data = recorded(name)
    whole = decode([data])
    assert decode([data[at : at + 1] for at in range(len(data))]) == whole
    chance = random.Random(name)
    for _ in range(40):
        cuts = sorted(chance.randrange(len(data)) for _ in range(chance.randrange(1, 30)))
        assert decode([data[start:end] for start, end in pairwise([0, *cuts, len(data)])]) == whole
