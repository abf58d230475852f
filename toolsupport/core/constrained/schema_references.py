"""Finds what the references within a schema refer to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolsupport.core.json_pointers import pointed_at
from toolsupport.core.types import JSON

MOST_STEPS = 16  # from one reference to the next


def references(schema: JSON) -> Iterator[str]:
    """Yield every reference of a schema."""
    waiting: list[Any] = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if isinstance(node.get("$ref"), str):
                yield node["$ref"]
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def target(root: JSON, reference: Any) -> JSON | None:
    """Return the schema that a reference leads to; None if it is none, leads elsewhere, or only to itself."""
    for _ in range(MOST_STEPS):
        found = pointed_at(root, reference) if isinstance(reference, str) else None
        if not isinstance(found, dict):
            return None
        if not isinstance(found.get("$ref"), str):
            return found
        reference = found["$ref"]
    return None
