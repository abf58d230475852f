"""A schema that would keep the checker busy is refused, by counting and not by waiting."""

from __future__ import annotations

from typing import Any

import pytest

from tests.processor_time import must_cost_at_most
from tests.tables import every
from toolsupport.core.call_building import typed
from toolsupport.core.call_validation import MOST_BYTES, complaints_about, unusable
from toolsupport.core.coercion import ALL_TYPES, coerce, types
from toolsupport.core.schema_limits import (
    MOST_CHARACTERS,
    SchemaBudget,
    UnsupportedSchema,
    depth_of,
    parts_of,
    size_of,
)
from toolsupport.core.schema_patterns import MOST_PATTERNS
from toolsupport.core.types import ToolSpec

SELF = {"$ref": "#"}
TWICE = {"type": "object", "allOf": [{"properties": {"a": SELF}}, {"properties": {"a": SELF}}]}
TREE = {"type": "object", "properties": {"left": SELF, "right": SELF}}


def nested(levels: int, name: str = "a") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(levels):
        found = {name: found}
    return found


def doubling(levels: int) -> dict[str, Any]:
    twice = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$defs": twice | {f"d{levels}": {"type": "integer"}}, "$ref": "#/$defs/d0"}


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(levels):
        schema = {"properties": {"a": schema}}
    return schema


# F4: each of these took more than a minute, or would
@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (doubling(24), "its references make it too large"),
        (deep(3000), "levels deep"),
        ({"enum": ["x" * 100] * (MOST_CHARACTERS // 100)}, "characters"),
        ({"properties": {"a": {"pattern": "(a{1000}){1000}"}}}, "regex"),
        ({"$ref": "file:///etc/passwd"}, "outside of the schema"),
    ],
    ids=["doubling", "deep", "enum", "pattern", "remote"],
)
def test_a_pathological_schema_fits_nothing_and_says_why(schema: dict[str, Any], why: str) -> None:
    (complaint,) = complaints_about({}, schema)
    assert complaint.startswith("the tool's own schema cannot be used") and why in complaint


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"properties": {"a": {"items": {"type": "strin"}}}}, "properties.a.items.type"),
        ({"properties": {"a": {"anyOf": [{"type": "null"}, {"minimum": "3"}]}}}, "properties.a.anyOf.1.minimum"),
        ({"properties": {"a": {"description": "x" * 20_000, "enum": 1}}}, "properties.a.enum"),
    ],
    ids=["type", "branch", "large"],
)
def test_the_reason_names_the_place_in_the_schema(schema: dict[str, Any], place: str) -> None:
    assert unusable(schema).startswith(f"the tool's own schema cannot be used ({place}: ")


def test_a_pattern_that_backtracks_is_given_up() -> None:  # F4
    schema = {"properties": {"a": {"type": "string", "pattern": r"^(?:(a+)+)\1$"}}}
    assert len(complaints_about({"a": "a" * 5000 + "b"}, schema)) == 1


def test_arguments_that_would_be_looked_at_too_often_are_refused() -> None:  # F4
    assert complaints_about(nested(4), TWICE) == []
    assert "nested too deeply" in complaints_about(nested(40), TWICE)[0]


def test_an_honest_tree_may_be_deep() -> None:
    assert complaints_about(nested(60, "left"), TREE) == []
    assert not SchemaBudget(TREE).too_much(nested(60, "right"), parts_of(nested(60, "right")))


def test_arguments_may_not_be_endless() -> None:  # F4
    assert "send less at once" in complaints_about({"a": "x" * MOST_BYTES}, {"type": "object"})[0]


def test_levels_are_counted_without_recursion() -> None:
    assert depth_of(nested(5000)) == 5000
    with pytest.raises(UnsupportedSchema):
        SchemaBudget(deep(200))


def listed(items: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"type": "array", "items": items}}}


OBJECTS, NUMBERS = [{"x": n} for n in range(5000)], [n + 0.5 for n in range(5000)]
EXPLODES = {"pattern": "^(a|b)*a(a|b){400}c$"}  # 3 µs a character, in a linear engine
# Each took between one second and forever.
COSTLY: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("values of an enum", listed({"enum": OBJECTS}), {"a": [{"x": -1}] * 20_000}, "too many parts"),
    ("fractions of an enum", listed({"enum": NUMBERS}), {"a": [0.1] * 20_000}, "too many parts"),
    ("alternatives", listed({"anyOf": [{"const": n} for n in range(2000)]}), {"a": [-1] * 5000}, "too many parts"),
    ("errors", listed({"anyOf": [{"minLength": 9}] * 50}), {"a": ["x"] * 2000}, "one of their parts does not"),
    ("errors of a plain list", listed({"type": "integer"}), {"a": ["x"] * 50_000}, 'a.0: "x" is not of type'),
    ("divisions", listed({"multipleOf": 1e-300}), {"a": [1e308] * 20_000}, "too many parts"),
    ("numbers", listed({"type": "integer"}), {"a": [1] * 200_000}, "too many parts"),
    ("two ways back", TREE | {"allOf": [{"properties": {"left": SELF}}]}, nested(30, "left"), "nested too deeply"),
    (
        "one way back, twice",
        {"$defs": {"a": {"properties": {"a": SELF}}}, "allOf": [{"$ref": "#/$defs/a"}] * 2},
        nested(30),
        "nested too deeply",
    ),
    (
        "an anchor",
        {"$anchor": "n", "allOf": [{"properties": {"a": {"$ref": "#n"}}}] * 2},
        nested(30),
        "nested too deeply",
    ),
    (
        "a dynamic anchor",
        {"allOf": [{"properties": {"a": {"$dynamicRef": "#n"}}}] * 2},
        nested(30),
        "place of their use",
    ),
    ("a document inside", {"$defs": {"b": {"$id": "http://b/"}}, "$ref": "http://b/"}, {}, "document of its own"),
    ("an explosive pattern", {"properties": {"a": EXPLODES}}, {"a": "ab" * 200_000}, ""),
    ("a backtracking one", listed({"pattern": r"^(?:(a+)+)\1$"}), {"a": ["a" * 40 + "b"] * 5000}, "does not match"),
    ("a lookahead", {"properties": {"a": {"pattern": "(?:(?=[ab]*c)|[ab])*c"}}}, {"a": "ab" * 200_000}, ""),
    (
        "names",
        {"patternProperties": {EXPLODES["pattern"].replace("400", "90"): {}}},
        {"ab" * 100 + str(n): 1 for n in range(2000)},
        "too many names",
    ),
    ("a long name", {"patternProperties": {"^x-": {}}}, {"x" * 300: 1}, "more than 256 characters"),
    (
        "names of 17 patterns",
        {"patternProperties": {f"^x{n}-": {} for n in range(17)}},
        {},
        "more than 16 patternProperties",
    ),
]


