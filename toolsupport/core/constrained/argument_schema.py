"""Reduces the schema of a tool's arguments to what every server with constrained output understands.

In: any JSON Schema, also a hostile one. Out: one that uses only `type`, `properties`, `required`,
`additionalProperties`, `items`, `enum`, `anyOf`, `$ref` to its own definitions, small bounds, keywords of the rules.
- It never forbids arguments that the tool's own schema allows, except undeclared ones where none are expected.
- What cannot be expressed is left out (`format`, `not`, `if` …): the call is checked afterwards anyway.
- A value that nothing can satisfy would make servers refuse the request, so contradicting bounds are left out too.
- Large bounds are left out: llama.cpp gives up on a grammar with thousands of repetitions, and enforces nothing then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from toolsupport.core.constrained.endless_schemas import finite_definitions
from toolsupport.core.constrained.plain_values import bounds, is_plain, plain_values
from toolsupport.core.constrained.scalar_schema import BASIC, SchemaRules, integer, number, text
from toolsupport.core.constrained.schema_merging import merged
from toolsupport.core.constrained.schema_references import references, target
from toolsupport.core.types import JSON

DEEPEST = 24
MOST_PARTS = 1_500  # of one tool
MOST_PROPERTIES = 128
MOST_BRANCHES = 64
LONGEST_LIST = 32
TYPES = ("object", "array", "string", "number", "boolean", "null")
# Keywords by which an object may have properties that are not declared beside it.
OPENING = frozenset(
    {"patternProperties", "unevaluatedProperties", "dependentSchemas", "if", "then", "else", "$dynamicRef", "not"}
)


class TooManyParts(ValueError):
    """The schema has more parts than a server should compile."""


def anything() -> JSON:
    return {"type": list(TYPES)}


class ArgumentSchema:
    """The reduced `schema` of the arguments of one tool with the `definitions` it refers to, named by `prefix`.

    `left` is what remains of the allowed number of parts. Raises TooManyParts.
    """

    def __init__(self, parameters: JSON, prefix: str, left: int, rules: SchemaRules = BASIC) -> None:
        self._root = parameters
        self.rules = rules
        self._prefix = prefix
        self._budget = min(left, MOST_PARTS)
        self._names: dict[str, str] = {}
        self._open: list[str] = ["#"]
        self._uses = Counter(references(parameters))
        self.definitions: dict[str, JSON] = {}
        before = self._budget
        self.schema = self._arguments(parameters)
        for name in set(self.definitions) - finite_definitions(self.definitions):
            self.definitions[name] = anything()
        self.left = left - (before - self._budget)

    def _arguments(self, parameters: JSON) -> JSON:
        """Return the schema of the whole: an object, and any one where the tool neither declares nor forbids some."""
        declares = ("properties", "required", "additionalProperties", *RULES, *OPENING)
        if not any(parameters.get(keyword) for keyword in declares):
            others = parameters.get("additionalProperties") is not False
            return {"type": "object", "properties": {}, "required": [], "additionalProperties": others}
        found = self._reduced({"type": "object"} | parameters, 0)
        is_object = found.get("type") == "object" or "$ref" in found or "anyOf" in found
        return found if is_object else {"type": "object"}

    def _reduced(self, node: Any, depth: int) -> JSON:
        self._budget -= 1
        if self._budget < 0:
            raise TooManyParts
        if not isinstance(node, dict) or depth > DEEPEST:
            return anything()
        if node.get("nullable") is True and depth:  # as OpenAPI 3.0 allows null
            rest = {keyword: value for keyword, value in node.items() if keyword != "nullable"}
            return _union([self._reduced(rest, depth + 1), {"type": "null"}])
        for keyword, rule in RULES.items():
            if keyword in node:
                return rule(self, node, depth)
        return self._typed(node, depth)

    def _referred(self, node: JSON, depth: int) -> JSON:
        """Inline a reference that is the only one; one that recurs, or is used again, becomes a definition."""
        reference = node["$ref"]
        found = target(self._root, reference)
        if found is None:
            return anything()
        if reference not in self._open and reference not in self._names and self._uses[reference] == 1:
            self._open.append(reference)
            written = self._reduced(found, depth + 1)
            self._open.remove(reference)
            return written
        if reference not in self._names:
            name = self._names[reference] = f"{self._prefix}{len(self._names) + 1}"
            self.definitions[name] = self._reduced(found, depth + 1)
        return {"$ref": f"#/$defs/{self._names[reference]}"}

    def _listed(self, node: JSON, depth: int) -> JSON:
        given = node["enum"] if "enum" in node else [node.get("const")]
        values = plain_values(given, node.get("type"))
        if not values:
            rest = {keyword: value for keyword, value in node.items() if keyword not in ("enum", "const")}
            return self._reduced(rest, depth)
        self._budget -= len(values) // 8
        only_texts = all(isinstance(value, str) for value in values)
        return {**({"type": "string"} if only_texts else {}), "enum": values}

    def _all_of(self, node: JSON, depth: int) -> JSON:
        rest = {keyword: value for keyword, value in node.items() if keyword != "allOf"}
        parts = [target(self._root, part.get("$ref")) or part for part in _schemas(node["allOf"])]
        both = merged([rest, *parts])
        return self._reduced(both if both is not None else _open_object(rest), depth + 1)

    def _any_of(self, node: JSON, depth: int) -> JSON:
        given = [*_schemas(node.get("anyOf")), *_schemas(node.get("oneOf"))]
        rest = {keyword: value for keyword, value in node.items() if keyword not in ("anyOf", "oneOf")}
        if not given or len(given) > MOST_BRANCHES or ("anyOf" in node and "oneOf" in node):
            return self._reduced(_open_object(rest), depth + 1)
        own = [keyword for keyword in ("properties", "required", "type") if keyword in rest]
        branches: list[JSON] = []
        for part in given:
            whole = merged([rest, target(self._root, part.get("$ref")) or part]) if own else part
            if whole is None:
                return self._reduced(_open_object(rest), depth + 1)
            branches.append(self._reduced(whole, depth + 1))
        return _union(branches)

    def _typed(self, node: JSON, depth: int) -> JSON:
        kinds = node.get("type", _inferred(node))
        if isinstance(kinds, list):
            branches = [self._of_type(kind, node, depth) for kind in dict.fromkeys(filter(_is_text, kinds))]
            return _union(branches) if branches else anything()
        return self._of_type(kinds, node, depth)

    def _of_type(self, kind: Any, node: JSON, depth: int) -> JSON:
        write = WRITERS.get(kind) if isinstance(kind, str) else None
        return write(self, node, depth) if write else anything()

    def _object(self, node: JSON, depth: int) -> JSON:
        declared = node.get("properties")
        declared = declared if isinstance(declared, dict) else {}
        known = {name: part for name, part in declared.items() if part is not False and is_plain(name)}
        needed = node.get("required")
        required = [name for name in dict.fromkeys(filter(_is_text, needed if isinstance(needed, list) else ()))]
        if len(known) > MOST_PROPERTIES or not all(name in known for name in required):
            return {"type": "object"}
        others = self._others(node, bool(known), depth)
        if not known and others is not False:
            return {"type": "object", **({"additionalProperties": others} if isinstance(others, dict) else {})}
        properties = {name: self._reduced(part, depth + 1) for name, part in known.items()}
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": others}

    def _others(self, node: JSON, declares: bool, depth: int) -> JSON | bool:
        """Return the schema of undeclared properties; False if none are expected."""
        others = node.get("additionalProperties")
        if not OPENING.isdisjoint(node):
            return True
        if isinstance(others, dict) and others:
            return self._reduced(others, depth + 1)
        return others is not False and (others is True or others == {} or not declares)

    def _array(self, node: JSON, depth: int) -> JSON:
        if isinstance(node.get("prefixItems"), list) or not isinstance(node.get("items", {}), dict):
            return {"type": "array"}
        items = self._reduced(node["items"], depth + 1) if node.get("items") else anything()
        return {"type": "array", "items": items, **bounds(node, ("minItems", "maxItems"), LONGEST_LIST)}


Rule = Callable[[ArgumentSchema, JSON, int], JSON]
# The first keyword that a schema has decides how it is read.
RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "$ref": ArgumentSchema._referred,
        "const": ArgumentSchema._listed,
        "enum": ArgumentSchema._listed,
        "allOf": ArgumentSchema._all_of,
        "anyOf": ArgumentSchema._any_of,
        "oneOf": ArgumentSchema._any_of,
    }
)
WRITERS: Mapping[str, Rule] = MappingProxyType(
    {
        "object": ArgumentSchema._object,
        "array": ArgumentSchema._array,
        "string": lambda reader, node, _depth: text(node, reader.rules),
        "number": lambda reader, node, _depth: number(node, reader.rules),
        "integer": lambda reader, node, _depth: integer(node, reader.rules),
        "boolean": lambda _reader, _node, _depth: {"type": "boolean"},
        "null": lambda _reader, _node, _depth: {"type": "null"},
    }
)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _inferred(node: JSON) -> str:
    """Return the type that the keywords of a schema without one suggest, "" for none."""
    if "properties" in node or "additionalProperties" in node or "required" in node:
        return "object"
    return "array" if "items" in node or "prefixItems" in node else ""


def _schemas(given: Any) -> Iterator[JSON]:
    yield from (part for part in given if isinstance(part, dict)) if isinstance(given, list) else ()


def _open_object(node: JSON) -> JSON:
    """Return the schema, with properties that are not declared in it if it is one of an object."""
    return {**node, "additionalProperties": True} if _inferred(node) == "object" else node


def _union(branches: list[JSON]) -> JSON:
    """Return the schema of any of these: each once, and a single one as it is."""
    different: list[JSON] = []
    for branch in branches:
        if branch == anything():
            return anything()
        if branch not in different:
            different.append(branch)
    return different[0] if len(different) == 1 else {"anyOf": different}
