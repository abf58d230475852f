r"""Rewrites a regular expression in the few forms that servers with constrained output have in common.

llama.cpp and XGrammar match the JSON text, llguidance the text that it stands for: so no form may hold a character that
JSON escapes. Each wants the whole text matched; classes like `\d`, lookarounds and references are known to some only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

LONGEST = 400  # characters of a pattern
DEEPEST = 8
MOST_REPEATS = 256
LARGEST = 1_000  # characters and classes with all repetitions written out
MOST_VALUES = 100
SPECIAL = frozenset("^$.[](){}|*+?")
SHORT = {"d": "0-9", "w": "A-Za-z0-9_"}
# Represents all letters from A1 to D7FF (hexadecimal).
FOREIGN = "\U0010ffff"
# Without the two characters that JSON escapes.
PRINTABLE = frozenset([*map(chr, range(32, 127)), FOREIGN]) - {'"', "\\"}
COUNTS = {"*": (0, -1), "+": (1, -1), "?": (0, 1)}
COUNT = re.compile(r"\{(\d{1,4})(,(\d{0,4}))?\}")
HEX = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})")


class NotPlain(ValueError):
    """The pattern has a part that not all servers know."""


@dataclass(frozen=True, slots=True)
class PlainPattern:
    """`text` matches whole texts, "" where it cannot be expressed; a text has `least` to `most` characters.

    `most` is None for any number. `values` are all texts that match, () if they are many.
    """

    text: str = ""
    least: int = 0
    most: int | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    least: int
    most: int | None
    values: tuple[str, ...] | None
    size: int
    several: bool = False  # of several characters: needs brackets before a count


EMPTY = _Part("", 0, 0, ("",), 0)


@lru_cache(maxsize=256)
def plain(pattern: str, *, lossy: bool = False) -> PlainPattern:
    """Return the form of a pattern that can be sent to servers.

    `lossy`: it may leave out rare texts that match, with quotation marks or line breaks.
    """
    try:
        return _PatternReader(pattern, lossy).whole()
    except (NotPlain, IndexError):
        return PlainPattern()


class _PatternReader:
    """Reads one pattern from left to right."""

    def __init__(self, pattern: str, lossy: bool) -> None:
        self._rest = pattern
        self._at = 0
        self._lossy = lossy

    def whole(self) -> PlainPattern:
        """Read all of it. Raises NotPlain."""
        if len(self._rest) > LONGEST:
            raise NotPlain
        begins, ends = self._anchors()
        part = self._alternatives(0)
        if self._at < len(self._rest):
            raise NotPlain
        if not (begins and ends):
            return self._within(part, begins, ends)
        return PlainPattern(f"^{_grouped(part)}$", part.least, part.most, part.values or ())

    def _anchors(self) -> tuple[bool, bool]:
        """Take the anchors off. Those of one of several branches hold for that branch only, which is not read."""
        begins = self._rest.startswith("^")
        ends = self._rest.endswith("$") and not re.search(r"(?<!\\)(?:\\\\)*\\\$$", self._rest)
        self._rest = self._rest[int(begins) : len(self._rest) - int(ends)]
        if (begins or ends) and _branches_outside(self._rest):
            raise NotPlain
        return begins, ends

    def _within(self, part: _Part, begins: bool, ends: bool) -> PlainPattern:
        """Return the pattern of a text that holds a match: any texts before or after it have no exact form."""
        if not self._lossy:
            return PlainPattern("", part.least, None)
        anything = f"{_class(PRINTABLE)}*"
        before, behind = "" if begins else anything, "" if ends else anything
        return PlainPattern(f"^{before}{_grouped(part)}{behind}$", part.least, None)

    def _alternatives(self, depth: int) -> _Part:
        branches = [self._sequence(depth)]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._sequence(depth))
        if len(branches) == 1:
            return branches[0]
        if EMPTY in branches:
            raise NotPlain
        values = _few([value for branch in branches for value in branch.values or ()])
        most = [branch.most for branch in branches if branch.most is not None]
        return _Part(
            "|".join(branch.text for branch in branches),
            min(branch.least for branch in branches),
            max(most) if len(most) == len(branches) else None,
            values if all(branch.values is not None for branch in branches) else None,
            _bounded(sum(branch.size for branch in branches)),
            several=True,
        )

    def _sequence(self, depth: int) -> _Part:
        found = EMPTY
        while self._peek() not in ("", "|", ")"):
            part = self._counted(self._atom(depth))
            found = _joined(found, part)
        return found

    def _atom(self, depth: int) -> _Part:
        letter = self._take()
        if letter == "(":
            return self._group(depth)
        if letter == "[":
            return self._listed()
        if letter == ".":
            return _one_of(self._roughly(PRINTABLE))
        if letter == "\\":
            return _one_of(self._escaped())
        if letter in SPECIAL:
            raise NotPlain
        return _one_of(frozenset(letter))

    def _group(self, depth: int) -> _Part:
        if self._peek() == "?":
            self._at += 1
            if self._take() != ":":
                raise NotPlain
        if depth >= DEEPEST:
            raise NotPlain
        inner = self._alternatives(depth + 1)
        if self._take() != ")" or inner is EMPTY:
            raise NotPlain
        return _Part(f"({inner.text})", inner.least, inner.most, inner.values, inner.size)

    def _counted(self, part: _Part) -> _Part:
        """Read the count after a part."""
        mark = self._peek()
        found = COUNT.match(self._rest, self._at)
        if found:
            self._at = found.end()
            least = int(found[1])
            most = least if found[2] is None else int(found[3]) if found[3] else -1
        elif mark in COUNTS:
            self._at += 1
            least, most = COUNTS[mark]
        else:
            return part
        if self._peek() == "?":
            self._at += 1  # how greedy it is changes nothing for a whole text
        if self._peek() in ("*", "+", "{"):
            raise NotPlain
        return _repeated(part, least, None if most < 0 else most)

    def _listed(self) -> _Part:
        """Read a class in brackets."""
        negated = self._peek() == "^"
        self._at += int(negated)
        letters: set[str] = set()
        while (letter := self._take()) != "]":
            if letter == "[":
                raise NotPlain  # engines differ: a bracket, or a class within
            one = self._escaped() if letter == "\\" else frozenset(letter)
            if self._peek() == "-" and self._rest[self._at + 1 : self._at + 2] not in ("]", ""):
                self._at += 1
                last = self._take()
                one = _range(one, self._escaped() if last == "\\" else frozenset(last))
            letters |= one
        if negated:
            return _one_of(self._roughly(PRINTABLE - letters))
        return _one_of(frozenset(letters))

    def _roughly(self, letters: frozenset[str]) -> frozenset[str]:
        """Return the letters that represent many more."""
        if not self._lossy:
            raise NotPlain
        return letters

    def _escaped(self) -> frozenset[str]:
        """Read the character after a backslash."""
        found = HEX.match(self._rest, self._at)
        if found:
            self._at = found.end()
            return frozenset(chr(int(found[1] or found[2], 16)))
        letter = self._take()
        if letter in SHORT:
            return _of_class(SHORT[letter])
        rough = {"s": frozenset(" "), "S": PRINTABLE - {" "}}
        rough |= {"D": PRINTABLE - _of_class(SHORT["d"]), "W": PRINTABLE - _of_class(SHORT["w"])}
        if letter in rough:
            return self._roughly(rough[letter])
        if letter.isalnum():
            raise NotPlain
        return frozenset(letter)

    def _peek(self) -> str:
        return self._rest[self._at : self._at + 1]

    def _take(self) -> str:
        self._at += 1
        return self._rest[self._at - 1]


def _branches_outside(pattern: str) -> bool:
    """Return whether a pattern has alternatives outside of all groups."""
    bare = re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]", "", pattern)
    depth = 0
    for letter in bare:
        depth += (letter == "(") - (letter == ")")
        if letter == "|" and depth == 0:
            return True
    return False


def _of_class(ranges: str) -> frozenset[str]:
    return frozenset(letter for letter in map(chr, range(128)) if re.fullmatch(f"[{ranges}]", letter))


def _range(first: frozenset[str], last: frozenset[str]) -> frozenset[str]:
    if len(first) != 1 or len(last) != 1:
        raise NotPlain
    low, high = ord(min(first)), ord(min(last))
    if not low <= high < low + 1000:
        raise NotPlain
    return frozenset(map(chr, range(low, high + 1)))


def _one_of(letters: frozenset[str]) -> _Part:
    """Return the part for one character of these. Raises NotPlain for one that JSON escapes, or half of one."""
    if not letters or not all(letter in PRINTABLE or 0xA1 <= ord(letter) <= 0xD7FF for letter in letters):
        raise NotPlain
    values = tuple(sorted(letters)) if len(letters) <= MOST_VALUES and FOREIGN not in letters else None
    return _Part(_class(letters), 1, 1, values, 1)


def _class(letters: frozenset[str]) -> str:
    """Write the characters as a literal, or as ranges; those with a meaning in a class are put where they have none."""
    if len(letters) == 1:
        [letter] = letters
        return f"\\{letter}" if letter in SPECIAL else letter
    codes = sorted(ord(letter) for letter in letters - {FOREIGN} if letter not in "^-[]")
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    written = "".join(chr(low) if low == high else f"{chr(low)}-{chr(high)}" for low, high in ranges)
    written += "\u00a1-\ud7ff" if FOREIGN in letters else ""
    marks = "".join(mark for mark in ("\\[", "\\]", "^", "-") if mark[-1] in letters)
    if not written and marks.startswith("^"):
        raise NotPlain
    return f"[{written}{marks}]"


def _grouped(part: _Part) -> str:
    return f"({part.text})" if part.several else part.text


def _joined(one: _Part, other: _Part) -> _Part:
    if one is EMPTY:
        return other
    most = None if one.most is None or other.most is None else one.most + other.most
    values = _product([one.values, other.values])
    size = _bounded(one.size + other.size)
    return _Part(_grouped(one) + _grouped(other), one.least + other.least, most, values, size)


def _repeated(part: _Part, least: int, most: int | None) -> _Part:
    if max(least, most or 0) > MOST_REPEATS or (most is not None and most < least):
        raise NotPlain
    count = f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"
    count = {"{0,}": "*", "{1,}": "+", "{0,1}": "?", "{1}": ""}.get(count, count)
    values: tuple[str, ...] | None = None
    if most is not None and most <= DEEPEST:
        each = [_product([part.values] * times) for times in range(least, most + 1)]
        values = None if None in each else _few([value for one in each for value in one or ()])
    longest = None if part.most is None or most is None else part.most * most
    size = _bounded(part.size * max(least, most or 1, 1))
    return _Part(_atomic(part) + count, part.least * least, longest, values, size)


def _atomic(part: _Part) -> str:
    return part.text if part.size == 1 or part.text.startswith("(") else f"({part.text})"


def _product(parts: list[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    count = 1
    for part in parts:
        if part is None:
            return None
        count *= len(part)
        if count > MOST_VALUES:
            return None
    return _few(["".join(value) for value in product(*(part or () for part in parts))])


def _few(values: list[str]) -> tuple[str, ...] | None:
    return tuple(dict.fromkeys(values)) if len(values) <= MOST_VALUES else None


def _bounded(size: int) -> int:
    if size > LARGEST:
        raise NotPlain
    return size
