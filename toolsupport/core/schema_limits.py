"""Decides whether a check of arguments against a schema is sure to end soon, before the check.

A schema may come from a foreign tool server or from a program with a key. Its work is counted with every reference
written out, as often as it is referred to. What applies to each entry of a list or an object (`items` …) counts for
every part of the arguments: 15,000 objects of an `enum` for 60,000 items did not end. Where several alternatives refer
back to the schema, each level of the arguments multiplies the work: two in an `allOf` took 3 seconds at 16 levels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from toolsupport.core.identity_cache import IdentityCache
from toolsupport.core.json_pointers import pointed_at
from toolsupport.core.schema_keywords import DATA, MAPPINGS
from toolsupport.core.types import JSON, ToolSpec

MOST_CHARACTERS = 128 * 1024
DEEPEST = 100
# Objects and lists of a schema: to compile one takes 3 µs.
MOST_CONTAINERS = 5_500
# The checker takes 50 ns for a step: comparing a value of an enum, applying a schema to a part of the arguments.
MOST_STEPS = 1_000_000
LARGEST = 200_000  # steps of a schema with its references written out
MOST_PARTS = 100_000
# A part of a definition takes as long as so many characters of a text, up to this length.
PART, LONGEST_COUNTED = 16, 128 * 1024
# To describe an error takes 10 µs: among so many steps any number of errors is found soon.
MOST_DESCRIBED = 5_000
# The library matches names of properties itself: their patterns, and characters of names times patterns.
MOST_NAME_PATTERNS, MOST_NAMES, LONGEST_NAME, NAME = 16, 40_000, 256, 30
# Keywords that make one place in the arguments be checked several times.
AGAIN = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "patternProperties"})
# Keywords that apply to any number of parts of the arguments.
EACH = frozenset(
    (
        *("items", "additionalItems", "contains", "unevaluatedItems"),
        *("additionalProperties", "patternProperties", "propertyNames", "unevaluatedProperties"),
    )
)
# Definitions apply where they are referred to.
DEFINITIONS = frozenset({"$defs", "definitions"})
# Keywords that are searched for in every part of a schema.
SPECIAL = frozenset({"$id", "$dynamicRef", "$recursiveRef", "$anchor", "patternProperties"})
COMPARING = frozenset({"enum", "const", "multipleOf"})
# Steps for a value of an enum that is no text and no whole number, and for a division without rounding.
UNHASHED, MULTIPLE = 25, 500


class UnsupportedSchema(ValueError):
    """The schema is not supported; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a part of a schema: all of it, that for each part of the arguments, and references to what is open.

    `again` are such references below AGAIN.
    """

    size: int = 0
    each: int = 0
    cycles: int = 0
    again: int = 0
    branches: bool = False


LEAF = Work(1)


class SchemaBudget:
    """The amount of work that validation against one schema needs."""

    def __init__(self, schema: JSON) -> None:
        """Raise UnsupportedSchema if it would be too much for any arguments."""
        self._root = schema
        self._anchors: dict[str, Any] = {}
        self._known: dict[str, Work] = {}
        self._open = {"#"}
        self._names = 0
        self._survey()
        if self._names > MOST_NAME_PATTERNS:
            raise UnsupportedSchema(f"it has more than {MOST_NAME_PATTERNS} patternProperties")
        self._work = self._count(schema, 0)

    @property
    def branches(self) -> bool:
        """Return whether an error may stand for those of several alternatives."""
        return self._work.branches

    def too_much(self, arguments: JSON, parts: int) -> str:
        """Return why validating these arguments, of so many parts, would exceed the limit, "" if it would not."""
        work = self._work
        if work.again and work.cycles > 1 and work.size * work.cycles ** depth_of(arguments) > LARGEST:
            return "they are nested too deeply for this schema; make them flatter"
        if self.steps(parts) > MOST_STEPS:
            return "they have too many parts for this schema; send less at once"
        return self._long_names(arguments) if self._names else ""

    def _long_names(self, arguments: JSON) -> str:
        names = [name for node in _nodes(arguments) if isinstance(node, dict) for name in node]
        if any(len(name) > LONGEST_NAME for name in names):
            return f"one of their names has more than {LONGEST_NAME} characters"
        too_many = self._names * sum(NAME + len(name) for name in names) > MOST_NAMES
        return "they have too many names for this schema; send less at once" if too_many else ""

    def steps(self, parts: int) -> int:
        """Return an upper limit of the steps of validating arguments of so many parts."""
        # A schema that refers back to itself applies to each part as a whole.
        each = self._work.size if self._work.cycles else self._work.each
        return self._work.size + each * parts if parts < MOST_PARTS else MOST_STEPS + 1

    def _survey(self) -> None:
        """Look at every part of the schema once. Raise UnsupportedSchema if it is too deep or refers elsewhere."""
        level, depth, containers = [self._root], 0, 0
        while level:
            containers += sum(isinstance(node, dict | list) for node in level)
            if containers > MOST_CONTAINERS:
                raise UnsupportedSchema(f"it has more than {MOST_CONTAINERS:,} parts")
            for node in level:
                if type(node) is dict and not SPECIAL.isdisjoint(node):
                    self._note(node)
            level, depth = _inner_level(level), depth + 1
            if depth > DEEPEST + 1:
                raise UnsupportedSchema(f"it is more than {DEEPEST} levels deep")

    def _note(self, node: JSON) -> None:
        """Keep the anchor and count the patterns of a part. References that depend on their place are rejected."""
        if node is not self._root and isinstance(node.get("$id"), str):
            raise UnsupportedSchema("a part of it is a document of its own")
        if any(isinstance(node.get(name), str) for name in ("$dynamicRef", "$recursiveRef")):
            raise UnsupportedSchema("it has references that depend on the place of their use")
        if isinstance(node.get("$anchor"), str):
            self._anchors[f"#{node['$anchor']}"] = node
        patterns = node.get("patternProperties")
        self._names += len(patterns) if isinstance(patterns, dict) else 0

    def _count(self, node: Any, depth: int) -> Work:
        if not isinstance(node, dict | list):
            return LEAF
        if depth > DEEPEST:
            raise UnsupportedSchema(f"it is more than {DEEPEST} levels deep")
        own = self._referred(node, depth) if isinstance(node, dict) else Work()
        size, each, cycles, again, branches = own.size + _own_steps(node), own.each, own.cycles, own.again, own.branches
        for keyword, inner in _keywords(node):
            work, repeated = self._count(inner, depth + 1), keyword in AGAIN
            size += work.size
            each += work.size if keyword in EACH else work.each
            cycles += work.cycles
            again += work.cycles if repeated else work.again
            branches = branches or repeated or work.branches
        if size > LARGEST:
            raise UnsupportedSchema("its references make it too large")
        return Work(size, each, cycles, again, branches)

    def _referred(self, node: JSON, depth: int) -> Work:
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return Work()
        if reference in self._open:
            return Work(1, cycles=1)
        if reference not in self._known:
            self._open.add(reference)
            self._known[reference] = self._count(self._target(reference), depth + 1)
            self._open.discard(reference)
        return self._known[reference]

    def _target(self, reference: str) -> Any:
        """Return the target of a reference within the schema."""
        if reference in self._anchors:
            return self._anchors[reference]
        if not reference.startswith("#/"):
            raise UnsupportedSchema(f"{reference} is outside of the schema")
        return pointed_at(self._root, reference)


def _keywords(node: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a schema that are schemas, or lists of some, with their keywords."""
    if isinstance(node, list):
        yield from (("", inner) for inner in node)
    for keyword, inner in node.items() if isinstance(node, dict) else ():
        if keyword in MAPPINGS and isinstance(inner, dict):
            inner = list(inner.values())
        if keyword not in DATA and keyword not in DEFINITIONS:
            yield keyword, inner


