"""Where a claim about a model may come from, ranked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """`rank` 0 is the highest; `letter` marks a cell of the models page; `word` is what people read."""

    name: str
    rank: int
    letter: str
    word: str
    meaning: str


SOURCES = {
    source.name: source
    for source in (
        Source("session", 0, "C", "this chat", "decided for this conversation only"),
        Source("user_confirmed", 1, "U", "confirmed", "a person decided it for everyone"),
        Source("auto_detected", 2, "A", "tested", "measured on the build that runs now"),
        Source("declared", 3, "D", "declared", "the server says so"),
        Source("auto_detected_stale", 4, "A", "tested on an older build", "measured on a build that is gone"),
        Source("profile", 5, "P", "profile", "the family table says so"),
        Source("default", 6, "–", "default", "nobody said anything"),
    )
}

# What may stand in an Override's `source` column; `runtime_error` rows always carry a session.
STORED = ("user_confirmed", "auto_detected", "runtime_error", "declared")


def outranks(one: str, other: str) -> bool:
    """True when a claim from source `one` beats a claim from source `other`. Raises KeyError for a stranger."""
    return SOURCES[one].rank < SOURCES[other].rank
