"""Reads JSON, strictly if possible, else with repairs that it records.

In: the whole text of one value. Out: the value with its repairs in words, or None where there is no value to be read.
Callers: the formats, `call_building` and `coercion`, once a call is complete; the repairs are listed with the call.
- Sound JSON is never repaired: the strict reader comes first. The one exception is two values of one key.
- A repair changes how a value is written, never what a schema requires: that is `coercion`.
- Time is linear in the text, and nesting ends at DEEPEST: no text of a model may cost more.
It never guesses a value that is not there, and never runs what it reads.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

DEEPEST = 64
LONGEST_MENDED = 200_000  # a repair takes up to 1 µs a character
END_ADDED = "added the end that was missing"
STRING_CLOSED = "closed a string that had no end"
LEFT_OUT = "left out what followed the arguments"
TWO_OF_ONE_KEY = "kept the first of two values of one key"
SPACE = re.compile(r"\s*")
# White space, and what some models write between two parts where a comma belongs.
BETWEEN = re.compile(r"[\s,;]*")
BARE = re.compile(r"""[^\s,:{}\[\]"']+""")
BARE_VALUE = re.compile(r"""[^,{}\[\]\n"]+""")
NUMBER = re.compile(r"-?\d{1,400}(\.\d{1,400})?([eE][+-]?\d{1,3})?\Z")
WORDS = {"true": True, "false": False, "null": None, "none": None, "undefined": None}
# The exponents of numbers that no double holds, and such values as Python, JavaScript and their libraries write them.
TOO_LARGE = r"(?:30[89]|3[1-9]\d|[4-9]\d\d|[1-9]\d{3,400})"
NOT_FINITE = rf"[+-]?(?:NaN|Infinity|nan|inf|[\d.]{{1,400}}[eE]\+?{TOO_LARGE})"
ODD_WORD = re.compile(rf"{NOT_FINITE}\Z")
ODD_NUMBER = re.compile(rf"[:\[,]\s{{0,9}}{NOT_FINITE}\s{{0,9}}(?:[,\]}}]|\Z)")
ODD_NUMBERS = " JSON has no NaN, no infinity and no number beyond 1.8e308: send another number, or a text in quotes."
FENCE = re.compile(r"\s*```[\w-]*\s*")
# What may follow a value that is whole: brackets too many, the end of a fence, and marks of its format.
BEHIND = re.compile(r"[\s}\]]++|```|<[|/]?[\w|:/]{1,40}>")
# A sound escape, or in the group a backslash that escapes nothing.
ESCAPE = re.compile(r"""\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|(\\)""")


@dataclass(frozen=True, slots=True)
class RepairedJson:
    """A value, and descriptions of the repairs that were needed."""

    value: Any
    repairs: tuple[str, ...] = ()


class _Unreadable(ValueError):
    """The text is not a value, even with repairs."""


def read_json(text: str, depth: int | None = None) -> RepairedJson | None:
    """Return the value, or None if there is none. `depth` is its nesting depth, if known."""
    if (nesting(text) if depth is None else depth) > DEEPEST:
        return None
    twice: list[str] = []
    try:
        value = loads(text, object_pairs_hook=_first_ones(twice))
        return RepairedJson(value, tuple(dict.fromkeys(twice)))
    except ValueError:
        return _mended(text) if len(text) <= LONGEST_MENDED else None


def loads(text: str, **hooks: Any) -> Any:
    """Return what json.loads does. Raises ValueError for NaN and infinities too, of which 1e999 is one.

    JSON has none of them: PostgreSQL refuses them, and other writers of JSON put null in their place.
    """
    return json.loads(text, parse_constant=_refuse, parse_float=_finite, **hooks)


def hint(text: str) -> str:
    """Return a sentence about numbers in a text that JSON has not, to follow the reason why it is refused, or ""."""
    return ODD_NUMBERS if ODD_NUMBER.search(text) else ""


