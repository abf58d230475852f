"""Removes secrets from texts for people: known secrets, and everything that looks like one."""

from __future__ import annotations

import re

GONE = "[secret]"
SHORTEST = 6  # a shorter value would stand in ordinary words

_known: set[str] = set()

# What a secret looks like where its name stands beside it; the group is what stays.
_NAMES = r"(?:pass(?:word|wd|phrase)|secret|token|api[_-]?key|sessionid|csrftoken|csrfmiddlewaretoken|credentials?)"
PATTERNS = (
    re.compile(r"((?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?(?:\w+\s+)?)[^\s\"',;]+", re.I),
    re.compile(r"(\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}", re.I),
    re.compile(rf"({_NAMES}\w*[\"']?\s*[:=]\s*[bu]?[\"']?)[^\s\"'&,;}})]+", re.I),
    re.compile(r"(\w://[^\s/:@]*:)[^\s/@]+(?=@)"),
    re.compile(r"(\b)(?:sk|pk|rk|hf|gsk|xai|ghp|tsk)[-_][A-Za-z0-9_-]{12,}"),
)


def add_secrets(*secrets: str) -> None:
    """Register values that must never be shown; empty and very short ones are ignored."""
    _known.update(secret for secret in secrets if len(secret) >= SHORTEST)


def redact(text: str) -> str:
    """Return the text without secrets."""
    # The longest first: one secret may be the beginning of another.
    for secret in sorted(_known, key=len, reverse=True):
        text = text.replace(secret, GONE)
    for pattern in PATTERNS:
        text = pattern.sub(rf"\g<1>{GONE}", text)
    return text
