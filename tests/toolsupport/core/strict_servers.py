"""Requirements of real servers and of real templates for a history; each check fails with the fault.

The rules are those of Mistral's API and its tokenizer, of Anthropic's and OpenAI's APIs, of llama-server, and of chat
templates that raise an exception: Llama 3 (one call in a message), Gemma and Llama 2 (roles alternate), Kimi K2 (ids
with the name).
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from toolsupport.core.types import ChatMessage, Role

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
NINE = re.compile(r"[A-Za-z0-9]{9}")
ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
AFTER = {  # Mistral: who may follow whom
    Role.USER: {Role.ASSISTANT},
    Role.ASSISTANT: {Role.USER, Role.TOOL},
    Role.TOOL: {Role.TOOL, Role.ASSISTANT},
}


def any_server(history: Sequence[ChatMessage]) -> None:
    """System first and once, then a user; nobody says nothing; no notice."""
    roles = [message.role for message in history]
    assert Role.NOTICE not in roles
    assert Role.SYSTEM not in roles[1:]
    spoken = [message for message in history if message.role is not Role.SYSTEM]
    assert spoken and spoken[0].role is Role.USER
    for message in history:
        assert message.role is Role.TOOL or message.calls or message.images or message.content.strip()
        assert not message.calls or message.role is Role.ASSISTANT


def openai(history: Sequence[ChatMessage]) -> None:
    """Each call is answered at once and exactly once, names are of its letters, ids never repeat."""
    any_server(history)
    open_ids: list[str] = []
    seen: set[str] = set()
    for message in history:
        if message.role is Role.TOOL:
            assert message.call_id in open_ids
            open_ids.remove(message.call_id)
            continue
        assert not open_ids, "calls without a result"
        open_ids = [call.id for call in message.calls]
        assert all(NAME.fullmatch(call.name) for call in message.calls)
        assert len(set(open_ids)) == len(open_ids) and seen.isdisjoint(open_ids) and all(open_ids)
        seen.update(open_ids)
    assert not open_ids, "calls without a result"


def openai_images(history: Sequence[ChatMessage]) -> None:
    """Images are in messages of people only."""
    assert not any(message.images for message in history if message.role is not Role.USER)


def anthropic(history: Sequence[ChatMessage]) -> None:
    """Ids of letters, digits, `_` and `-`, and no longer than OpenAI's servers take them."""
    openai(history)
    assert all(ID.fullmatch(call.id) for message in history for call in message.calls)


def in_order(history: Sequence[ChatMessage]) -> None:
    """The order of roles, and as many results as calls."""
    openai(history)
    spoken = [message for message in history if message.role is not Role.SYSTEM]
    for one, other in pairwise(spoken):
        assert other.role in AFTER[one.role], f"{other.role} after {one.role}"


def mistral(history: Sequence[ChatMessage]) -> None:
    """The order of roles, and ids of nine letters and digits."""
    in_order(history)
    assert all(NINE.fullmatch(call.id) for message in history for call in message.calls)


def llama3(history: Sequence[ChatMessage]) -> None:
    """Its template raises an exception for two calls in one message."""
    anthropic(history)
    assert all(len(message.calls) <= 1 for message in history)


def kimi(history: Sequence[ChatMessage]) -> None:
    """Ids hold the name and the number of the call in the conversation."""
    openai(history)
    calls = [call for message in history for call in message.calls]
    assert [call.id for call in calls] == [f"functions.{call.name}:{number}" for number, call in enumerate(calls)]


def alternating(history: Sequence[ChatMessage]) -> None:
    """User and assistant take turns, and there is no other role: what is left where no field knows of tools."""
    any_server(history)
    spoken = [message.role for message in history if message.role is not Role.SYSTEM]
    assert spoken == [(Role.USER, Role.ASSISTANT)[number % 2] for number in range(len(spoken))]
    assert not any(message.calls or message.call_id for message in history)


# Call format of a family → what its strictest server checks; `anthropic` is for all the others.
NATIVE: Mapping[str, Callable[[Sequence[ChatMessage]], None]] = {
    "mistral_json": mistral,
    "mistral_args": mistral,
    "llama3_json": llama3,
    "kimi_k2": kimi,
    "hermes": anthropic,
    "": anthropic,
}


def refusal(history: Sequence[ChatMessage], check: Callable[[Sequence[ChatMessage]], None]) -> str:
    """What a server would refuse, as the line of its check that fails; "" where it takes the history."""
    try:
        check(history)
    except AssertionError as refused:
        return str(traceback.extract_tb(refused.__traceback__)[-1].line)
    return ""
