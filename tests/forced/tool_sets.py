"""Makes sets of tools like those of function-calling benchmarks, each with calls that are right for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from toolsupport.core.types import JSON, ToolSpec
from toolsupport.simulator.fitting.fitting import fitted

VERBS = ("get", "set", "find", "calculate", "convert", "book", "cancel", "list", "compare", "search", "translate")
NOUNS = ("weather", "flight", "route", "price", "invoice", "ticket", "recipe", "area", "playlist", "device", "grade")
WORDS = ("city", "unit", "amount", "limit", "date", "verbose", "tags", "options", "address", "größe", "数量", "type")
CHOICES = ("celsius", "fahrenheit", "low", "medium", "high", "New York, NY", "ä/ö", 'with "quotes"', "", "a\nb")
DEEPEST = 3


@dataclass(frozen=True, slots=True)
class ToolSet:
    """Some tools, and calls each of which one of them allows."""

    tools: tuple[ToolSpec, ...]
    calls: tuple[tuple[str, JSON], ...]


def tool_sets(count: int, seed: int = 20) -> Iterator[ToolSet]:
    """Yield so many sets; a seed gives the same ones each time."""
    return (one_set(Random(f"{seed} {number}")) for number in range(count))


def one_set(chance: Random) -> ToolSet:
    number = chance.choice([1, 1, 1, 1, 2, 2, 3, 3, 4, 5, 8, 13, 30])
    tools = [_tool(chance, place) for place in range(number)]
    calls = [(tool.name, json.loads(fitted(tool.parameters, None, chance))) for tool in tools for _ in range(3)]
    return ToolSet(tuple(tools), tuple(calls))


def _tool(chance: Random, place: int) -> ToolSpec:
    dotted = chance.choice(["", "", "api.", "spotify-"])
    name = f"{dotted}{chance.choice(VERBS)}_{chance.choice(NOUNS)}_{place}"
    parameters = _object(chance, 0)
    if chance.random() < 0.05:
        parameters = {**parameters, "$defs": {"node": _node()}}
        parameters["properties"] = {**parameters["properties"], "tree": {"$ref": "#/$defs/node"}}
    return ToolSpec(name, "Does what its name states.", parameters)


def _node() -> JSON:
    children = {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 2}
    return {"type": "object", "properties": {"name": {"type": "string"}, "children": children}, "required": ["name"]}


def _object(chance: Random, depth: int) -> JSON:
    names = chance.sample(WORDS, chance.randint(0 if depth == 0 else 1, 5))
    properties = {name: _part(chance, depth + 1) for name in names}
    required = [name for name in names if chance.random() < 0.6]
    closed = {"additionalProperties": False} if chance.random() < 0.2 else {}
    return {"type": "object", "properties": properties, "required": required, **closed}


def _part(chance: Random, depth: int) -> JSON:
    made: JSON = chance.choice(KINDS[:-2] if depth >= DEEPEST else KINDS)(chance, depth)
    if chance.random() < 0.1:
        return {"anyOf": [made, {"type": "null"}]}
    return {**made, "description": "One of the arguments."} if chance.random() < 0.5 else made


def _text(chance: Random, _: int) -> JSON:
    more: list[JSON] = [{}, {}, {"minLength": 1}, {"maxLength": 20}, {"pattern": "^[A-Z]{3}$"}, {"format": "date"}]
    return {"type": "string", **chance.choice(more)}


def _whole(chance: Random, _: int) -> JSON:
    more: list[JSON] = [
        {},
        {},
        {"minimum": 0},
        {"minimum": 1, "maximum": 1037},
        {"exclusiveMinimum": 5},
        {"default": 3},
    ]
    return {"type": "integer", **chance.choice(more)}


def _fraction(chance: Random, _: int) -> JSON:
    more: list[JSON] = [{}, {"minimum": -90, "maximum": 90}, {"maximum": -2.5}, {"multipleOf": 0.5}]
    return {"type": "number", **chance.choice(more)}


def _enum(chance: Random, _: int) -> JSON:
    return {"type": "string", "enum": chance.sample(CHOICES, chance.randint(1, 5))}


def _flag(chance: Random, _: int) -> JSON:
    return {"type": chance.choice(["boolean", "boolean", ["boolean", "null"]])}


def _array(chance: Random, depth: int) -> JSON:
    more: list[JSON] = [{}, {}, {"minItems": 1}, {"minItems": 2, "maxItems": 2}, {"maxItems": 3}]
    return {"type": "array", "items": _part(chance, depth + 1), **chance.choice(more)}


def _free(chance: Random, _: int) -> JSON:
    return chance.choice([{"type": "object"}, {"type": "object", "additionalProperties": {"type": "string"}}])


KINDS: tuple[Any, ...] = (_text, _text, _text, _whole, _whole, _fraction, _enum, _enum, _flag, _free, _array, _object)
