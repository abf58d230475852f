"""Renders the canonical log of a conversation for the model that is asked next.

The log may hold anything: notices, calls without a result (somebody pressed Stop), results without a call, two
questions in a row, calls that another model made. What comes out holds to the strictest template we know of:

  one system message or none, first;
  never two user messages in a row, and two assistant messages only across results;
  native: the results follow their calls at once, one for each, in order, under ids that are unique in the request;
          an assistant message stands between a result and the next user message;
  none:   calls and results are told in words, and no message has a call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from toolsupport.core.words import Message, Role, ToolCall

INTERRUPTED = "No result: the call was interrupted before it was done."
BROKEN_OFF = "(The answer broke off here.)"
UNSPOKEN = (Role.SYSTEM, Role.NOTICE)


def history(messages: Sequence[Message], target: str) -> tuple[Message, ...]:
    """The log for a target of TARGETS: "native", or "none" for a model that gets no tools. Raises KeyError."""
    render = TARGETS[target]
    system = "\n\n".join(message.content for message in messages if message.role is Role.SYSTEM and message.content)
    spoken = [message for message in messages if message.role not in UNSPOKEN and not _says_nothing(message)]
    rendered = _joined(render(_paired(_with_fresh_thinking(spoken))))
    head = (Message(Role.SYSTEM, system),) if system else ()
    return (*head, *rendered)


def _with_fresh_thinking(messages: Sequence[Message]) -> list[Message]:
    """Reasoning belongs to the turn it was made in: what came before the latest question is left out."""
    users = [number for number, message in enumerate(messages) if message.role is Role.USER]
    latest = users[-1] if users else -1
    return [replace(message, thinking="") if number < latest else message for number, message in enumerate(messages)]


def _paired(messages: Sequence[Message]) -> Iterator[Message]:
    """Each call with exactly one result behind it, ids unique; a result that belongs to no call is left out."""
    taken: set[str] = set()
    for number, message in enumerate(messages):
        if message.role is Role.TOOL:
            continue
        results = _results(messages, number) if message.calls else {}
        calls = tuple(replace(call, id=_unique(call.id, taken)) for call in message.calls)
        yield replace(message, calls=calls)
        for asked, call in zip(message.calls, calls, strict=True):
            found = results.get(asked.id) or Message(Role.TOOL, INTERRUPTED)
            yield replace(found, call_id=call.id, name=call.name)


def _results(messages: Sequence[Message], number: int) -> dict[str, Message]:
    """The first result for each call of this message, before the next message that makes calls."""
    found: dict[str, Message] = {}
    for message in messages[number + 1 :]:
        if message.calls:
            break
        if message.role is Role.TOOL:
            found.setdefault(message.call_id, message)
    return found


def _unique(wanted: str, taken: set[str]) -> str:
    wanted = wanted or "call"
    unique, number = wanted, 2
    while unique in taken:
        unique, number = f"{wanted}_{number}", number + 1
    taken.add(unique)
    return unique


def _native(messages: Iterable[Message]) -> Iterator[Message]:
    last = None
    for message in messages:
        if last is Role.TOOL and message.role is Role.USER:
            yield Message(Role.ASSISTANT, BROKEN_OFF)
        last = message.role
        yield message


def _told(messages: Iterable[Message]) -> Iterator[Message]:
    for message in messages:
        if message.role is Role.TOOL:
            yield Message(Role.USER, f"Result of the tool {message.name}:\n{message.content}", images=message.images)
        else:
            told = [_call_in_words(call) for call in message.calls]
            content = "\n\n".join(part for part in (message.content, *told) if part)
            yield replace(message, content=content, calls=(), thinking="")


def _call_in_words(call: ToolCall) -> str:
    return f"I used the tool {call.name} with {json.dumps(call.arguments, ensure_ascii=False)}."


TARGETS: dict[str, Callable[[Iterable[Message]], Iterator[Message]]] = {"native": _native, "none": _told}


def _joined(messages: Iterable[Message]) -> list[Message]:
    """Neighbours of the same role become one message."""
    joined: list[Message] = []
    for message in messages:
        if joined and _may_join(joined[-1], message):
            joined[-1] = _join(joined[-1], message)
        else:
            joined.append(message)
    return joined


def _says_nothing(message: Message) -> bool:
    return message.role is Role.ASSISTANT and not message.calls and not message.content.strip()


def _may_join(one: Message, other: Message) -> bool:
    return one.role is other.role and one.role is not Role.TOOL and not one.calls


def _join(one: Message, other: Message) -> Message:
    content = "\n\n".join(part for part in (one.content, other.content) if part)
    thinking = "\n\n".join(part for part in (one.thinking, other.thinking) if part)
    return replace(other, content=content, thinking=thinking, images=one.images + other.images)
