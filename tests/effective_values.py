"""Reads an effective value of a model, for tests of one capability."""

from __future__ import annotations

from toolsupport.core.types import Capability
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import effective_values


def holding(profile: ModelProfile | str, capability: str = "tools") -> Capability:
    """One capability of a model (its row, which is read again, or its name), for everyone."""
    wanted = {"name": profile} if isinstance(profile, str) else {"pk": profile.pk}
    return effective_values.known(ModelProfile.objects.select_related("server").get(**wanted))[capability]
