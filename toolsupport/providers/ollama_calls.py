"""Collects the calls of Ollama's native protocol.

On this wire a call comes whole, and `index` is 0 for every call with many models: adding up by index would melt two
calls into one. So each element that has a name is a call of its own. Only an element without a name continues one:
the newest call of its index that is still open. A call is open while its arguments are text that is not yet a JSON
object; a call that is whole is ready at once, unless an earlier one is still open: the order of the stream is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from toolsupport.core import exact_json, json_repair
from toolsupport.core.events import CallReady, CallRejected, Event, ended_early
from toolsupport.core.formats.cut_replies import CUT
from toolsupport.core.types import JSON, ToolCall

NAMELESS = "A call without a name cannot be run. Name one of the offered tools."
NO_OBJECT = "The arguments must be one JSON object. Call again with valid JSON."


@dataclass(slots=True)
class _OllamaDraft:
    id: str
    name: str
    index: Any
    arguments: Any = None
    text: str = ""

    @property
    def whole(self) -> bool:
        return self.arguments is not None


class NativeCalls:
    """Converts elements of `tool_calls` into events of complete calls."""

    def __init__(self) -> None:
        self._drafts: list[_OllamaDraft] = []
        self._ids: set[str] = set()
        self._count = 0

    def feed(self, elements: Any) -> list[Event]:
        """Return the calls that are now complete. Raises ValueError unless `elements` is a list of objects."""
        if not isinstance(elements, list):
            raise ValueError("tool_calls is not a list")
        for element in elements:
            self._take(element)
        ready = 0
        while ready < len(self._drafts) and self._drafts[ready].whole:
            ready += 1
        return self._release(ready)

    def flush(self, finish: str = "stop") -> list[Event]:
        """Return the remaining calls, after the reply ended for the reason `finish`."""
        cut = self._drafts.pop() if ended_early(finish) and self._drafts and not self._drafts[-1].whole else None
        last = [CallRejected(cut.name, CUT, cut.text, cut.id, fault="cut")] if cut else []
        return [*self._release(len(self._drafts)), *last]

    def _take(self, element: Any) -> None:
        function = element.get("function") if isinstance(element, Mapping) else None
        if not isinstance(function, Mapping):
            raise ValueError("a tool call has no function")
        name, index, arguments = function.get("name"), function.get("index"), function.get("arguments")
        draft = None if name else self._open(index, arguments)
        if draft is None and (name or arguments):
            draft = _OllamaDraft(self._new_id(element.get("id")), str(name or ""), index)
            self._drafts.append(draft)
        if draft is not None:
            _add_arguments(draft, arguments)

    def _open(self, index: Any, arguments: Any) -> _OllamaDraft | None:
        """Return the call that an element without a name continues; only text can continue text."""
        fitting = (draft for draft in reversed(self._drafts) if not draft.whole and index in (None, draft.index))
        draft = next(fitting, None)
        return None if draft and draft.text and isinstance(arguments, dict) else draft

    def _new_id(self, given: Any) -> str:
        wanted = given if isinstance(given, str) and given else f"call_{self._count}"
        self._count += 1
        unique, number = wanted, 2
        while unique in self._ids:
            unique, number = f"{wanted}_{number}", number + 1
        self._ids.add(unique)
        return unique

    def _release(self, count: int) -> list[Event]:
        released, self._drafts = self._drafts[:count], self._drafts[count:]
        return [_event(draft) for draft in released]


def _add_arguments(draft: _OllamaDraft, given: Any) -> None:
    if isinstance(given, str):
        draft.text += given
        draft.arguments = _object(draft.text)
    elif given is not None:
        draft.arguments = given


def _object(text: str) -> JSON | None:
    try:
        value = exact_json.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _repaired(text: str) -> tuple[JSON | None, tuple[str, ...]]:
    return json_repair.whole_object(text) if text.strip() else ({}, ())


def _event(draft: _OllamaDraft) -> Event:
    raw = draft.text or _dump(draft.arguments)
    if not draft.name:
        return CallRejected("", NAMELESS, raw, draft.id)
    arguments, repairs = (draft.arguments, ()) if draft.whole else _repaired(draft.text)
    if isinstance(arguments, dict):
        return CallReady(ToolCall(draft.id, draft.name, arguments, repairs), raw)
    return CallRejected(draft.name, NO_OBJECT + json_repair.hint(raw), raw, draft.id, arguments=raw)


def _dump(arguments: Any) -> str:
    return "" if arguments is None else orjson.dumps(arguments).decode()
