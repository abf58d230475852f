"""Assigns ids to the calls of a history in the form that the target requires."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from types import MappingProxyType

from toolsupport.core.types import ToolCall

NINE = re.compile(r"[A-Za-z0-9]{9}")


class CallIds:
    """Assigns an id to each call of one history: deterministic, and unique in that history."""

    def __init__(self, call_format: str = "") -> None:
        self._spell = SPELLINGS.get(call_format, _nine)
        self._taken: set[str] = set()
        # The first attempt that was not made yet for an id: thousands of calls may have the same one.
        self._next: dict[str, int] = {}

    def renamed(self, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """Return the calls of one message with their ids, also in what their model wrote about them."""
        own = [replace(call, id=self.of(call)) for call in calls]
        ids = {call.id: made.id for call, made in zip(calls, own, strict=True)}
        return tuple(replace(call, signature=call.signature.with_ids(ids)) if call.signature else call for call in own)

    def of(self, call: ToolCall) -> str:
        for attempt in count(self._next.get(call.id, 0)):
            found = self._spell(call, len(self._taken), attempt)
            if found not in self._taken:
                self._taken.add(found)
                if attempt:
                    self._next[call.id] = attempt + 1
                return found
        raise AssertionError("counting does not end")


def _nine(call: ToolCall, number: int, attempt: int) -> str:
    """Return nine letters and digits: Mistral's API and templates take no other id, and every other server takes these.

    Ids with dots and colons (`functions.f:0`) are refused by Anthropic's API, long ones by OpenAI's.
    """
    if not attempt and NINE.fullmatch(call.id):
        return call.id
    return hashlib.sha256(f"{call.id}{attempt or ''}".encode(errors="replace")).hexdigest()[:9]


def _counted(call: ToolCall, number: int, attempt: int) -> str:
    """Return the name with the number of the call in the conversation, as Kimi's template requires."""
    return f"functions.{call.name}:{number + attempt}"


# Call format of a family → how it requires ids.
SPELLINGS: Mapping[str, Callable[[ToolCall, int, int], str]] = MappingProxyType({"kimi_k2": _counted})
