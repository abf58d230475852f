"""A schema that would keep the checker busy is refused, by counting and not by waiting."""

from __future__ import annotations

from typing import Any

import pytest

from toolsupport.core.calls import MOST_BYTES, complaints_about
from toolsupport.core.schema_limits import MOST_CHARACTERS, SchemaBudget, UnsupportedSchema, depth_of

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


def test_a_pattern_that_backtracks_is_given_up() -> None:  # F4
    schema = {"properties": {"a": {"type": "string", "pattern": r"^(?:(a+)+)\1$"}}}
    assert len(complaints_about({"a": "a" * 5000 + "b"}, schema)) == 1


def test_arguments_that_would_be_looked_at_too_often_are_refused() -> None:  # F4
    assert complaints_about(nested(4), TWICE) == []
    assert "nested too deeply" in complaints_about(nested(40), TWICE)[0]


def test_an_honest_tree_may_be_deep() -> None:
    assert complaints_about(nested(60, "left"), TREE) == []
    assert not SchemaBudget(TREE).too_much(nested(60, "right"))


def test_arguments_may_not_be_endless() -> None:  # F4
    assert "send less at once" in complaints_about({"a": "x" * MOST_BYTES}, {"type": "object"})[0]


def test_levels_are_counted_without_recursion() -> None:
    assert depth_of(nested(5000)) == 5000
    with pytest.raises(UnsupportedSchema):
        SchemaBudget(deep(200))
