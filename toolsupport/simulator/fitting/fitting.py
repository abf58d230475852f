"""Generates a value that fits a JSON schema, as close to a model's intention as the schema permits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from toolsupport.simulator.fitting import scalars
from toolsupport.simulator.types import JSON, SimulatedCall

DEEPEST = 12  # levels; below them only required properties are written
SOMETIMES = 0.3  # probability of an optional property
MOST_ITEMS = 3
TRIES = 20  # attempts to draw items that differ
NOTHING = object()


@dataclass(frozen=True, slots=True)
class Intention:
    """What a model intends to reply: calls, or else a text."""

    calls: tuple[SimulatedCall, ...] = ()
    text: str = ""


def fitted(schema: JSON, intention: Intention | None, chance: Random) -> str:
    """Return JSON that fits the schema, with keys in its order; without an intention the values are noise."""
    value = SchemaWalk(schema, chance).value(schema, NOTHING if intention is None else intention)
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class SchemaWalk:
    """One walk through a schema; `root` is where its references point."""

    root: JSON
    chance: Random

    def value(self, schema: Any, wish: Any, depth: int = 0) -> Any:
        """Return a value that fits this part of the schema."""
        part = self._resolved(schema)
        if "const" in part:
            return part["const"]
        if part.get("enum"):
            return self._chosen(part["enum"], wish)
        branches = part.get("anyOf") or part.get("oneOf")
        if branches:
            own = {name: inner for name, inner in part.items() if name not in ("anyOf", "oneOf")}
            branch = self._resolved(self._branch(branches, wish, depth))
            return self.value(_merged(own, branch) if own.get("properties") else branch, wish, depth)
        return self._of_kind(part, wish, depth)

    def _of_kind(self, part: JSON, wish: Any, depth: int) -> Any:
        kind = self._kind(part, wish)
        if kind == "object":
            return self._object(part, wish, depth)
        if kind == "array":
            return self._array(part, wish, depth)
        if kind == "string":
            return scalars.text(part, wish.text or NOTHING if isinstance(wish, Intention) else wish, self.chance)
        if kind == "boolean":
            return wish if isinstance(wish, bool) else self.chance.random() < 0.5
        draw = {"integer": scalars.integer, "number": scalars.number}.get(kind)
        return draw(part, wish, self.chance) if draw else None

    def _resolved(self, schema: Any) -> JSON:
        """Follow references and join `allOf`."""
        for _ in range(DEEPEST):
            if not isinstance(schema, dict) or "$ref" not in schema:
                break
            schema = _at(self.root, schema["$ref"])
        if not isinstance(schema, dict):
            return {} if schema is not False else {"type": "null"}
        joined: JSON = {name: part for name, part in schema.items() if name != "allOf"}
        for more in schema.get("allOf") or ():
            joined = _merged(joined, self._resolved(more))
        return joined

    def _kind(self, part: JSON, wish: Any) -> str:
        given = part.get("type")
        kinds = [given] if isinstance(given, str) else [kind for kind in given or () if isinstance(kind, str)]
        if not kinds:
            kinds = ["object"] if "properties" in part else ["array"] if "items" in part else ["string"]
        wished = {str: "string", dict: "object", list: "array", int: "integer", float: "number", bool: "boolean"}
        meant = wished.get(type(wish), "")
        if meant in kinds:
            return meant
        return next((kind for kind in kinds if kind != "null"), "null")

    def _chosen(self, options: Sequence[Any], wish: Any) -> Any:
        named = [call.name for call in wish.calls] if isinstance(wish, Intention) else [wish]
        meant = [option for option in options if any(option is name or option == name for name in named)]
        return meant[0] if meant else self.chance.choice(options)

    def _branch(self, branches: Sequence[Any], wish: Any, depth: int) -> Any:
        """Return the branch that suits the intention best; beyond the deepest level a short one."""
        if depth > DEEPEST:
            return min(branches, key=lambda branch: len(json.dumps(branch)) + 10_000 * ("$ref" in branch))
        suits = [self._suits(self._resolved(branch), wish) for branch in branches]
        best = [branch for branch, points in zip(branches, suits, strict=True) if points == max(suits)]
        return self.chance.choice(best)

    def _suits(self, branch: JSON, wish: Any) -> int:
        properties = branch.get("properties")
        named = properties if isinstance(properties, dict) else {}
        if isinstance(wish, Intention):
            fixed = [name for part in named.values() for name in _constants(self._resolved(part))]
            if wish.calls:
                return 2 * (wish.calls[0].name in fixed) + (json.dumps(wish.calls[0].name) in json.dumps(branch))
            return int(not fixed and any(self._resolved(part).get("type") == "string" for part in named.values()))
        if isinstance(wish, dict):
            return len(wish.keys() & named.keys())
        return int(wish is not NOTHING and self._kind(branch, wish) == self._kind({}, wish))

    def _object(self, part: JSON, wish: Any, depth: int) -> JSON:
        properties = part.get("properties")
        named = properties if isinstance(properties, dict) else {}
        required = [name for name in part.get("required") or () if isinstance(name, str)]
        keys = [*named, *(name for name in required if name not in named)]
        made = {}
        for name in keys:
            inner = named.get(name, {})
            meant = self._inner(name, inner, wish)
            drawn = wish is NOTHING and depth < DEEPEST and self.chance.random() < SOMETIMES
            if name in required or drawn or (meant is not NOTHING and not isinstance(wish, Intention)):
                made[name] = self.value(inner, meant, depth + 1)
        return made or self._free(part, wish)

    def _free(self, part: JSON, wish: Any) -> JSON:
        """Return an object without named properties: the intended one, or the required number of noise keys."""
        if isinstance(wish, dict) and not part.get("properties") and part.get("additionalProperties") is not False:
            return wish
        more = part.get("additionalProperties")
        count = int(part.get("minProperties") or 0)
        return {f"key{number}": self.value(more or {"type": "string"}, NOTHING, DEEPEST) for number in range(count)}

    def _inner(self, name: str, schema: Any, wish: Any) -> Any:
        """Return the intended value of one property."""
        if isinstance(wish, dict):
            return wish.get(name, NOTHING)
        if not isinstance(wish, Intention):
            return NOTHING
        call = wish.calls[0] if wish.calls else None
        part = self._resolved(schema)
        if call is None or self._kind(part, NOTHING) == "array" or _constants(part):
            return wish
        if json.dumps(call.name) in json.dumps(part.get("properties", {})):
            return wish
        return call.arguments if self._kind(part, NOTHING) == "object" else Intention(text=wish.text)

    def _array(self, part: JSON, wish: Any, depth: int) -> list[Any]:
        least = int(part.get("minItems") or 0)
        most = int(part.get("maxItems", least + MOST_ITEMS))
        intended: list[Any] = wish if isinstance(wish, list) else []
        if isinstance(wish, Intention):
            intended = [Intention((call,)) for call in wish.calls]
        count = (
            len(intended) if intended else self.chance.randint(least, max(least, most if depth < DEEPEST else least))
        )
        intended = [*intended, *([NOTHING] * count)][: max(least, min(count, most))]
        first = part.get("prefixItems") or []
        items = part.get("items", {})
        made = [self.value(first[n] if n < len(first) else items, meant, depth + 1) for n, meant in enumerate(intended)]
        if not part.get("uniqueItems"):
            return made
        more = (self.value(items, NOTHING, depth + 1) for _ in range(TRIES))
        return _unique([*made, *more])[: max(len(_unique(made)), least)]


def _unique(values: list[Any]) -> list[Any]:
    seen = {json.dumps(value, sort_keys=True): value for value in values}
    return list(seen.values())


def _constants(part: JSON) -> list[Any]:
    return [part["const"]] if "const" in part else list(part.get("enum") or ())


def _merged(one: JSON, other: JSON) -> JSON:
    joined = {**one, **other}
    if one.get("properties") and other.get("properties"):
        joined["properties"] = {**one["properties"], **other["properties"]}
    joined["required"] = [*(one.get("required") or ()), *(other.get("required") or ())]
    return joined


def _at(root: Any, pointer: Any) -> Any:
    """Return what a local reference points to; an empty schema if it points to nothing."""
    found = root
    for step in str(pointer).removeprefix("#").strip("/").split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        found = found.get(name, {}) if isinstance(found, dict) and name else found
    return found
