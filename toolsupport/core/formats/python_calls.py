"""Reads one call as Python writes it, `name(a=1, b="x")`, while its text is still arriving."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolsupport.core.call_building import compact
from toolsupport.core.coercion import coerce, properties, types
from toolsupport.core.formats.lookahead import peek
from toolsupport.core.formats.python_literals import LiteralReader
from toolsupport.core.formats.python_strings import Sink, UnreadableString
from toolsupport.core.scanner import Steps, TextSource
from toolsupport.core.types import JSON, ToolSpec

Put = Callable[[str], None]


class ArgumentWriter:
    """Emits the JSON of arguments piece by piece; the emitted text is always a prefix of the whole."""

    def __init__(self, put: Put) -> None:
        self._put = put
        self._before = "{"

    def begin_text(self, key: str) -> Sink:
        """Return the sink for the pieces of a string that is still being written."""
        self._put(f'{self._key(key)}"')
        return lambda piece: self._put(compact(piece)[1:-1])

    def end_text(self) -> None:
        self._put('"')

    def add(self, key: str, value: Any) -> None:
        self._put(self._key(key) + compact(value))

    def end(self) -> None:
        self._put("{}" if self._before == "{" else "}")

    def _key(self, key: str) -> str:
        before, self._before = self._before, ","
        return f"{before}{compact(key)}:"


class CallReader(LiteralReader):
    """Reads arguments up to and with the closing bracket, in the types of the schema of `spec`."""

    def __init__(self, source: TextSource, spec: ToolSpec | None, put: Put) -> None:
        super().__init__(source)
        self.arguments: JSON = {}
        self._schema: JSON = spec.parameters if spec else {}
        self._properties = properties(self._schema)
        self._positions = list(self._properties)
        self._placed = 0
        self._writer = ArgumentWriter(put)
        self.closers = [")"]

    def read(self) -> Steps[JSON]:
        """Return the arguments; the opening bracket was consumed before. Raises Broken."""
        while not (yield from self._call_closed()):
            yield from self._argument()
            yield from self._separator()
        self._writer.end()
        return self.arguments

    def _call_closed(self) -> Steps[bool]:
        yield from self.spaces()
        head = yield from peek(self.source)
        if not head:
            return self._closed_by_the_end()
        if head == ")":
            self.skip(1)
        return head == ")"

    def _closed_by_the_end(self) -> bool:
        """Return whether only the bracket is missing: the reply ends after a closed value."""
        if not self.arguments or not isinstance(list(self.arguments.values())[-1], str | dict | list):
            raise UnreadableString("the call is incomplete")
        if self.dirty:
            raise UnreadableString("the call is incomplete, and a quote in a text is not escaped")
        self.mended("closed the call at the end of the reply")
        return True

    def _argument(self) -> Steps[None]:
        stars = (yield from peek(self.source, 2)) if (yield from peek(self.source)) == "*" else ""
        if stars:
            yield from self._spread(stars)
            return
        key = yield from self.key()
        if key:
            yield from self._named(key)
        elif (yield from peek(self.source)) == "{":
            self._place((yield from self.value()))
        else:
            yield from self._named(self._next_position(), positional=True)

    def _named(self, key: str, *, positional: bool = False) -> Steps[None]:
        if key in self.arguments:
            raise UnreadableString(f"{key} is given twice")
        yield from self.spaces()
        if self._is_text(key) and (yield from self.opens_string()):
            self.arguments[key] = yield from self.strings(self._writer.begin_text(key))
            self._writer.end_text()
        else:
            self._keep(key, (yield from self.value(bare=self.listed and not positional)))

    def _is_text(self, key: str) -> bool:
        """Return True if a string is used unchanged, so that it may be streamed."""
        return key not in self._properties or types(self._properties[key], self._schema) == {"string"}

    def _keep(self, key: str, value: Any) -> None:
        if key in self.arguments:
            raise UnreadableString(f"{key} is given twice")
        fitting = coerce(value, self._properties[key], self._schema) if key in self._properties else value
        if compact(fitting) != compact(value):
            self.mended(f"gave {key} the type of the schema")
        self.arguments[key] = fitting
        self._writer.add(key, fitting)

    def _spread(self, stars: str) -> Steps[None]:
        """Read `**{…}` as named arguments, `*[…]` as positional ones."""
        named = stars == "**"
        self.skip(2 if named else 1)
        value = yield from self.value()
        if named and isinstance(value, dict):
            for key, one in value.items():
                self._keep(key, one)
        elif not named and isinstance(value, list):
            for one in value:
                self._keep(self._next_position(), one)
        else:
            raise UnreadableString(f"{stars} precedes a value that cannot be spread")

    def _place(self, value: Any) -> None:
        """Use a dict without a name as all arguments if its members are parameters."""
        if isinstance(value, dict) and value and set(value) <= set(self._properties) and not self.arguments:
            self.mended("used one object as the arguments")
            for key, one in value.items():
                self._keep(key, one)
        else:
            self._keep(self._next_position(), value)

    def _next_position(self) -> str:
        if self._placed >= len(self._positions):
            raise UnreadableString("an argument has no name, and the schema has no parameter for its place")
        self._placed += 1
        self.mended("named the arguments that had no name, in the order of the schema")
        return self._positions[self._placed - 1]

    def _separator(self) -> Steps[None]:
        yield from self.spaces()
        head = yield from peek(self.source)
        if head == ",":
            self.skip(1)
        elif head and head != ")":
            raise UnreadableString(f"a comma is missing before {head}")
