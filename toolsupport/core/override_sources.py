"""Ranks the sources of claims about a model."""

from __future__ import annotations

from dataclasses import dataclass

from toolsupport.core.sentences import sentence


@dataclass(frozen=True, slots=True)
class OverrideSource:
    """`rank` 0 is the highest; `letter` marks a cell of the models page; `word` is its name for people."""

    name: str
    rank: int
    letter: str
    word: str
    meaning: str


def _source(name: str, rank: int, letter: str, meaning: str) -> OverrideSource:
    return OverrideSource(name, rank, letter, sentence(f"source_{name}"), meaning)


SOURCES = {
    source.name: source
    for source in (
        _source("session", 0, "C", "decided for this chat only"),
        _source("user_confirmed", 1, "U", "a person set it for everyone"),
        OverrideSource(
            "auto_detected", 2, "A", sentence("source_auto_detected"), "measured on the build that runs now"
        ),
        _source("declared", 3, "D", "the server's own claim"),
        OverrideSource(
            "auto_detected_stale", 4, "A", sentence("source_auto_detected_stale"), "measured on an earlier build"
        ),
        _source("profile", 5, "P", "built-in knowledge about the family"),
        _source("default", 6, "–", "no evidence"),
    )
}

# Values of an Override's `source` column; `runtime_error` rows always have a session.
STORED = ("user_confirmed", "auto_detected", "runtime_error", "declared")
