"""Stores whether the replies of a model's build begin inside reasoning, as its template or its replies showed."""

from __future__ import annotations

from toolsupport.core import families
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import effective_values

FIELDS = ("begins_inside", "begins_inside_build")


def known(profile: ModelProfile) -> bool | None:
    """Return the build's value, else its family's; None if unknown."""
    seen = _seen(profile)
    if seen is not None:
        return seen
    family = effective_values.family_of(profile)
    return families.begins_inside(family, profile.name) if family else None


def learn(profile_id: int, build_key: str, inside: bool) -> None:
    """Store the finding from a reply of this build: the newest counts. One statement."""
    ModelProfile.objects.filter(pk=profile_id).update(begins_inside=inside, begins_inside_build=build_key)


def hint(profile: ModelProfile, inside: bool | None) -> None:
    """Set the finding from the template of its build (not saved yet); an observed reply has precedence."""
    if inside is not None and _seen(profile) is None:
        profile.begins_inside, profile.begins_inside_build = inside, profile.build.key


def _seen(profile: ModelProfile) -> bool | None:
    return profile.begins_inside if profile.begins_inside_build == profile.build.key else None
