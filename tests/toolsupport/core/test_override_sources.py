"""Sources are ranked, and a stranger is no source."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from tests.tables import every
from toolsupport.core.override_sources import SOURCES, STORED, outranks

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


@every(("higher", "lower"), list(combinations(PRECEDENCE, 2)))
def test_a_higher_source_beats_each_lower_one_and_never_the_other_way(higher: str, lower: str) -> None:
    assert outranks(higher, lower)
    assert not outranks(lower, higher)


@pytest.mark.parametrize("name", PRECEDENCE)
def test_no_source_beats_itself(name: str) -> None:
    assert not outranks(name, name)


@every(("one", "other"), [*product(["hearsay"], PRECEDENCE), ("profile", "runtime_error")])
def test_a_stranger_has_no_rank(one: str, other: str) -> None:
    with pytest.raises(KeyError):
        outranks(one, other)


def test_every_source_has_words_for_people() -> None:
    assert all(source.name == name and source.word and source.letter for name, source in SOURCES.items())


def test_what_a_row_stores_is_ranked_or_belongs_to_a_conversation() -> None:
    assert set(STORED) - set(SOURCES) == {"runtime_error"}
