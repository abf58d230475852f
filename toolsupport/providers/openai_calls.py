"""Collects the calls of the OpenAI protocol, which arrive in pieces.

A call begins with its name, its arguments follow as pieces of JSON text under the same `index`. Servers differ: the id
and the name may stand in every piece (llama-cpp-python), be empty or null in later ones, come without an index, or all
under index 0. Some send one object instead of a list; proxies of Anthropic's protocol, such as LiteLLM's, put an empty
object before the arguments. So a piece that has a name begins a new call only where it cannot belong to the one before:
another name, or arguments that are whole already. Only the end of the reply ends a call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from toolsupport.core.events import CallDelta, CallReady, CallRejected, Event, ended_early
from toolsupport.core.formats.cut_replies import CUT
from toolsupport.core.types import JSON, ToolCall, is_json_object

NAMELESS = "A call without a name cannot be run. Name one of the offered tools."
NO_OBJECT = "The arguments must be one JSON object. Call again with valid JSON."
FROM_TEXT = "read the arguments from a text"
NOTHING = "null"
# The first character of arguments → the last one. Few pieces end so: only these are worth reading the whole.
ENDINGS = {"{": "}", '"': '"', "n": "l"}
ENDS = tuple(ENDINGS.values())


@dataclass(slots=True)
class _OpenAIDraft:
    id: str
    given_id: str
    index: Any
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    stated: int = 0
    begun: bool = False
    signature: str = ""

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def whole(self) -> bool:
        if not self.pieces or not self.pieces[-1].rstrip().endswith(ENDS):
            return False
        text = self.text.strip()
        closing = ENDINGS.get(text[:1])
        return closing is not None and text.endswith(closing) and _arguments(text)[0] is not None

    def pending_events(self) -> list[Event]:
        """The pieces not emitted yet; they wait for the name, and an empty object for what may replace it.

        The place where a call begins decides whether it was meant, so that is emitted at once.
        """
        if not self.placeholder:
            return self.last_events()
        begins, self.begun = bool(self.name) and not self.begun, True
        return [CallDelta(self.id, self.name, "")] if begins else []

    @property
    def placeholder(self) -> bool:
        return len(self.pieces) == 1 and self.pieces[0].strip() == "{}"

    def add(self, arguments: str) -> None:
        if self.placeholder and arguments.lstrip().startswith("{"):
            self.pieces.clear()
        self.pieces.append(arguments)

    def last_events(self) -> list[Event]:
        """The pieces not emitted yet, of a call with a name."""
        if not self.name:
            return []
        fresh, self.stated = self.pieces[self.stated :], len(self.pieces)
        return [CallDelta(self.id, self.name, piece) for piece in fresh]


@dataclass(frozen=True, slots=True)
class _CallPiece:
    """One element of `tool_calls`, with "" for null or missing fields."""

    id: str
    index: Any
    name: str
    arguments: str
    signature: str


class PiecedCalls:
    """Converts elements of `tool_calls` into pieces of arguments, and at the end one event for each call."""

    def __init__(self) -> None:
        self._drafts: list[_OpenAIDraft] = []
        self._ids: set[str] = set()

    def feed(self, elements: Any) -> list[Event]:
        """Return the events of these elements. Raises ValueError unless they are a list of calls."""
        if isinstance(elements, Mapping):
            elements = [elements]
        if not isinstance(elements, list):
            raise ValueError("tool_calls is not a list")
        events: list[Event] = []
        for element in elements:
            events += self._take(_piece(element))
        return events

    def flush(self, finish: str) -> list[Event]:
        """Return every call, after the reply ended for the reason `finish`."""
        drafts, self._drafts = self._drafts, []
        pending = [event for draft in drafts for event in draft.last_events()]
        return pending + [_event(draft, cut=ended_early(finish) and draft is drafts[-1]) for draft in drafts]

    def _take(self, piece: _CallPiece) -> list[Event]:
        draft = self._belongs_to(piece)
        if draft is None:
            if not (piece.name or piece.id or piece.arguments):
                return []
            draft = _OpenAIDraft(self._new_id(piece.id), piece.id, piece.index)
            self._drafts.append(draft)
        draft.name, draft.signature = draft.name or piece.name, piece.signature or draft.signature
        if piece.arguments:
            draft.add(piece.arguments)
        return draft.pending_events()

    def _belongs_to(self, piece: _CallPiece) -> _OpenAIDraft | None:
        """Return the call that this piece continues; None if it begins one."""
        near = [draft for draft in self._drafts if piece.index is None or draft.index in (None, piece.index)]
        same = next((draft for draft in near if piece.id and draft.given_id == piece.id), None)
        if same is not None or not near:
            return same
        return None if _begins(piece, near[-1]) else near[-1]

    def _new_id(self, given: str) -> str:
        wanted = given or f"call_{len(self._drafts)}"
        unique, number = wanted, 2
        while unique in self._ids:
            unique, number = f"{wanted}_{number}", number + 1
        self._ids.add(unique)
        return unique


def _begins(piece: _CallPiece, newest: _OpenAIDraft) -> bool:
    if not piece.name:
        return False
    other_id = bool(piece.id) and piece.id != newest.given_id
    if newest.name not in ("", piece.name) or (other_id and piece.index is None):
        return True
    return (other_id or bool(piece.arguments)) and newest.whole


def _piece(element: Any) -> _CallPiece:
    if not isinstance(element, Mapping):
        raise ValueError("a tool call is not an object")
    function = element.get("function") or {}
    if not isinstance(function, Mapping):
        raise ValueError("the function of a tool call is not an object")
    arguments = function.get("arguments")
    if arguments is not None and not isinstance(arguments, str):
        arguments = orjson.dumps(arguments).decode()
    name, signature = _text(function.get("name")), _signature(element.get("extra_content"))
    return _CallPiece(_text(element.get("id")), element.get("index"), name, arguments or "", signature)


def _signature(extra: Any) -> str:
    """Return Google's signature of the thoughts before a call, which stands on the first one of a reply."""
    of_google = extra.get("google") if isinstance(extra, Mapping) else None
    return _text(of_google.get("thought_signature")) if isinstance(of_google, Mapping) else ""


def _event(draft: _OpenAIDraft, *, cut: bool) -> Event:
    """Return the call. If the reply was `cut`, the last call may have no arguments yet."""
    raw = draft.text
    arguments, repairs = _arguments(raw)
    if cut and raw.strip() in ("", NOTHING):
        arguments = None
    if cut and arguments is None:
        return CallRejected(draft.name, CUT, raw, draft.id, fault="cut")
    if not draft.name:
        return CallRejected("", NAMELESS, raw, draft.id)
    if arguments is None:
        return CallRejected(draft.name, NO_OBJECT, raw, draft.id)
    return CallReady(ToolCall(draft.id, draft.name, arguments, repairs, draft.signature), raw)


def _arguments(text: str) -> tuple[JSON | None, tuple[str, ...]]:
    """Return the object that a text of arguments holds, None if it holds none, with the repairs.

    Groq writes null for no arguments; the parsers of some servers write the object as JSON twice.
    """
    if text.strip() in ("", NOTHING):
        return {}, ()
    value = _value(text)
    if is_json_object(value):
        return value, ()
    inside = _value(value) if isinstance(value, str) else None
    return (inside, (FROM_TEXT,)) if is_json_object(inside) else (None, ())


def _value(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
