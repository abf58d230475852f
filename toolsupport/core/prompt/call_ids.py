"""Assigns ids to the calls of a history in the form that the target requires."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from itertools import count
from types import MappingProxyType

from toolsupport.core.types import ToolCall

NINE = re.compile(r"[A-Za-z0-9]{9}")
MEANINGLESS = re.compile(r"[\w-]*", re.ASCII)


class CallIds:
    """Assigns an id to each call of one history: deterministic, and unique in that history."""

    def __init__(self, call_format: str = "") -> None:
        self._spell = SPELLINGS.get(call_format, _kept_or_nine)
        self._taken: set[str] = set()
        # The first attempt that was not made yet for an id: thousands of calls may have the same one.
        self._next: dict[str, int] = {}

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
    """Return nine letters and digits, which Mistral's API and its models' templates require on every server."""
    if not attempt and NINE.fullmatch(call.id):
        return call.id
    return hashlib.sha256(f"{call.id}{attempt or ''}".encode(errors="replace")).hexdigest()[:9]


def _kept_or_nine(call: ToolCall, number: int, attempt: int) -> str:
    """Keep an id that may have a meaning for its server (`functions.f:0`); replace others by nine characters."""
    means_something = not attempt and not MEANINGLESS.fullmatch(call.id)
    return call.id if means_something else _nine(call, number, attempt)


def _counted(call: ToolCall, number: int, attempt: int) -> str:
    """Return the name with the number of the call in the conversation, as Kimi's template requires."""
    return f"functions.{call.name}:{number + attempt}"


# Call format of a family → how it requires ids; all others take any.
SPELLINGS: Mapping[str, Callable[[ToolCall, int, int], str]] = MappingProxyType(
    {"kimi_k2": _counted, "mistral_args": _nine, "mistral_json": _nine, "mistral_name_json": _nine}
)
