"""Finds models whose running build differs from the tested one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from toolsupport.models import ModelProfile, Override


def kinds(profiles: Sequence[ModelProfile]) -> Mapping[int, frozenset[str]]:
    """Return the kinds of tests to repeat, by model id; models without any are left out.

    One query. The rows must be read with their servers. An undone test does not count, and a full test of the running
    build leaves nothing to repeat.
    """
    if not profiles:
        return {}
    builds = {profile.pk: profile.build.key for profile in profiles}
    measured = Override.objects.filter(
        profile__in=builds, source="auto_detected", session="", withdraws=None, withdrawn_by=None
    )
    here: defaultdict[int, set[str]] = defaultdict(set)
    elsewhere: defaultdict[int, set[str]] = defaultdict(set)
    found_on = measured.order_by().values_list("profile_id", "build_key", "detection__kind").distinct()
    for profile, build, kind in found_on:
        # What was imported comes without a test of ours.
        (here if build == builds[profile] else elsewhere)[profile].add(kind or "tools")
    return {
        profile: frozenset(found - here[profile])
        for profile, found in elsewhere.items()
        if "tools" not in here[profile] and found - here[profile]
    }


def is_stale(profile: ModelProfile) -> bool:
    """Return whether this model should be tested again."""
    return profile.pk in kinds([profile])
