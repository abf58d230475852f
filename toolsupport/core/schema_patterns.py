"""Checks the patterns of a schema within a limit of work, for any pattern and any text.

The engine of `jsonschema_rs` takes 7 µs a character for some short patterns, and minutes for lookarounds in others. So
`pattern` is renamed before a schema is compiled, and checked here: by the linear engine where that can, by the
backtracking one on short texts otherwise. Beyond the limits a text counts as fitting: the tool checks it again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from typing import Any

import jsonschema_rs

from toolsupport.core.schema_keywords import DATA, MAPPINGS
from toolsupport.core.schema_limits import UnsupportedSchema
from toolsupport.core.types import JSON

KEYWORD = "toolsupport:pattern"
# The cost of all that is matched in one check. A short pattern of the linear engine costs at most 1.5 µs a character.
MOST_COST = 40_000
# Different patterns of one schema that are checked, until so many of them are large or backtrack.
MOST_PATTERNS, MOST_LARGE = 200, 16
# A backtracking pattern takes several characters' time for each. Each of its steps may read the whole text, so a long
# text has fewer of them. What needs more steps fits nothing.
FANCY_COST, LONG, STEPS, STEPS_OF_LONG = 6, 500, 2_000, 100
LARGE_COST = 40
KIB = 1024
# Keywords beside `type` that can refuse null too.
RESTRICTING = frozenset({"$ref", "allOf", "anyOf", "oneOf", "const", "not", "if"})
# The linear engine with limits of memory, and the cost of a character in a pattern of that size.
TIERS = tuple(
    (jsonschema_rs.RegexOptions(size_limit=size * KIB, dfa_size_limit=KIB * KIB), cost)
    for size, cost in ((16, 1), (64, 5), (1024, LARGE_COST))
)
# Lookarounds and references back.
FANCY, FANCY_LONG = (
    jsonschema_rs.FancyRegexOptions(backtrack_limit=steps, size_limit=1024 * KIB, dfa_size_limit=KIB * KIB)
    for steps in (STEPS, STEPS_OF_LONG)
)
# A list as `items`, and bounds that are switches (`"exclusiveMinimum": true`).
OLDER_DRAFTS = (jsonschema_rs.Draft7Validator, jsonschema_rs.Draft4Validator)
# What browsers take as it is meant in a pattern and the engine does not: a hyphen beside a class within brackets
# (`[\w-.]`), a brace that counts nothing (`^{.*}$`).
HYPHEN, BRACE = re.compile(r"(\\[wdsWDS])-(?=[^\]])"), re.compile(r"(?<!\\)\{(?!\d+(?:,\d*)?\})")
# The library matches names of properties itself, and checks that the patterns of a schema are some.
NAMES = jsonschema_rs.FancyRegexOptions(backtrack_limit=1_000, size_limit=32 * KIB, dfa_size_limit=KIB * KIB)

_left: ContextVar[int] = ContextVar("the cost that this check may still have", default=MOST_COST)


@dataclass(frozen=True, slots=True)
class CompiledPattern:
    """A pattern for short and for long texts, with the cost of matching one character."""

    short: jsonschema_rs.Validator
    long: jsonschema_rs.Validator
    cost: int


def begin_check() -> None:
    """Give the next check of arguments its whole allowance."""
    _left.set(MOST_COST)


class PatternKeyword:
    """The keyword `pattern`. It holds no compiled pattern, which may have a megabyte: validators are kept for long."""

    def __init__(self, parent: Any, value: Any, path: list[Any]) -> None:
        self._pattern = value

    def validate(self, instance: Any) -> None:
        """Raise ValueError if a text does not fit."""
        if isinstance(instance, str) and isinstance(self._pattern, str) and not fits(self._pattern, instance):
            raise ValueError(f'"{instance}" does not match "{self._pattern}"')


def fits(pattern: str, text: str) -> bool:
    """Return whether a text fits, also if finding that out would cost too much."""
    found = _compiled(pattern)
    if isinstance(found, str):
        return True
    left = _left.get() - (10 + len(text)) * found.cost
    if left < 0:
        return True
    _left.set(left)
    return (found.long if len(text) > LONG else found.short).is_valid(text)


def compiled(schema: JSON, retriever: Callable[[str], Any]) -> jsonschema_rs.Validator:
    """Compile a schema with bounded patterns. Raises ValueError with the reason why it cannot be used.

    Programs leave out which draft of JSON Schema they use: what the present one does not allow may fit an older one.
    """
    # The arguments as a whole are always an object.
    renamed = _renamed({name: value for name, value in schema.items() if name != "nullable"}, _CheckedPatterns())
    compile_with = partial(_compile, renamed, retriever)
    try:
        return compile_with(jsonschema_rs.validator_for)
    except jsonschema_rs.ValidationError:
        for older in OLDER_DRAFTS if "$schema" not in schema and isinstance(schema.get("$defs", {}), dict) else ():
            with suppress(jsonschema_rs.ValidationError):
                return compile_with(older)
        raise


def _compile(schema: JSON, retriever: Callable[[str], Any], draft: Callable[..., Any]) -> jsonschema_rs.Validator:
    """Compile a schema as one draft.

    `format` describes a text and refuses none, as in the present draft: the one that `$schema` names would decide
    otherwise, and clients take addresses with umlauts and times without a zone.
    """
    keywords = {KEYWORD: PatternKeyword}
    validator: jsonschema_rs.Validator = draft(
        schema, retriever=retriever, pattern_options=NAMES, keywords=keywords, validate_formats=False
    )
    return validator


def preparing(schema: JSON) -> Iterator[None]:
    """Compile the patterns of a schema that `compiled` needs, in steps between which others can continue."""
    patterns = _CheckedPatterns()
    for pattern in _patterns(schema):
        with suppress(UnsupportedSchema):  # `compiled` gives the reason
            patterns.take(pattern)
        yield


class _CheckedPatterns:
    """The patterns of one schema that are checked."""

    def __init__(self) -> None:
        self._checked: set[str] = set()
        self._large = 0

    def take(self, pattern: str) -> bool:
        """Return whether a pattern is checked. Raises UnsupportedSchema if it is none."""
        if pattern in self._checked:
            return True
        if len(self._checked) >= MOST_PATTERNS or self._large >= MOST_LARGE:
            return False
        found = _compiled(pattern)
        if isinstance(found, str):
            raise UnsupportedSchema(found)
        self._large += found.cost in (LARGE_COST, FANCY_COST)
        self._checked.add(pattern)
        return True


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> CompiledPattern | str:
    """Return a compiled pattern, or why there is none."""
    found = _engine(pattern)
    escaped = BRACE.sub(r"\\{", HYPHEN.sub(r"\1\\-", pattern))
    if isinstance(found, str) and escaped != pattern:
        again = _engine(escaped)
        return found if isinstance(again, str) else again
    return found


def _engine(pattern: str) -> CompiledPattern | str:
    """Return a pattern as an engine takes it, or why none does."""
    why = ""
    for options, cost in TIERS:
        try:
            linear = jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=options)
            return CompiledPattern(linear, linear, cost)
        except ValueError as error:
            why = str(error)
    try:
        return CompiledPattern(
            jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=FANCY),
            jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=FANCY_LONG),
            FANCY_COST,
        )
    except ValueError:
        return why


def _patterns(node: Any) -> Iterator[str]:
    """Yield the patterns in the order in which `_renamed` meets them."""
    if isinstance(node, list):
        yield from chain.from_iterable(map(_patterns, node))
    if not isinstance(node, dict):
        return
    for key, value in node.items():
        if key == "pattern" and isinstance(value, str):
            yield value
        elif key in MAPPINGS and isinstance(value, dict):
            yield from chain.from_iterable(map(_patterns, value.values()))
        elif key not in DATA:
            yield from _patterns(value)


def _renamed(node: Any, patterns: _CheckedPatterns) -> Any:
    if isinstance(node, list):
        return [_renamed(inner, patterns) for inner in node]
    if not isinstance(node, dict):
        return node
    result: dict[str, Any] = {}
    for key, value in node.items():
        if key == "pattern" and isinstance(value, str):
            result |= {KEYWORD: value} if patterns.take(value) else {}
        elif key in MAPPINGS and isinstance(value, dict):
            result[key] = {name: _renamed(inner, patterns) for name, inner in value.items()}
        elif key != "required" or value != []:  # which draft 4 refuses
            result[key] = value if key in DATA else _renamed(value, patterns)
    return _with_null(result) if node.get("nullable") is True else result


def _with_null(schema: JSON) -> JSON:
    """Return a schema that allows null too, as OpenAPI 3.0 means `nullable`."""
    kinds, values = schema.get("type"), schema.get("enum")
    if not isinstance(kinds, str) or not RESTRICTING.isdisjoint(schema):
        return {"anyOf": [schema, {"type": "null"}]}
    nullable = schema | {"type": [kinds, "null"]}
    return nullable | {"enum": [*values, None]} if isinstance(values, list) and None not in values else nullable
