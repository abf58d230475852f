"""Writes an exported conversation as Markdown or JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from chat.statuses import TurnStatus
from chat.transcript.conversations.export import ExportedConversation, ExportedMessage

VERSION = 1
NAME = "toolsupport.conversation"


def to_json(found: ExportedConversation) -> str:
    """Write every branch: `messages` form a tree by `parent`, `shown` names the shown branch."""
    whole = {
        "format": NAME,
        "version": VERSION,
        "id": found.id,
        "title": found.title,
        "model": found.model,
        "created_at": found.created_at.isoformat(),
        "updated_at": found.updated_at.isoformat(),
        "settings": found.settings,
        "memory": found.memory,
        "shown": found.shown,
        "messages": [_entry(message) for message in found.messages],
    }
    if found.exchanges:
        whole["exchanges"] = found.exchanges
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


def markdown(found: ExportedConversation) -> str:
    """Write the shown branch, for people."""
    shown = set(found.shown)
    head = [f"# {found.title}", f"{_time(found.created_at)} · {found.model or 'no model'}"]
    if found.memory:
        head += ["## Remembered", found.memory]
    blocks = (block for message in found.messages if message.id in shown for block in _blocks(message))
    return "\n\n".join([*head, *blocks]) + "\n"


def _entry(message: ExportedMessage) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "id": message.id,
        "parent": message.parent,
        "role": message.role,
        "created_at": message.created_at.isoformat(),
        "text": message.text,
    }
    optional: dict[str, Any] = {
        "thinking": message.thinking,
        "model": message.model,
        "ended": message.ended,
        "code": message.code,
        "images": list(message.images),
    }
    return entry | {name: value for name, value in optional.items() if value} | {"calls": list(message.calls)}


# How an answer ended early.
ENDED = {
    TurnStatus.STOPPED: "The answer was stopped.",
    TurnStatus.INTERRUPTED: "The answer was interrupted.",
    TurnStatus.FAILED: "The answer failed.",
    TurnStatus.MODEL_CHANGED: "The answer ended because the model was changed.",
}


def _blocks(message: ExportedMessage) -> Iterator[str]:
    if message.role == "notice":
        yield f"*{message.text}*"
        return
    yield f"## {message.model or 'You'} · {_time(message.created_at)}"
    if message.thinking:
        yield "Thought:\n\n" + "\n".join(f"> {line}" for line in message.thinking.splitlines())
    if message.text:
        yield message.text
    if message.images:
        yield f"*Attached: {', '.join(message.images)}*"
    for call in message.calls:
        yield from _call(call)
    if message.ended in ENDED:
        yield f"*{ENDED[TurnStatus(message.ended)]}*"


def _call(call: dict[str, Any]) -> Iterator[str]:
    took = "" if call["duration_ms"] is None else f" · {call['duration_ms']} ms"
    yield f"**{call['name']}** · {call['status']}{took}"
    yield fenced(json.dumps(call["arguments"], ensure_ascii=False, indent=2), "json")
    given = call["result"] or call["error"]
    if given:
        yield fenced(given)
    for inner in call.get("calls", ()):
        yield from _call(inner)


def fenced(text: str, language: str = "") -> str:
    """Return a code block that its content cannot close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _time(when: datetime) -> str:
    return when.strftime("%Y-%m-%d %H:%M UTC")