def whole_object(text: str) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """Return the object in arguments that a server passed on though they are no JSON, None if its end is missing.

    Unlike in a format, nothing else shows where the object ends: what follows it may only be brackets and marks.
    """
    if len(text) > LONGEST_MENDED or nesting(text) > DEEPEST:
        return None, ()
    reader = _RepairingReader(text)
    try:
        value = reader.value(0)
    except (_Unreadable, RecursionError):
        return None, ()
    ended = {END_ADDED, STRING_CLOSED}.isdisjoint(reader.repairs) and not BEHIND.sub("", text[reader.at :])
    if not ended or not isinstance(value, dict):
        return None, ()
    behind = (LEFT_OUT,) if text[reader.at :].strip() else ()
    return value, tuple(dict.fromkeys((*reader.repairs, *behind)))


def nesting(text: str) -> int:
    """Return how deep brackets nest at most, ignoring strings; an upper bound, exact for valid JSON."""
    depth = deepest = 0
    for found in _BRACKETS_AND_STRINGS.finditer(text):
        if found.group()[0] in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif found.group()[0] in "}]":
            depth -= 1
    return deepest


# Possessive throughout: a repeat that may backtrack costs memory for each of its rounds.
_BRACKETS_AND_STRINGS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}\[\]]', re.S)


def _first_ones(twice: list[str]) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(found)
        # The first one counts, as with a parameter that Qwen3-Coder writes twice: it was shown already.
        if len(result) < len(found):
            result = dict(reversed(found))
            result = {key: result[key] for key, _ in found}
            twice.append(TWO_OF_ONE_KEY)
        return result

    return pairs


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _finite(number: str) -> float:
    read = float(number)
    if not math.isfinite(read):
        raise ValueError(f"{number[:20]} is too large a number")
    return read


def _number(word: str) -> int | float:
    try:
        return loads(word) if word.lstrip("-")[:1] != "0" or "." in word or word in ("0", "-0") else int(word)
    except ValueError:
        raise _Unreadable from None


def _mended(text: str) -> RepairedJson | None:
    reader = _RepairingReader(text)
    try:
        value = reader.value(0)
    except (_Unreadable, RecursionError):
        return None
    return RepairedJson(value, tuple(dict.fromkeys(reader.repairs)))


