"""Finds models whose running build differs from the tested one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import effective_values


def kinds(profiles: Sequence[ModelProfile]) -> Mapping[int, frozenset[str]]:
    """Return the kinds of tests to repeat, by model id; models without any are left out.

    The rows must be read with their servers.
    """
    known = effective_values.known_of_each(profiles)
    return {pk: found.older for pk, found in known.items() if found.older}
