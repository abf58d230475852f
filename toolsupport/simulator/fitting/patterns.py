"""Draws a text that fits a regular expression."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from random import Random
from typing import Any

_PARSER: Any = vars(re)["_parser"]
SOME = "abcxyzABC0189 -_"
LETTERS = {
    "CATEGORY_DIGIT": string.digits,
    "CATEGORY_WORD": string.ascii_letters + "_",
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_SPACE": string.ascii_letters,
    "CATEGORY_NOT_DIGIT": string.ascii_letters,
    "CATEGORY_NOT_WORD": "-.",
}
MORE = 3  # repeats above the minimum


def drawn(pattern: str, chance: Random) -> str | None:
    """Return a text that the pattern matches; None if it is invalid or no match was found."""
    try:
        parsed, expression = _PARSER.parse(pattern), re.compile(pattern)
        text = _all(parsed, chance)
    except (re.error, RecursionError, OverflowError, LookupError):
        return None
    return text if expression.search(text) else None


def _all(nodes: Any, chance: Random) -> str:
    return "".join(KINDS.get(str(kind), _nothing)(value, chance) for kind, value in nodes)


def _nothing(value: Any, chance: Random) -> str:
    return ""


def _repeat(value: Any, chance: Random) -> str:
    least, most, inner = value
    count = chance.randint(least, min(int(most), least + MORE))
    return "".join(_all(inner, chance) for _ in range(count))


def _one_of(value: Any, chance: Random) -> str:
    if str(value[0][0]) == "NEGATE":
        excluded = set().union(*map(_letters, value[1:]))
        return chance.choice([letter for letter in SOME + string.printable if letter not in excluded])
    return chance.choice(sorted(_letters(chance.choice(value))))


def _letters(item: Any) -> set[str]:
    kind, value = str(item[0]), item[1]
    if kind == "RANGE":
        return {chr(number) for number in range(value[0], min(value[1], value[0] + 127) + 1)}
    return {chr(value)} if kind == "LITERAL" else set(LETTERS.get(str(value), SOME))


KINDS: dict[str, Callable[[Any, Random], str]] = {
    "LITERAL": lambda value, chance: chr(value),
    "NOT_LITERAL": lambda value, chance: chance.choice([letter for letter in SOME if letter != chr(value)]),
    "ANY": lambda value, chance: chance.choice(SOME),
    "IN": _one_of,
    "MAX_REPEAT": _repeat,
    "MIN_REPEAT": _repeat,
    "SUBPATTERN": lambda value, chance: _all(value[3], chance),
    "BRANCH": lambda value, chance: _all(chance.choice(value[1]), chance),
}
