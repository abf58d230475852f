"""Values take the type that their schema requires, in the forms in which generators write schemas."""

from __future__ import annotations

from tests.tables import every
from toolsupport.core.call_building import finished
from toolsupport.core.coercion import coerce
from toolsupport.core.text_values import from_text
from toolsupport.core.types import JSON, ToolSpec

TEXT: JSON = {"type": "string"}
WHOLE: JSON = {"type": "integer"}
NULL: JSON = {"type": "null"}


def kind(name: str, number: JSON) -> JSON:
    properties = {"kind": {"const": name}, "id": number}
    return {"type": "object", "properties": properties, "required": ["kind", "id"]}


ROOT: JSON = {
    "type": "object",
    "properties": {
        "class": {"allOf": [{"$ref": "#/definitions/Point"}], "default": {}},
        "level": {"allOf": [{"$ref": "#/definitions/Level"}], "description": "how loud"},
        "first": {"anyOf": [{"type": "object", "properties": {"n": WHOLE}}, NULL]},
        "again": {"$ref": "#/properties/first/anyOf/0"},
        "child": {"$ref": "#"},
        "escaped": {"$ref": "#/definitions/A%20B"},
        "map": {"type": "object", "additionalProperties": WHOLE},
        "tuple": {"type": "array", "prefixItems": [WHOLE, TEXT], "items": WHOLE},
        "old_tuple": {"type": "array", "items": [WHOLE, TEXT], "additionalItems": WHOLE},
        "texts": {"anyOf": [{"type": "array", "items": TEXT}, NULL]},
        "numbers": {"type": "array", "items": WHOLE},
        "points": {"type": "array", "items": {"$ref": "#/definitions/Point"}},
        "pet": {"oneOf": [kind("cat", TEXT), kind("dog", WHOLE)], "discriminator": {"propertyName": "kind"}},
        "lists": {"anyOf": [{"type": "array", "items": TEXT}, {"type": "array", "items": WHOLE}]},
        "one_of_two": {
            "type": "object",
            "properties": {"a": WHOLE, "b": WHOLE},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        "nullable": {"type": "integer", "nullable": True},
        "whole": WHOLE,
    },
    "definitions": {
        "Point": {"type": "object", "properties": {"x": WHOLE, "label": TEXT}, "required": ["x"]},
        "Level": {"enum": [1, 2], "type": "integer"},
        "A B": WHOLE,
    },
}
# name of a property, its value as written, and as it is meant
VALUES = [
    ("class", '{"x": "1"}', {"x": 1}),
    ("level", "2", 2),
    ("again", '{"n": "1"}', {"n": 1}),
    ("child", {"child": {"whole": "2"}}, {"child": {"whole": 2}}),
    ("escaped", "1", 1),
    ("map", {"a": "1"}, {"a": 1}),
    ("tuple", ["1", 2, "3"], [1, "2", 3]),
    ("old_tuple", ["1", 2, "3"], [1, "2", 3]),
    ("tuple", ["1"], [1]),
    ("texts", "a", ["a"]),
    ("texts", "null", None),
    ("numbers", "5", [5]),
    ("points", '{"x": "1"}', [{"x": 1}]),
    ("pet", {"kind": "dog", "id": 5}, {"kind": "dog", "id": 5}),
    ("pet", {"kind": "dog", "id": "5"}, {"kind": "dog", "id": 5}),
    ("pet", {"kind": "cat", "id": 5}, {"kind": "cat", "id": "5"}),
    ("lists", [1, 2], [1, 2]),
    ("lists", ["1"], ["1"]),
    ("one_of_two", {"b": "1"}, {"b": 1}),
    ("nullable", "null", None),
    ("class", {"x": 1, "label": None}, {"x": 1}),
    ("points", [{"x": 1, "label": None}], [{"x": 1}]),
    ("whole", "007", 7),
]
UNCLEAR = [("numbers", "1,2"), ("numbers", "several"), ("whole", "1,5"), ("class", {"x": None}), ("map", {"a": None})]


@every("name, written, meant", VALUES)
def test_a_value_takes_the_type_of_its_schema(name: str, written: object, meant: object) -> None:
    found = coerce(written, ROOT["properties"][name], ROOT)
    assert (found, str(found)) == (meant, str(meant))


@every("name, written", UNCLEAR)
def test_a_value_that_may_mean_something_else_stays(name: str, written: object) -> None:
    assert coerce(written, ROOT["properties"][name], ROOT) == written


def test_an_argument_that_only_alternatives_of_the_whole_declare_is_read() -> None:
    spec = ToolSpec("f", "", {"anyOf": [{"properties": {"n": WHOLE}}, {"properties": {"t": TEXT}}]})
    assert finished("f", {"n": "1", "t": 2}, (), (spec,)).arguments == {"n": 1, "t": "2"}


@every(
    ("text", "meant"),
    [
        *((text, text) for text in ("007", "1.10", "+49151", "1e3", "none", "TRUE")),
        *(("7", 7), ("-2", -2), ("1.5", 1.5), ("None", None), ("null", None), ("True", True), ("false", False)),
    ],
)
def test_a_text_beside_other_types_is_one_of_them_only_as_written(text: str, meant: object) -> None:
    assert from_text(text, frozenset({"string", "integer", "number", "boolean", "null"})) == meant


def test_alternatives_of_a_large_value_are_compared_within_a_limit() -> None:
    branches = [kind(str(number), WHOLE) for number in range(200)]
    schema = {"type": "array", "items": {"anyOf": branches}}
    value = [{"kind": "199", "id": 1} for _ in range(3_000)]
    assert coerce(value, schema, schema) == value


def test_parts_that_refer_to_themselves_are_read_once() -> None:
    own = {"$ref": "#/$defs/a"}
    root = {"$defs": {"a": {"allOf": [own, own, {"properties": {"n": WHOLE}}], "anyOf": [own, own]}}}
    assert coerce({"n": "1"}, own, root) == {"n": 1}
