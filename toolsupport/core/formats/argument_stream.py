"""Streams the arguments of a call while they are written, as JSON text that only grows into the final one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from toolsupport.core import json_repair
from toolsupport.core.call_building import ARGUMENT_KEYS, NAME_KEYS, ParsedCall, compact, typed
from toolsupport.core.coercion import properties, types
from toolsupport.core.events import CallRejected
from toolsupport.core.formats.premature_ends import NO_ENDS
from toolsupport.core.formats.reply_events import ReplyEvents
from toolsupport.core.scanner import MarkerSet
from toolsupport.core.tool_lookup import find_tool
from toolsupport.core.types import ToolCall, ToolSpec

TEXT = frozenset({"string"})
ENCODE = json.JSONEncoder(ensure_ascii=False).encode
NOT_AS_SHOWN = "The arguments cannot be read without a doubt. Write the call again."


class ArgumentStream:
    """The streamed arguments of one call. An uncertain value stops the streaming, never the call."""

    def __init__(self, reply: ReplyEvents, tools: Sequence[ToolSpec], name: str = "") -> None:
        self._reply = reply
        self._tools = tools
        self._sent: list[str] = []
        self._keys: set[str] = set()
        self._stopped = False
        self.id = self.wanted_id = ""
        self.named(name)

    def named(self, name: str) -> None:
        self.name = name
        self._spec = find_tool(name, self._tools) if name else None
        self._schemas = properties(self._spec.parameters) if self._spec else {}

    def stop(self) -> None:
        self._stopped = True

    def takes_text(self, key: str) -> bool:
        """Return True if a value can only be a string, so that it may be streamed."""
        return self._spec is not None and key in self._schemas and types(
            self._schemas[key], self._spec.parameters
        ) == TEXT  # fmt: skip

    def has(self, key: str) -> bool:
        """Return whether a value of this key was begun."""
        return key in self._keys

    def key(self, key: str) -> None:
        """Begin a value of this key; a second one of the same key is never streamed."""
        if key in self._keys:
            self.stop()
        self._send(f"{',' if self._keys else '{'}{ENCODE(key)}:")
        self._keys.add(key)

    def text_begins(self) -> None:
        self._send('"')

    def text(self, piece: str) -> None:
        self._send(ENCODE(piece)[1:-1])

    def text_ends(self) -> None:
        self._send('"')

    def value(self, key: str, value: Any) -> None:
        """Add a complete value that is not a streamed text."""
        self.key(key)
        self._send(compact(typed({key: value}, self._spec)[0][key]))

    def _send(self, text: str) -> None:
        if self._stopped or not text or not self.name:
            return
        if not self.id:
            self.id = self._reply.new_id(self.wanted_id)
        self._sent.append(text)
        self._reply.delta(self.id, self.name, text)

    def done(self, written: ParsedCall, raw: str, value_ends: MarkerSet = NO_ENDS) -> None:
        """Finish or reject the call. `value_ends`: marks that close a value that may hold any text."""
        if written.arguments is None:
            self.broken(written.why_not, raw, written.name)
            return
        whole, sent = compact(written.arguments), "".join(self._sent)
        if not whole.startswith(sent) or (self.id and written.name != self.name):
            self.broken(NOT_AS_SHOWN, raw, written.name)
            return
        self.id = self.id or self._reply.new_id(written.id or self.wanted_id)
        self._reply.delta(self.id, written.name, whole[len(sent) :])
        self._reply.ready(ToolCall(self.id, written.name, written.arguments, written.repairs), raw, value_ends)

    def broken(self, reason: str, raw: str, name: str = "") -> None:
        self._reply.rejected(CallRejected(name or self.name, reason + json_repair.hint(raw), raw, self.id))


class JsonArguments:
    """Observes a JSON walk and streams the arguments in it.

    With a name the object itself holds the arguments; without one it is {"name": …, "arguments": {…}}.
    """

    def __init__(self, stream: ArgumentStream) -> None:
        self.stream = stream
        self._level = 1 if stream.name else 2
        self._inside = False
        self._key: str | None = None
        self._pieces: list[str] = []
        self._showing = False
        self._open_quote = False
        self._text_ended = False
        self._off = False

    def mark(self, character: str, depth: int) -> None:
        if self._off:
            return
        if self._inside:
            self._mark_inside(character, depth)
        elif character == "{" and depth == self._level and (depth == 1 or self._holds_arguments()):
            self._inside, self._key, self._pieces = True, None, []
            self._off = not self.stream.name
        elif depth == 1:
            self._mark_around(character)

    def _holds_arguments(self) -> bool:
        """Return whether the object that begins as a member of the call holds its arguments."""
        return self._key in ARGUMENT_KEYS

    def _mark_around(self, character: str) -> None:
        if character == ":":
            self._key = "".join(self._pieces)
        elif self._key in NAME_KEYS and not self.stream.name and self._text_ended:
            self.stream.named(self._text("".join(self._pieces)).strip())
        self._pieces, self._text_ended = [], False

    def _mark_inside(self, character: str, depth: int) -> None:
        if depth < self._level:
            self._value_ends()
            self._off = True
        elif depth > self._level or character in "{[]}":
            self._part(character)
        elif character == ":" and self._key is None:
            self._key, self._pieces = self._text("".join(self._pieces)), []
        elif character == "," and self._key is not None:
            self._value_ends()
        else:
            self.strange()

    def string_began(self, depth: int) -> None:
        if self._off or depth > self._level or not self._inside:
            self._part('"' if depth > self._level and self._inside else "")
        elif self._key is None:
            self._pieces = []
        elif self._pieces or self._open_quote:
            self.strange()
        elif self.stream.takes_text(self._key):
            self._showing = True
            self.stream.key(self._key)
            self.stream.text_begins()
        else:
            self._part('"')

    def string(self, piece: str, depth: int) -> None:
        if self._showing:
            self.stream.text(self._text(piece))
        elif self._inside or depth == 1:
            self._part(piece)

    def string_ended(self, depth: int) -> None:
        if self._showing:
            self._showing, self._open_quote = False, True
        elif not self._inside:
            self._text_ended = depth == 1
        elif self._key is not None or depth > self._level:
            self._part('"')

    def bare(self, piece: str, depth: int) -> None:
        if self._open_quote:
            self.strange()
        self._part(piece if self._inside else "")

    def strange(self) -> None:
        self._off, self._showing = True, False
        self.stream.stop()

    def _part(self, piece: str) -> None:
        if not self._off and piece:
            self._pieces.append(piece)

    def _text(self, piece: str) -> str:
        if "\\" not in piece:
            return piece
        try:
            return str(json.loads(f'"{piece}"', strict=False))
        except ValueError:
            self.strange()
            return ""

    def _value_ends(self) -> None:
        if self._open_quote:
            self.stream.text_ends()
        elif self._key is not None:
            try:
                self.stream.value(self._key, json_repair.loads("".join(self._pieces)))
            except (ValueError, RecursionError):
                self.strange()
        self._key, self._pieces, self._open_quote = None, [], False


class KeyedArguments(JsonArguments):
    """The same, with the name of the call as the key of its arguments: {"get_weather": {"city": "Bonn"}}."""

    def _holds_arguments(self) -> bool:
        if self._key and not self.stream.name and self._key not in ARGUMENT_KEYS:
            self.stream.named(self._text(self._key))
            return bool(self.stream.name)
        return super()._holds_arguments()
