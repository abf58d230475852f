"""Decides whether a password would be among the first guesses: a common one or a word of the site, slightly changed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from itertools import pairwise

# Additions to a common word: a year, a few digits, a punctuation mark.
AROUND = 5
DATE = re.compile(r"(19|20)\d\d[-./ ]?\d\d[-./ ]?\d\d|\d\d[-./ ]?\d\d[-./ ]?(19|20)\d\d", re.ASCII)
# A word of the site protects nothing; this many other characters have to remain.
REMAINING = 8
SHORTEST_WORD = 4
# Longer than every common password with its ends: no form of it needs to be looked up.
LONGEST = 100
# Digits and marks that stand for letters; `1` and `!` for two of them.
LETTERS = {"0": "o", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b", "9": "g", "@": "a", "$": "s", "€": "e", "+": "t"}
SPELLINGS = tuple(
    str.maketrans(table) for table in ({}, {**LETTERS, "1": "i", "!": "i", "|": "i"}, {**LETTERS, "1": "l", "!": "l"})
)


def is_common(password: str, common: Callable[[str], bool]) -> bool:
    """Return True for a common password, also with capitals, digits for letters, an end, doubled or backwards.

    `common` recognises a common password in small letters.
    """
    folded = _folded(password)
    if _is_pattern(folded):
        return True
    return len(folded) <= LONGEST and any(common(form) for form in _forms(folded))


def without(password: str, words: Collection[str]) -> str:
    """Return the rest of a password without the words, in small letters; with capitals and digits for letters."""
    rest = _folded(password)
    for word in sorted({_folded(word) for word in words}, key=len, reverse=True):
        if len(word) >= SHORTEST_WORD:
            for spelling in SPELLINGS:
                rest = _cut(rest, word.translate(spelling), spelling)
    return rest


def words_of(text: str) -> Iterator[str]:
    """Return the words of a name, a host or an address, and the whole of it."""
    yield text
    yield from re.split(r"[\W_]+", text)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _cut(rest: str, word: str, spelling: dict[int, str]) -> str:
    """Cut a word out where the spelt form has it; a spelling keeps the length."""
    parts, start, spelt = [], 0, rest.translate(spelling)
    while (found := spelt.find(word, start)) >= 0:
        parts.append(rest[start:found])
        start = found + len(word)
    return "".join((*parts, rest[start:]))


def _forms(folded: str) -> Iterator[str]:
    """Return the common passwords that this one may have been made from."""
    for core in _cores(folded):
        for spelling in SPELLINGS:
            spelt = core.translate(spelling)
            yield from (spelt, spelt[::-1], _unit(spelt))


def _cores(folded: str) -> Iterator[str]:
    """Return the password, and what is left of it without up to AROUND digits and marks at its ends."""
    yield folded
    joined = re.sub(r"[\W_]+", "", folded)  # a word that is repeated with signs between
    yield joined
    for text in {folded, _unit(folded), _without_runs(folded), _unit(joined)}:
        head = len(text) - len(re.sub(r"^[\W\d_]+", "", text))
        tail = len(text) - len(re.sub(r"[\W\d_]+$", "", text))
        if head < len(text):
            for start in range(min(head, AROUND) + 1):
                for end in range(min(tail, AROUND - start) + 1):
                    yield text[start : len(text) - end]


def _without_runs(text: str) -> str:
    """Shorten runs like 12345, 987 and 1111 to their first character."""
    kept = [character for place, character in enumerate(text) if not _continues(text, place)]
    return "".join(kept)


def _continues(text: str, place: int) -> bool:
    """Return True for a digit after a digit that is the same one, one more or one less."""
    pair = text[place - 1 : place + 1] if place else ""
    return len(pair) == 2 and pair.isascii() and pair.isdigit() and abs(ord(pair[0]) - ord(pair[1])) <= 1


def _unit(text: str) -> str:
    """Return the part that a text repeats, or the text."""
    place = (text + text).find(text, 1)
    return text[:place] if text else text


def _is_pattern(folded: str) -> bool:
    """Return True for up to three characters repeated, a run of the alphabet, runs of digits, and a date."""
    steps = {ord(after) - ord(before) for before, after in pairwise(folded)}
    few = min(len(_unit(folded)), len(_without_runs(folded))) <= 3
    return few or steps in ({1}, {-1}) or DATE.fullmatch(folded) is not None
