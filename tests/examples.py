"""Decides how much of a large space of cases is tried: a part by day, all of it by night."""

from __future__ import annotations

from hypothesis import settings

BY_DAY, BY_NIGHT = 15, 1000
# A busy machine is no reason for a property to fail.
settings.register_profile("suite", deadline=None, max_examples=BY_DAY)
# What `make nightly` asks for by its name.
settings.register_profile("nightly", deadline=None, max_examples=BY_NIGHT)


def by_night() -> bool:
    return settings.get_current_profile_name() == "nightly"


def at_least(count: int) -> int:
    """So many examples by day for a property that `BY_DAY` are too few, or too costly, for."""
    return BY_NIGHT if by_night() else count
