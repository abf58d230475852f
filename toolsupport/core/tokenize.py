"""Splits names and sentences into the words that a search compares."""

from __future__ import annotations

import re
import unicodedata

# The first part of a pasted book is enough to find its subject.
MOST_CHARACTERS = 4000

# _ and - stand between words, and so does the change from letters to digits: utf8 → utf, 8.
WORD = re.compile(r"\d+|[^\W\d_]+")
# HTTPServer → HTTP, Server; listOpenIssues → list, Open, Issues.
CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")

# They occur in every sentence and do not distinguish tools.
_FILLERS = """
a an the this that these those it its is are was were be been am do does did can could may might shall should
will would must i me my mine we us our you your he she they them their who whom whose which what how when where
why there here and or but if then else than so as at by for from in into of off on onto out over to under up with
without about please want need let lets s t m ll re ve d not no any some all each every just also too very tell
give show
"""
FILLERS = frozenset(_FILLERS.split())

# Synonyms that people use for words of tools.
ALIKE = (
    ("delete", "remove", "erase", "drop", "discard", "trash", "rid"),
    ("create", "make", "add", "new", "insert", "file"),
    ("list", "enumerate", "browse", "overview"),
    ("get", "fetch", "read", "retrieve", "load", "view", "see", "look"),
    ("navigate", "open", "visit"),
    ("search", "find", "query", "lookup", "locate"),
    ("update", "change", "edit", "modify", "alter", "set", "adjust", "replace"),
    ("send", "post", "publish", "reply"),
    ("write", "save", "store"),
    ("comment", "reply", "answer"),
    ("run", "execute", "launch", "trigger", "invoke", "start"),
    ("move", "rename", "relocate"),
    ("copy", "duplicate", "clone"),
    ("directory", "folder"),
    ("picture", "image", "photo", "screenshot"),
    ("compare", "diff", "difference"),
    ("size", "big", "large"),
    ("memory", "remember", "recall"),
    ("forget", "delete"),
    ("remember", "create"),
    ("email", "mail", "message", "inbox"),
    ("message", "dm", "chat"),
    ("issue", "ticket", "bug"),
    ("appointment", "event", "meeting", "calendar", "schedule"),
    ("person", "user", "people", "member", "contact", "colleague"),
    ("repository", "repo", "project"),
    ("pull", "pr", "merge"),
    ("weather", "forecast", "rain", "temperature", "umbrella"),
    ("money", "payment", "charge", "pay"),
    ("bill", "invoice"),
    ("website", "site", "page", "web", "url", "https"),
    ("log", "output", "history"),
    ("direction", "route", "way"),
    ("convert", "transform", "turn", "translate"),
)

_IRREGULAR = {"people": "people", "children": "child", "indices": "index", "indexes": "index", "queries": "query"}


def terms(text: str) -> list[str]:
    """Return the words of a text in their base form, in order: `listOpenIssues` gives list, open, issue."""
    plain = unicodedata.normalize("NFKC", text[:MOST_CHARACTERS])[:MOST_CHARACTERS]  # one letter can become eighteen
    words = (part.casefold() for word in WORD.findall(plain) for part in _parts(word))
    return [stem(word) for word in words if word not in FILLERS]


def _parts(word: str) -> list[str]:
    return CAMEL.findall(word) if word.isascii() and word.isalpha() else [word]


def stem(word: str) -> str:
    """Return an approximate base form of an English word: files, file; running, run; copied, copy."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes")):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return _without_verb_ending(word)


def _without_verb_ending(word: str) -> str:
    if len(word) > 4 and word.endswith("ied"):
        return f"{word[:-3]}y"
    for ending in ("ing", "ed"):
        kept = word.removesuffix(ending)
        if kept != word and len(kept) > 2 and any(letter in "aeiouy" for letter in kept):
            return _undoubled(kept)
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


def _undoubled(word: str) -> str:
    """Return run for `runn`, but leave `call` and `miss`."""
    doubled = len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz"
    return word[:-1] if doubled else word


_GROUPS: dict[str, set[str]] = {}
for _group in ALIKE:
    for _word in map(stem, _group):
        _GROUPS.setdefault(_word, set()).update(map(stem, _group))


def alike(words: list[str]) -> list[str]:
    """Return synonyms of the given words, without the words themselves."""
    others = {other for word in words for other in _GROUPS.get(word, ())}
    return sorted(others - set(words))
