"""Reads Python and JSON literals out of text that is still arriving, without evaluating anything."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from toolsupport.core.formats.lookahead import match, peek
from toolsupport.core.formats.python_strings import Sink, StringReader, UnreadableString
from toolsupport.core.scanner import SPACE, Steps

DEEPEST = 64
LONGEST_NUMBER = 300
WORDS = {"True": True, "true": True, "False": False, "false": False, "None": None, "null": None}
ODD_WORDS = {"TRUE": True, "FALSE": False, "NULL": None, "undefined": None, "nil": None}
BUILDERS = ("dict", "list", "tuple", "set")
CLOSER = {"[": "]", "{": "}", "(": ")"}

WORD = re.compile(r"[^\s,()\[\]{}'\"=:;]*")
# Python before 3.11.5 counts a half pass of a possessive group into its match, so a pass begins only where it ends.
INTEGER = re.compile(r"[+-]?\d++(?:(?=_\d)_\d++)*+")
HEXADECIMAL = re.compile(r"[+-]?0[xX][0-9a-fA-F]+")
FLOAT = re.compile(r"[+-]?(?:\d[\d_]*+(?:\.[\d_]*+)?|\.\d++)(?:[eE][+-]?\d+)?")
REST_OF_LINE = re.compile(r"[^,()\[\]{}\n]*")
# Words, a date or a time without the required quotes; no sum, no number.
BARE_TEXT = re.compile(r"(?!(?:nan|inf|infinity)$)(?:[^\W\d_][^*+=%<>]*|\d+[-:/]\d[\d:/.-]*)", re.IGNORECASE)
KEY = re.compile(r"(?P<quote>[\"']?)(?P<name>[A-Za-z_][\w.-]{0,127})(?P=quote)\s{0,32}[=:]")
KEY_BEGUN = re.compile(r"[\"']?(?:[A-Za-z_][\w.-]{0,127})?[\"']?\s{0,32}")


class LiteralReader(StringReader):
    """Reads values, one at a time. `closers` is the stack of open brackets, innermost last."""

    def spaces(self) -> Steps[str]:
        return self.source.through(SPACE)

    def value(self, sink: Sink | None = None, *, bare: bool = False) -> Steps[Any]:
        """Read one literal; `sink` gets the pieces of a string as it arrives, `bare` allows text without quotes."""
        yield from self.spaces()
        if (yield from self.opens_string()):
            return (yield from self.strings(sink))
        head = yield from peek(self.source)
        if head in CLOSER:
            return (yield from self._collection(head))
        return (yield from self._word(bare=bare))

    def key(self) -> Steps[str]:
        """Read and return the name before `=` or `:`; "" if there is none."""
        found = yield from match(self.source, KEY, KEY_BEGUN)
        if found is None:
            return ""
        self.source.take(found.end())
        return found["name"]

    def _collection(self, opener: str) -> Steps[Any]:
        if len(self.closers) >= DEEPEST:
            raise UnreadableString(f"values are nested deeper than {DEEPEST}")
        self.skip(1)
        self.closers.append(CLOSER[opener])
        read = self._mapping if opener == "{" else self._items
        value = yield from read()
        self.closers.pop()
        return value

    def _items(self) -> Steps[Any]:
        items: list[Any] = []
        commas = 0
        while not (yield from self._closed()):
            items.append((yield from self.value()))
            commas += yield from self._comma()
        return items[0] if self.closers[-1] == ")" and len(items) == 1 and not commas else items

    def _mapping(self) -> Steps[Any]:
        """Read a dict; without colons a set, which becomes a list in JSON."""
        pairs: dict[str, Any] = {}
        items: list[Any] = []
        while not (yield from self._closed()):
            name = yield from self._member_name()
            yield from self.spaces()
            if (yield from peek(self.source)) in (":", "="):
                self.skip(1)
                pairs[_as_key(name)] = yield from self.value()
            else:
                items.append(name)
            yield from self._comma()
        if pairs and items:
            raise UnreadableString("a dict has a member without a value")
        return items or pairs

    def _member_name(self) -> Steps[Any]:
        if (yield from self.opens_string()) or (yield from peek(self.source)) in CLOSER:
            return (yield from self.value())
        word = yield from self.source.through(WORD)
        if not word.isidentifier() or word in WORDS:
            return self._plain(word)
        self.mended("put quotes around a name")
        return word

    def _closed(self) -> Steps[bool]:
        """Consume the closer of the innermost bracket; return True if it is here."""
        yield from self.spaces()
        head = yield from peek(self.source)
        if not head:
            raise UnreadableString("the text ends inside brackets")
        if head != self.closers[-1]:
            return False
        self.skip(1)
        return True

    def _comma(self) -> Steps[int]:
        yield from self.spaces()
        head = yield from peek(self.source)
        if head == ",":
            self.skip(1)
            return 1
        if head and head != self.closers[-1]:
            raise UnreadableString(f"a comma or {self.closers[-1]} is missing before {head}")
        return 0

    def _word(self, *, bare: bool) -> Steps[Any]:
        word = yield from self.source.through(WORD)
        if word in BUILDERS and (yield from peek(self.source)) == "(":
            return (yield from self._built(word))
        if not bare:
            return self._plain(word)
        rest = yield from self.source.through(REST_OF_LINE)
        text = (word + rest).strip()
        if text in ODD_WORDS or not BARE_TEXT.fullmatch(text) or text in WORDS:
            return self._plain(text)
        self.mended("put quotes around a text")
        return text

    def _built(self, name: str) -> Steps[Any]:
        """Read `dict(a=1)`, `list([1])` and similar constructors."""
        self.skip(1)
        if len(self.closers) >= DEEPEST:
            raise UnreadableString(f"values are nested deeper than {DEEPEST}")
        self.closers.append(")")
        pairs: dict[str, Any] = {}
        value: Any = {} if name == "dict" else []
        while not (yield from self._closed()):
            key = (yield from self.key()) if name == "dict" else ""
            if key:
                pairs[key] = yield from self.value()
            else:
                value = yield from self.value()
            yield from self._comma()
        self.closers.pop()
        return {**value, **pairs} if isinstance(value, dict) else value

    def _plain(self, word: str) -> Any:
        if word in WORDS:
            return WORDS[word]
        for pattern, read in NUMBERS:
            if pattern.fullmatch(word):
                return read(word)
        if word not in ODD_WORDS:
            raise UnreadableString(f"{word[:80] or 'nothing'} is not a value")
        self.mended(f"read {word} as {ODD_WORDS[word]}")
        return ODD_WORDS[word]


def _as_key(value: Any) -> str:
    """Return a key as text: JSON has no other keys, and they are written as JSON would write them."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int | float):
        return str(value)
    raise UnreadableString("a key of a dict is not text")


def _integer(word: str) -> int:
    if len(word) > LONGEST_NUMBER:
        raise UnreadableString("a number is too long")
    return int(word)


def _hexadecimal(word: str) -> int:
    if len(word) > LONGEST_NUMBER:
        raise UnreadableString("a number is too long")
    return int(word, 16)


def _float(word: str) -> float:
    number = float(word.replace("_", ""))
    if not math.isfinite(number):
        raise UnreadableString(f"{word[:80]} is too large a number")
    return number


NUMBERS: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = (
    (INTEGER, _integer),
    (HEXADECIMAL, _hexadecimal),
    (FLOAT, _float),
)
