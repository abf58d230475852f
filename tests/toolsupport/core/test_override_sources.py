"""Sources are ranked."""

from __future__ import annotations

from toolsupport.core.override_sources import SOURCES, STORED

# D3, M3: highest first.
PRECEDENCE = (
    "session",
    "user_confirmed",
    "auto_detected",
    "declared",
    "auto_detected_stale",
    "profile",
    "default",
)


def test_the_ranks_are_the_precedence() -> None:
    assert tuple(sorted(SOURCES, key=lambda name: SOURCES[name].rank)) == PRECEDENCE


def test_every_source_has_words_for_people() -> None:
    assert all(source.name == name and source.word and source.letter for name, source in SOURCES.items())


def test_what_a_row_stores_is_ranked_or_belongs_to_a_conversation() -> None:
    assert set(STORED) - set(SOURCES) == {"runtime_error"}
