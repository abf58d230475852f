"""Finds the part of a schema that a reference within it points at."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from toolsupport.core.types import JSON

LONGEST_INDEX = 5  # digits


def pointed_at(root: JSON, reference: str) -> Any:
    """Return what `#/a/0/b` points at; None for what is not there, or outside of the schema.

    Generators point at any place: at the schema as a whole (`#`), at the alternative of an `anyOf` by its number.
    """
    if reference == "#":
        return root
    if not reference.startswith("#/"):
        return None
    found: Any = root
    for step in reference.removeprefix("#/").split("/"):
        step = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(found, list):
            found = found[int(step)] if _is_index(step, found) else None
        else:
            found = found.get(step) if isinstance(found, dict) else None
    return found


def _is_index(step: str, found: list[Any]) -> bool:
    return step.isdecimal() and len(step) <= LONGEST_INDEX and int(step) < len(found)