# F4, S1
@every("name, schema, arguments, words", COSTLY)
def test_no_check_costs_much(name: str, schema: dict[str, Any], arguments: dict[str, Any], words: str) -> None:
    found: list[str] = []
    # Measured: 0.1 s at most; the rest is for a slow machine.
    with must_cost_at_most(0.5):
        found.extend(complaints_about(arguments, schema))
    assert words in "".join(found[:1]) and bool(found) == bool(words), found


# F4, S1: 2,000 patterns of an ordinary key stopped the event loop for 6 to 12 seconds.
def test_patterns_are_checked_up_to_a_number() -> None:
    names = [f"p{number}" for number in range(2000)]
    schema = {"properties": {name: {"pattern": f"^(a|{name}){{1,50}}$"} for name in names}}
    with must_cost_at_most(0.5):
        complaints_about({}, schema)
    assert "does not match" in complaints_about({names[MOST_PATTERNS - 1]: "b"}, schema)[0]
    assert complaints_about({names[MOST_PATTERNS]: "b"}, schema) == []
    large = {"properties": {name: {"pattern": f"^.{{1,{500 + number}}}$"} for number, name in enumerate(names[:17])}}
    assert "does not match" in complaints_about({names[15]: ""}, large)[0]
    assert complaints_about({names[16]: ""}, large) == []


def test_ordinary_patterns_are_checked() -> None:
    schema: dict[str, Any] = {
        "properties": {
            "pattern": {"type": "string", "pattern": "^[a-z]+$"},
            "path": {"pattern": r"^(?!.*\.\.)[a-z/.-]{1,500}$"},
            "text": {"pattern": r"^(?!\s*$)[\s\S]+$"},
            "ids": {"items": {"pattern": "^[0-9a-f]{8}$"}},
        },
        "propertyNames": {"pattern": "^[a-z]+$"},
        "enum": [{"pattern": "x"}, {"path": "a/../b"}, {"text": " "}, {"ids": ["0"]}, {"A": 1}, {"pattern": "X"}],
    }
    assert complaints_about({"pattern": "x"}, schema) == []
    for wrong in schema["enum"][1:]:
        assert "does not match" in complaints_about(wrong, schema)[0], wrong
    plain = {name: value for name, value in schema.items() if name != "enum"}
    assert complaints_about({"path": "a/b", "text": "x" * 5000, "ids": ["0123abcd"] * 900}, plain) == []


# F4, S1: the types of a schema were looked up for each value again, and through references without an end.
def test_types_are_found_among_few_alternatives() -> None:
    three = {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}] * 3}}}
    many = {"anyOf": [{"const": n} for n in range(2000)]}
    with must_cost_at_most(0.1):
        types({"$ref": "#/$defs/a"}, three)
    assert types(many, many) == types({"enum": OBJECTS}, {}) == ALL_TYPES
    with must_cost_at_most(0.5):
        coerce(["1"] * 20_000, {"items": many}, many)
    integers = ToolSpec("a", "", listed({"type": "integer"}))
    long = {"a": ["1"] * 50_000}
    with must_cost_at_most(0.2):
        assert typed(long, integers) == (long, ())
    assert typed({"a": ["1"] * 2000}, integers)[0] == {"a": [1] * 2000}
    assert coerce(["1", "x"], {"items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}, {}) == [1, "x"]


@pytest.mark.parametrize(
    ("tools", "parts", "most"), [(0, 0, 0), (1, 10, 600), (300, 300, 128 * 1024), (1, 100_000, 128 * 1024)]
)
def test_the_size_of_definitions_is_counted_up_to_a_limit(tools: int, parts: int, most: int) -> None:  # S2
    schema = {"type": "object", "properties": {f"p{number}": {"type": "string"} for number in range(parts)}}
    found = size_of(tuple(ToolSpec(f"t{number}", "", schema) for number in range(tools)))
    assert most / 2 <= found <= most
