"""Ranks the sources of claims about a model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OverrideSource:
    """`rank` 0 is the highest; `letter` marks a cell of the models page; `word` is its name for people."""

    name: str
    rank: int
    letter: str
    word: str
    meaning: str


SOURCES = {
    source.name: source
    for source in (
        OverrideSource("session", 0, "C", "this chat", "decided for this chat only"),
        OverrideSource("user_confirmed", 1, "U", "person", "a person set it for everyone"),
        OverrideSource("auto_detected", 2, "A", "test", "measured on the build that runs now"),
        OverrideSource("declared", 3, "D", "server", "the server's own claim"),
        OverrideSource("auto_detected_stale", 4, "A", "test of an older build", "measured on an earlier build"),
        OverrideSource("profile", 5, "P", "profile", "built-in knowledge about the family"),
        OverrideSource("default", 6, "–", "built-in default", "no evidence"),
    )
}

# What may stand in an Override's `source` column; `runtime_error` rows always carry a session.
STORED = ("user_confirmed", "auto_detected", "runtime_error", "declared")


def outranks(one: str, other: str) -> bool:
    """Return True if source `one` has precedence over source `other`. Raises KeyError for an unknown source."""
    return SOURCES[one].rank < SOURCES[other].rank