class _RepairingReader:
    def __init__(self, text: str) -> None:
        self.repairs: list[str] = []
        # Llama 3 writes ```json around the object, others between the marks of a call.
        fence = FENCE.match(text)
        if fence:
            self.repairs.append("removed the code fence")
        self.text = text
        self.at = fence.end() if fence else 0

    def value(self, depth: int) -> Any:
        character = self._next()
        if depth > DEEPEST or not character:
            raise _Unreadable
        if character == "{":
            return self._object(depth)
        if character == "[":
            return self._array(depth)
        if character in "\"'“":
            return self._string(closing=(",", "}", "]"))
        return self._word()

    def _next(self) -> str:
        """Return the next character that is not white space, "" at the end."""
        self.at = SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]  # matches everywhere
        return self.text[self.at : self.at + 1]

    def _object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        if self._next() == "{":  # Qwen2.5-Coder copies the doubled braces of its template
            inner = self._object(depth)
            self._mend("removed a second pair of braces")
            if self._next() not in ("}", ""):  # more parts of the outer one, which the inner one is not all of
                raise _Unreadable
            self.at += self._next() == "}"
            return inner
        found: dict[str, Any] = {}
        while not self._over("}"):
            key = self._key()
            if self._next() in (":", "="):
                self.at += 1
            elif found or not self._next():
                break
            else:
                raise _Unreadable
            character = self._next()
            if not character:
                self._mend(END_ADDED)
                break
            value = None if character in ",}" else self.value(depth + 1)
            found.setdefault(key, value)
            self._between("}")
        return found

    def _array(self, depth: int) -> list[Any]:
        self.at += 1
        found: list[Any] = []
        while not self._over("]"):
            found.append(self.value(depth + 1))
            self._between("]")
        return found

    def _over(self, closing: str) -> bool:
        """Consume the closing bracket; a missing or different bracket ends the value too.

        Models of the Hermes format omit the last brace, or write one too many.
        """
        character = self._next()
        if character == closing:
            self.at += 1
            return True
        if not character or character in "}]":
            self._mend(END_ADDED)
            return True
        return False

    def _between(self, closing: str) -> None:
        """Consume the separator between two items; anything but one comma is a repair."""
        self._next()
        found = BETWEEN.match(self.text, self.at)
        separators = "".join((found.group() if found else "").split())
        self.at = found.end() if found else self.at
        character = self._next()
        if character and character in "}]":
            self._mend("removed a comma" if separators else "")
        elif character and separators != ",":
            self._mend("put a comma between two values")

    def _key(self) -> str:
        if self._next() in ('"', "'", "“"):
            return self._string(closing=(":",))
        found = BARE.match(self.text, self.at)
        if not found:
            raise _Unreadable
        self.at = found.end()
        self._mend("put quotes around a key")
        return found.group()

    def _string(self, closing: tuple[str, ...]) -> str:
        """Read a string: it ends at a quote followed by something valid; other quotes are part of it."""
        opening = self.text[self.at]
        quote = "”" if opening == "“" else opening
        if opening != '"':
            self._mend("replaced quotes by double quotes")
        start = at = self.at + 1
        # Code and prose in arguments contain unescaped quotes: only the text after a quote shows whether it is the end.
        while True:
            at = _quote_at(self.text, quote, at)
            if at < 0:
                self._mend(STRING_CLOSED)
                at = len(self.text)
                self.at = at
                break
            if self._fits(at + 1, closing):
                self.at = at + 1
                break
            self._mend("kept a quote inside a string")
            at += 1
        return self._unescaped(self.text[start:at])

    def _fits(self, at: int, closing: tuple[str, ...]) -> bool:
        if closing == (":",):
            return True
        at = SPACE.match(self.text, at).end()  # type: ignore[union-attr]  # matches everywhere
        following = self.text[at : at + 1]
        if following and following in "\"'":
            before = self.text[at - 1]
            return before == "\n" or self._key_follows(at)
        return not following or following in ",}];`"

    def _key_follows(self, at: int) -> bool:
        """Return whether a quoted key and a colon follow: then only the comma before it is missing."""
        return bool(_KEY.match(self.text, at))

    def _unescaped(self, text: str) -> str:
        if "\\" not in text and text.isprintable():
            return text
        if any(found[1] for found in ESCAPE.finditer(text)):
            self._mend("kept backslashes that escape nothing")
        text = ESCAPE.sub(_sound_escape, text)
        # Written files hold raw line breaks and tabs, which JSON allows in escaped form only.
        if any(sign < " " for sign in text):
            self._mend("allowed line breaks inside a string")
        text = _BARE_QUOTE.sub(r'\1\\"', text)
        try:
            return str(json.loads(f'"{text}"', strict=False))
        except ValueError:
            raise _Unreadable from None

    def _word(self) -> Any:
        found = BARE_VALUE.match(self.text, self.at)
        if not found:
            raise _Unreadable
        self.at = found.end()
        word = found.group().strip()
        if word.lower() in WORDS:
            if word not in ("true", "false", "null"):  # True and None of Python, `undefined` of JavaScript
                self._mend(f"read {word} as JSON writes it")
            return WORDS[word.lower()]
        if ODD_WORD.match(word):  # a text or a number: that cannot be known
            raise _Unreadable
        if NUMBER.match(word):
            return _number(word)
        self._mend("put quotes around a value")
        return word

    def _mend(self, what: str) -> None:
        if what:
            self.repairs.append(what)


_KEY = re.compile(r"""(["'])[\w.$-]{1,100}\1\s*:""")
_BARE_QUOTE = re.compile(r'((?:^|[^\\])(?:\\\\)*+)"')
_QUOTES = {quote: re.compile(rf"[{quote}\\]") for quote in "\"'”"}


def _quote_at(text: str, quote: str, at: int) -> int:
    """Return the position of the next quote without a backslash before it, -1 if there is none."""
    while found := _QUOTES[quote].search(text, at):
        if found.group() == quote:
            return found.start()
        at = found.end() + 1
    return -1


def _sound_escape(found: re.Match[str]) -> str:
    """Return a valid JSON escape; the backslash before an apostrophe, needed in other languages, is dropped."""
    if not found[1]:
        return found.group()
    return "" if found.string[found.end() : found.end() + 1] == "'" else r"\\"
