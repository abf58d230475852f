"""Collects the calls of the OpenAI protocol, which arrive in pieces.

A call begins with its name, its arguments follow as pieces of JSON text under the same `index`. Servers differ: the id
and the name may stand in every piece (llama-cpp-python), be empty or null in later ones, come without an index, or all
under index 0. Some send one object instead of a list; proxies of Anthropic's protocol, such as LiteLLM's, put an empty
object before the arguments. So a piece that has a name begins a new call only where it cannot belong to the one before:
another name, or arguments that are whole already. Xinference gives all calls of a reply one id, so an equal id decides
nothing else. Some servers send the arguments again: whole at the end, or all so far in each piece. Only the end of the
reply ends a call. Arguments that are no JSON are repaired as in a text format, if their end is there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import orjson

from toolsupport.core import exact_json, json_repair
from toolsupport.core.events import CallDelta, CallReady, CallRejected, Event, ended_early
from toolsupport.core.formats import glm
from toolsupport.core.formats.cut_replies import CUT
from toolsupport.core.types import JSON, Signature, ToolCall, is_json_object

NAMELESS = "A call without a name cannot be run. Name one of the offered tools."
NO_OBJECT = "The arguments must be one JSON object. Call again with valid JSON."
FROM_NAME = "read the arguments from the name"
FROM_TEXT = "read the arguments from a text"
SENT_AGAIN = "read arguments once that were sent again"
NOTHING = ("", "null", "[]")
BLANK = re.compile(r"\s*")
# The first character of arguments → the last one. Few pieces end so: only these are worth reading the whole.
ENDINGS = {"{": "}", '"': '"', "n": "l"}
ENDS = tuple(ENDINGS.values())
MOST_LOOKS = 200
NO_ONES = Signature("")
PAIRS = "<arg_key>"


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
    size: int = 0
    held: bool = False
    looks: int = 0

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def is_whole(self) -> bool:
        """Return whether the pieces so far are arguments. Each look reads all of them, so their number is limited."""
        if not self.pieces or not self.pieces[-1].rstrip().endswith(ENDS) or not self.may_look():
            return False
        text = self.text.strip()
        closing = ENDINGS.get(text[:1])
        return closing is not None and text.endswith(closing) and _arguments(text)[0] is not None

    def pending_events(self) -> list[Event]:
        """The pieces not emitted yet; they wait for the name, and an empty object for what may replace it.

        Those that may repeat earlier ones wait for the end: what was passed on cannot be undone.

        The place where a call begins decides whether it was meant, so that is emitted at once.
        """
        if not self.name:
            return []
        if self.placeholder or self.held:
            begins, self.begun = not self.begun, True
            return [CallDelta(self.id, self.name, "")] if begins else []
        fresh, self.stated = self.pieces[self.stated :], len(self.pieces)
        self.begun = self.begun or bool(fresh)
        return [CallDelta(self.id, self.name, piece) for piece in fresh]

    def may_look(self) -> bool:
        self.looks += 1
        return self.looks <= MOST_LOOKS

    @property
    def placeholder(self) -> bool:
        return len(self.pieces) == 1 and self.pieces[0].strip() == "{}"

    def add(self, arguments: str) -> None:
        if arguments.lstrip().startswith("{"):
            if self.placeholder:
                self.pieces.clear()
                self.size = 0
            self.held = self.held or self._may_repeat(arguments)
        self.pieces.append(arguments)
        self.size += len(arguments)

    def _may_repeat(self, arguments: str) -> bool:
        so_far = bool(self.pieces) and len(arguments) >= self.size and arguments.startswith(self.text)
        return so_far or self.is_whole()

    def read(self) -> _ReadArguments:
        arguments, repairs = _arguments(self.text)
        if arguments is None and (again := _sent_again(self.pieces)):
            return _ReadArguments(again, _arguments(again)[0], (SENT_AGAIN,))
        if arguments is None:
            arguments, repairs = json_repair.whole_object(self.text)
        return _ReadArguments(self.text, arguments, repairs)

    def last_events(self, text: str) -> list[Event]:
        """The part of the text of a call with a name that was not emitted yet."""
        rest = text[sum(map(len, self.pieces[: self.stated])) :]
        return [CallDelta(self.id, self.name, rest)] if self.name and rest else []


@dataclass(frozen=True, slots=True)
class _ReadArguments:
    """The text of a call that counts, and the object in it, None if it holds none."""

    text: str
    arguments: JSON | None
    repairs: tuple[str, ...] = ()


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

    def flush(self, finish: str, signature: Signature = NO_ONES, blocks: Sequence[JSON] = ()) -> list[Event]:
        """Return every call, after the reply ended for the reason `finish`, the first one with `blocks`.

        `signature` is that of its model, without content.
        """
        drafts, self._drafts = self._drafts, []
        texts = [(draft, draft.read()) for draft in drafts]
        signed = bool(blocks) or any(draft.signature for draft in drafts)
        events = [event for draft, read in texts for event in draft.last_events(read.text)]
        for draft, read in texts:
            own = replace(signature, text=draft.signature, blocks=tuple(blocks) if draft is drafts[0] else ())
            cut = ended_early(finish) and draft is drafts[-1]
            events.append(_event(draft, read, own if signed else None, cut=cut))
        return events

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
        same = next((draft for draft in reversed(near) if piece.id and draft.given_id == piece.id), None)
        if same is not None or not near:
            return None if same is None or _is_another(piece, same) else same
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
    return (other_id or bool(piece.arguments)) and newest.is_whole()


def _is_another(piece: _CallPiece, draft: _OpenAIDraft) -> bool:
    """Return whether a piece with the id of this call begins another one: of another tool, or after its end.

    The arguments of a call that is whole, or their beginning, are no other call: some servers send them again.
    """
    if piece.name and draft.name not in ("", piece.name):
        return True
    given = piece.arguments.strip()
    ended = bool(draft.pieces) and draft.pieces[-1].rstrip().endswith("}")
    if not (piece.name and given.startswith("{") and ended and draft.may_look()):
        return False
    read = draft.read()
    if draft.placeholder or read.arguments is None or read.text.strip().startswith(given):
        return False
    return not _are_equal(_value(given), read.arguments)


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


def _event(draft: _OpenAIDraft, read: _ReadArguments, signature: Signature | None, *, cut: bool) -> Event:
    """Return the call. If the reply was `cut`, the last call may have no arguments yet."""
    raw, arguments = read.text, read.arguments
    if cut and raw.strip() in NOTHING:
        arguments = None
    if cut and arguments is None:
        return CallRejected(draft.name, CUT, raw, draft.id, fault="cut")
    if not draft.name:
        return CallRejected("", NAMELESS, raw, draft.id)
    if not arguments and PAIRS in draft.name:
        return _in_its_name(draft, raw, signature)
    if arguments is None:
        return CallRejected(draft.name, NO_OBJECT + json_repair.hint(raw), raw, draft.id, arguments=raw)
    return CallReady(ToolCall(draft.id, draft.name, arguments, read.repairs, signature), raw)


def _in_its_name(draft: _OpenAIDraft, raw: str, signature: Signature | None) -> Event:
    """Return a call that the server left in the name, in the pairs of tags that GLM writes."""
    reader = glm.FORMATS[0].parser(())
    made = [one for one in (*reader.feed(f"{glm.MARK}{draft.name}"), *reader.flush()) if isinstance(one, CallReady)]
    if len(made) != 1 or not made[0].call.arguments:
        return CallRejected(draft.name[:200], NO_OBJECT, raw, draft.id)
    call = made[0].call
    return CallReady(ToolCall(draft.id, call.name, call.arguments, (FROM_NAME, *call.repairs), signature), raw)


def _arguments(text: str) -> tuple[JSON | None, tuple[str, ...]]:
    """Return the object that a text of arguments holds, None if it holds none, with the repairs.

    Groq writes null for no arguments, servers in PHP an empty list; the parsers of some servers write the object as
    JSON twice.
    """
    if text.strip() in NOTHING:
        return {}, ()
    value = _value(text)
    if is_json_object(value):
        return value, ()
    inside = _value(value) if isinstance(value, str) else None
    return (inside, (FROM_TEXT,)) if is_json_object(inside) else (None, ())


def _sent_again(pieces: Sequence[str]) -> str:
    """Return the arguments that pieces hold more than once, "" if they do not.

    Either each piece has all arguments so far, or one object follows another with the same content.
    """
    written = [piece for piece in pieces if piece.strip()]
    growing = all(later.startswith(earlier) for earlier, later in pairwise(written))
    if growing and is_json_object(_value(written[-1])):
        return written[-1]
    text, ends, decoder = "".join(pieces).rstrip(), [0], json.JSONDecoder()
    try:
        while ends[-1] < len(text):
            behind = decoder.raw_decode(text, ends[-1])[1]
            ends.append(BLANK.match(text, behind).end())  # type: ignore[union-attr]  # matches everywhere
    except (ValueError, RecursionError):
        return ""
    first, *others = [_value(text[begin:end]) for begin, end in pairwise(ends)]
    return text[: ends[1]] if is_json_object(first) and all(_are_equal(first, other) for other in others) else ""


def _are_equal(one: Any, other: Any) -> bool:
    """Return whether two values are the same JSON: Python takes true for 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _value(text: str) -> Any:
    try:
        return exact_json.loads(text)
    except orjson.JSONDecodeError:
        return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
