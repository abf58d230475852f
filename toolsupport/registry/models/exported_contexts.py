"""Fills in the contexts of a model under the names of an exported file."""

from __future__ import annotations

from typing import Any

from toolsupport.models import ModelProfile

FIELD = "context_profiles"
DEFAULT, TRAINED = "default", "trained"


def fill(profile: ModelProfile) -> None:
    """Write them from the server's details; profiles that a person imported stay."""
    if profile.context_length is None or not _ours(profile.extra.get(FIELD)):
        return
    default = min(profile.default_context, profile.context_length)
    profile.extra = profile.extra | {
        FIELD: [{"name": DEFAULT, "num_ctx": default}, {"name": TRAINED, "num_ctx": profile.context_length}]
    }


def _ours(given: Any) -> bool:
    """Return True for none, and for those that this module wrote."""
    if not given:
        return True
    return all(isinstance(one, dict) and one.get("name") in (DEFAULT, TRAINED) and len(one) == 2 for one in given)
