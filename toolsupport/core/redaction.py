"""Removes secrets from texts for people: known secrets, and everything that looks like one."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

GONE = "[secret]"
SHORTEST = 6  # a shorter value would stand in ordinary words
# Characters of a text whose result is remembered: each request repeats the texts of its tools, 150 of them.
REPEATED = 400

_known: set[str] = set()

# Grouped by a part that they share.
_WORDS_BY_PART = {
    "pass": ("password", "passwd", "passphrase"),
    "secret": ("secret",),
    "token": ("token",),
    "api": ("apikey", "api_key", "api-key"),
    "sessionid": ("sessionid",),
    "csrf": ("csrftoken", "csrfmiddlewaretoken"),
    "credential": ("credential", "credentials"),
}
_NAMES = rf"(?:{'|'.join(word for words in _WORDS_BY_PART.values() for word in words)})"
# Grouped by their last letter.
_PREFIXES = {"k": ("sk", "pk", "rk", "gsk", "tsk"), "f": ("hf",), "i": ("xai",), "p": ("ghp",)}
_QUOTE = r"(?:\\{0,3}[\"'])?"  # inside JSON that stands in JSON a quotation mark has backslashes before it
# What a secret looks like where its name stands beside it; the group is what stays. Each with texts one of which it
# needs, by a part that they share: most texts have none of them, and to look for the parts takes a hundredth of the
# time. Repetitions have a limit: what is redacted was written by others.
PATTERNS = (
    (
        {"authorization": ("authorization",)},
        re.compile(
            rf"((?:proxy-)?authorization{_QUOTE}\s{{0,20}}[:=]\s{{0,20}}{_QUOTE}(?:\w{{1,30}}\s{{1,20}})?)[^\s\"',;\\]+",
            re.I,
        ),
    ),
    ({"bearer": ("bearer",), "basic": ("basic",)}, re.compile(r"(\b(?:bearer|basic)\s{1,20})[\w.~+/=-]{8,}", re.I)),
    (
        _WORDS_BY_PART,
        re.compile(
            rf"({_NAMES}\w{{0,40}}{_QUOTE}\s{{0,20}}[:=]\s{{0,20}}[bu]?{_QUOTE})(?:\\(?![\"'])|[^\s\"'&,;}})\\])+", re.I
        ),
    ),
    ({"://": ("://",)}, re.compile(r"(\w://[^\s/:@]*:)[^\s/@]+(?=@)")),
    (
        {f"{last}{sign}": tuple(f"{one}{sign}" for one in ones) for last, ones in _PREFIXES.items() for sign in "-_"},
        re.compile(rf"(\b)(?:{'|'.join(one for ones in _PREFIXES.values() for one in ones)})[-_][A-Za-z0-9_-]{{12,}}"),
    ),
)
_LINE_BEGUN = re.compile(r'(?:data: )?(\{"[^\n]{1,300}"content": ?")')
# Each line of Ollama has a time of its own.
_DIGITS = str.maketrans("123456789", "000000000")
_NAME = re.compile(rf"(?:proxy-)?authorization|\w{{0,40}}?{_NAMES}\w{{0,40}}", re.I)


def add_secrets(*secrets: str) -> None:
    """Register values that must never be shown; empty and very short ones are ignored."""
    _known.update(secret for secret in secrets if len(secret) >= SHORTEST)


def known_secrets() -> int:
    """Return the number of known secrets, which only grows: a new one makes earlier redactions outdated."""
    return len(_known)


def redact(text: str) -> str:
    """Return the text without secrets."""
    return _remembered(text, known_secrets()) if len(text) <= REPEATED else _redacted(text)


@lru_cache(maxsize=2000)
def _remembered(text: str, secrets: int) -> str:
    return _redacted(text)


def _redacted(text: str) -> str:
    # The longest first: one secret may be the beginning of another.
    for secret in sorted(_known, key=len, reverse=True):
        text = text.replace(secret, GONE)
    # Both give the same; lower() takes a tenth of the time.
    plain = _once_each(text.lower() if text.isascii() else text.casefold())
    for needed, pattern in PATTERNS:
        # A list instead of a generator: this is the search of each answer.
        possible = [word for part, words in needed.items() if part in plain for word in words]
        if any(word in plain for word in possible):
            text = pattern.sub(rf"\g<1>{GONE}", text)
    return text


def _once_each(text: str) -> str:
    """Return a text that contains the same words; what all lines of a stream begin with is in it once.

    Lines of a streamed reply begin alike up to the text in them: `{"model":"m",…,"content":"`. What is removed begins
    with a brace and ends with a quotation mark, which no word contains, so none is cut. No word contains a digit, so
    lines whose digits differ begin alike too.
    """
    text = text.translate(_DIGITS)
    found = _LINE_BEGUN.match(text)
    return text if found is None else found[1] + text.replace(found[1], "\n")


def redact_json(value: Any) -> Any:
    """A JSON value without secrets: in its texts, and the texts under names such as `password`."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [redact_json(item) for item in value]
    if isinstance(value, dict):
        return {
            name: GONE if isinstance(inner, str) and inner and _names_secret(name) else redact_json(inner)
            for name, inner in value.items()
        }
    return value


def _names_secret(name: str) -> bool:
    """Return whether the value under this name is a secret."""
    return _is_secret_name(name) if len(name) <= REPEATED else bool(_NAME.fullmatch(name))


@lru_cache(maxsize=1000)
def _is_secret_name(name: str) -> bool:
    return bool(_NAME.fullmatch(name))
