"""Decides whether a check of arguments against a schema is sure to end soon, before the check.

A schema may come from a foreign tool server. Its size is counted with every reference written out, as often
as it is referred to. Where several of its alternatives refer back to it, each level of the arguments multiplies that:
two such in an `allOf` took 3 seconds at 16 levels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolsupport.core.types import JSON

MOST_CHARACTERS = 256 * 1024
DEEPEST = 100
# A checker does about a million of these in a second.
MOST_STEPS = 200_000
# What lets one place in the arguments be looked at several times.
AGAIN = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "patternProperties"})


class UnsupportedSchema(ValueError):
    """The schema is not supported; the message gives the reason."""


class SchemaBudget:
    """The amount of work that validation against one schema needs."""

    def __init__(self, schema: JSON) -> None:
        """Raise Unbounded if it would be too much for any arguments."""
        self._root = schema
        self._sizes: dict[str, int] = {}
        self._open: set[str] = set()
        self._cycles = 0
        self._size = self._count(schema, 0, False)

    def too_much(self, arguments: JSON) -> bool:
        """Return whether validating these arguments would exceed the limit."""
        return self._cycles > 1 and self._size * self._cycles ** depth_of(arguments) > MOST_STEPS

    def _count(self, node: Any, depth: int, again: bool) -> int:
        """Return the size of a part of the schema; `again` is true within one of AGAIN."""
        if depth > DEEPEST:
            raise UnsupportedSchema(f"it is more than {DEEPEST} levels deep")
        size = 1 + sum(self._count(inner, depth + 1, again or name in AGAIN) for name, inner in _named(node))
        reference = node.get("$ref") if isinstance(node, dict) else None
        if isinstance(reference, str):
            size += self._referred(reference, depth, again)
        if size > MOST_STEPS:
            raise UnsupportedSchema("its references make it too large")
        return size

    def _referred(self, reference: str, depth: int, again: bool) -> int:
        if reference in self._open:
            self._cycles += again
            return 1
        if reference not in self._sizes:
            self._open.add(reference)
            self._sizes[reference] = self._count(_target(self._root, reference), depth + 1, again)
            self._open.discard(reference)
        return self._sizes[reference]


def depth_of(value: Any) -> int:
    """Return the number of levels of objects and lists, without recursion."""
    level, depth = [value], 0
    while level := [inner for node in level for _, inner in _named(node)]:
        depth += 1
    return depth


def _named(node: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(node, dict):
        yield from node.items()
    elif isinstance(node, list):
        yield from enumerate(node)


def _target(root: JSON, reference: str) -> Any:
    """Return the target of a reference within the schema; None for any other, which is rejected elsewhere."""
    found: Any = root if reference.startswith("#") else None
    for step in filter(None, reference.removeprefix("#").split("/")):
        step = step.replace("~1", "/").replace("~0", "~")
        found = found.get(step) if isinstance(found, dict) else None
    return found