def _own_steps(node: Any) -> int:
    """Return the steps of the keywords of a schema that compare with data, or divide."""
    if isinstance(node, list) or COMPARING.isdisjoint(node):
        return 1
    values = node.get("enum")
    values = values if isinstance(values, list) else []
    return 1 + MULTIPLE * ("multipleOf" in node) + sum(map(_compared, [*values, node.get("const")]))


def _compared(value: Any) -> int:
    """Return the steps of a comparison with one value: texts and whole numbers are found without one."""
    if isinstance(value, dict | list):
        return 2 * parts_of(value)
    return UNHASHED if isinstance(value, float) or (isinstance(value, int) and abs(value) >= 2**53) else 1


def depth_of(value: Any) -> int:
    """Return the number of levels of objects and lists, without recursion."""
    level, depth = [value], 0
    while level := _inner_level(level):
        depth += 1
    return depth


def parts_of(value: Any) -> int:
    """Return the number of values in a JSON value, itself included, at most MOST_PARTS."""
    level, parts = [value], 0
    while level and parts < MOST_PARTS:
        parts += len(level)
        level = _inner_level(level)
    return min(parts, MOST_PARTS)


def size_of(tools: tuple[ToolSpec, ...]) -> int:
    """Return about how many characters of a text take as long as these definitions, at most LONGEST_COUNTED."""
    return _sizes.of(tools)


def _size_of(tools: tuple[ToolSpec, ...]) -> int:
    parts = (node for tool in tools for node in _nodes(tool.parameters))
    return PART * sum(1 for _ in islice(parts, LONGEST_COUNTED // PART))


_sizes: IdentityCache[tuple[ToolSpec, ...], int] = IdentityCache(_size_of, most=64)


def _nodes(value: Any) -> Iterator[Any]:
    waiting = [value]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(_inner(node))


def _inner_level(level: Iterable[Any]) -> list[Any]:
    """Return the values inside these."""
    found: list[Any] = []
    for node in level:
        if isinstance(node, dict):
            found += node.values()
        elif isinstance(node, list):
            found += node
    return found


def _inner(node: Any) -> Iterable[Any]:
    if isinstance(node, dict):
        return node.values()
    return node if isinstance(node, list) else ()
