"""Reads the string literals of Python and JSON, also those whose quotes were not escaped.

A quote ends a string where what follows could follow a string. As long as no quote was met inside, that is asked
mildly, so that whatever Python would read is read as Python reads it. After one that cannot have been the end
('it's'), the end must also fit the brackets that are open.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from toolsupport.core.formats.lookahead import peek, pour
from toolsupport.core.scanner import SPACE, Steps, TextSource

Sink = Callable[[str], None]

WINDOW = 96  # characters that may be looked at to decide whether a quote is the end
PREFIXES = "rRbBuUfF"
PREFIX = re.compile(rf"[{PREFIXES}]*")
OPENS_STRING = re.compile(rf"[{PREFIXES}]{{0,2}}[\"']")
PLAIN = {quote: re.compile(rf"[^{quote}\\]*") for quote in "\"'"}
SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "a": "\a", "\n": ""}
SIMPLE |= {mark: mark for mark in "\\'\""}
DIGITS = {"x": 2, "u": 4, "U": 8}
CODE = re.compile(r"[0-9a-fA-F]+")
OCTAL_DIGITS = tuple("01234567")
OCTAL = re.compile(r"[0-7]{1,3}")
HIGH, LOW = re.compile(r"[\ud800-\udbff]"), re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
AFTER_COMMA = re.compile(
    r"""[A-Za-z_][\w.-]*\s*[=:] | [rRbBuUfF]{0,2}["'] | [\[{(*+.\d)\]}-]
    | (?:True|False|None|true|false|null|dict|list|tuple|set)(?=[^\w.-])""",
    re.VERBOSE,
)
WORD_BEGUN = re.compile(r"[A-Za-z_][\w.-]*\s*")


class UnreadableString(Exception):
    """The string cannot be parsed; the message gives the reason, for the model."""


class StringReader:
    """Reads strings out of `source`. `listed`: a call must be followed by a comma or a bracket."""

    def __init__(self, source: TextSource) -> None:
        self.source = source
        self.closers: list[str] = []
        self.listed = True
        self.dirty = False

        self.repairs: list[str] = []

    def mended(self, what: str) -> None:
        if what not in self.repairs:
            self.repairs.append(what)

    def skip(self, count: int) -> None:
        self.source.take(self.source.at + count)

    def strings(self, sink: Sink | None = None) -> Steps[str]:
        """Read one string, or several adjacent ones that form one."""
        pieces: list[str] = []

        def put(piece: str) -> None:
            pieces.append(piece)
            if sink and piece:
                sink(piece)

        more = True
        while more:
            yield from self._one(put)
            more = yield from self._another()
        return "".join(pieces)

    def _one(self, put: Sink) -> Steps[None]:
        prefix = yield from self.source.through(PREFIX)
        if "b" in prefix.lower():
            raise UnreadableString("bytes cannot be given, only text")
        raw = "r" in prefix.lower()
        quote = (yield from peek(self.source))[:1]
        triple = quote * 3
        if (yield from peek(self.source, 3)) == triple:
            self.skip(3)
            yield from self._body(put, triple, raw=raw)
        else:
            self.skip(1)
            yield from self._body(put, quote, raw=raw)

    def _another(self) -> Steps[bool]:
        yield from self.source.through(SPACE)
        if (yield from peek(self.source)) == "+":
            self.skip(1)
            yield from self.source.through(SPACE)
            if (yield from peek(self.source)) not in ("'", '"'):
                raise UnreadableString("only text can be added to text")
        return (yield from self.opens_string())

    def opens_string(self) -> Steps[bool]:
        """Return True if a string literal begins here, including its prefix."""
        head = yield from peek(self.source)
        if head and head in PREFIXES:
            head = yield from peek(self.source, 3)
        return bool(OPENS_STRING.match(head))

    def _body(self, put: Sink, quote: str, *, raw: bool) -> Steps[None]:
        self.dirty = False
        while True:
            yield from pour(self.source, PLAIN[quote[0]], put)
            head = yield from peek(self.source, len(quote))
            if not head:
                raise UnreadableString("the text ends inside a string")
            if head[0] == "\\":
                put((yield from self._escape(raw=raw)))
            elif head == quote and (len(quote) == 3 or (yield from self._ends())):
                self.skip(len(quote))
                return
            else:
                self.skip(1)
                put(head[0])

    def _escape(self, *, raw: bool) -> Steps[str]:
        head = yield from peek(self.source, 2)
        mark = head[1:]
        if not raw and mark in OCTAL_DIGITS:
            self.skip(1)
            octal = OCTAL.match((yield from peek(self.source, 3)))
            self.skip(len(octal.group()) if octal else 0)
            return chr(int(octal.group(), 8)) if octal else head[:1]
        self.skip(len(head))
        if not raw and mark in DIGITS:
            return (yield from self._code(mark))
        return head if raw else SIMPLE.get(mark, head)

    def _code(self, mark: str) -> Steps[str]:
        """Return a character by its number; two surrogate halves are joined."""
        digits = yield from peek(self.source, DIGITS[mark])
        if len(digits) < DIGITS[mark] or not CODE.fullmatch(digits) or int(digits, 16) > 0x10FFFF:
            return "\\" + mark
        self.skip(len(digits))
        character = chr(int(digits, 16))
        if mark == "u" and HIGH.match(character):
            low = LOW.match((yield from peek(self.source, 6)))
            if low:
                self.skip(6)
                return chr(0x10000 + ((ord(character) - 0xD800) << 10) + int(low[1], 16) - 0xDC00)
        return character

    def _ends(self) -> Steps[bool]:
        """Return True if the quote here is the end of its string."""
        while True:
            start = self.source.at + 1
            ahead = self.source.buffer[start : start + WINDOW]
            full = self.source.ended or len(ahead) == WINDOW
            verdict = self._verdict(ahead, full=full)
            if verdict is None and not full:
                yield
                continue
            if verdict is False:
                self.dirty = True
                self.mended("escaped a quote inside a text")
            return verdict is not False

    def _verdict(self, ahead: str, *, full: bool) -> bool | None:
        """Return whether `ahead` may follow a string; None if it is too short to decide."""
        rest = ahead.lstrip()
        if not rest:
            return None
        if rest[0] in "\"'+":
            return not self.dirty
        if rest[0] == ",":
            return _literal_follows(rest[1:].lstrip(), full=full)
        if rest[0] == ":":
            return "}" in self.closers[-1:]
        return self._closes(rest) if rest[0] in ")]}" else False

    def _closes(self, rest: str) -> bool | None:
        """Return whether a run of closing brackets matches the open ones, with a valid continuation."""
        if not self.listed and not self.dirty:
            return rest[0] == self.closers[-1]
        depth = len(self.closers)
        while rest and rest[0] in ")]}" and depth:
            depth -= 1
            if rest[0] != self.closers[depth]:
                return False
            after, rest = rest[1:], rest[1:].lstrip()
        if not rest:
            return None
        if depth:
            return rest[0] in ",:"
        return rest[0] in ",;]<`" or "\n" in after[: len(after) - len(rest)]


def _literal_follows(rest: str, *, full: bool) -> bool | None:
    if not rest:
        return None
    if AFTER_COMMA.match(rest):
        return True
    return None if WORD_BEGUN.fullmatch(rest) and not full else False
