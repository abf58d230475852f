"""The schemas to which replies are constrained: the decision first, and no right call forbidden."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.core.constrained import SchemaRules, call_schema, closed
from toolsupport.core.types import JSON, ToolSpec

KEYWORDS = {
    *("type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "$ref", "$defs"),
    *("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"),
}
TREE: JSON = {
    "type": "object",
    "properties": {"value": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
    "required": ["value"],
}
# A schema of parameters → arguments that fit it, and arguments that no constrained reply may hold.
SCHEMAS: dict[str, tuple[JSON, list[JSON], list[Any]]] = {
    "no parameters": (
        {"type": "object", "properties": {}, "additionalProperties": False},
        [{}],
        [{"a": 1}, [], "x"],
    ),
    "none declared": ({"type": "object", "properties": {}, "required": []}, [{}, {"a": 1}], [[], "x"]),
    "any by an empty schema": ({"type": "object", "additionalProperties": {}}, [{}, {"a": [1]}], ["x"]),
    "nothing at all": ({}, [{}, {"a": 1}], [[], None]),
    "none within": (
        {"type": "object", "properties": {"a": {"type": "object", "properties": {}, "additionalProperties": False}}},
        [{"a": {}}],
        [{"a": {"b": 1}}],
    ),
    "any object": ({"type": "object", "additionalProperties": True}, [{}, {"a": [1]}], [1]),
    "a map": (
        {"type": "object", "additionalProperties": {"type": "integer"}},
        [{}, {"a": 1, "b": 2}],
        [{"a": "x"}],
    ),
    "required and optional": (
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]},
        [{"a": "x"}, {"a": "", "b": 3}],
        [{}, {"b": 3}, {"a": 1}, {"a": "x", "c": 1}],
    ),
    "a list of types": (
        {"type": "object", "properties": {"a": {"type": ["integer", "null"], "minimum": 2}}},
        [{"a": None}, {"a": 2}, {}],
        [{"a": 1}, {"a": "2"}],
    ),
    "null as OpenAPI 3.0 allows it": (
        {
            "type": "object",
            "properties": {
                "a": {"type": "integer", "nullable": True},
                "b": {"$ref": "#/definitions/b", "nullable": True},
                "c": {"type": "string", "enum": ["x"], "nullable": True},
            },
            "definitions": {"b": {"type": "boolean"}},
        },
        [{"a": None, "b": None, "c": None}, {"a": 1, "b": True, "c": "x"}],
        [{"a": "x"}, {"b": 1}, {"c": "y"}],
    ),
    "values of another type": (
        {"type": "object", "properties": {"a": {"type": "string", "enum": ["x", 1]}}},
        [{"a": "x"}],
        [{"a": 1}, {"a": "y"}],
    ),
    "bounds that contradict": (
        {"type": "object", "properties": {"a": {"type": "integer", "minimum": 5, "maximum": 1}}},
        [{"a": 5}],
        [{"a": "5"}],
    ),
    "exclusive bounds": (
        {"type": "object", "properties": {"a": {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 4}}},
        [{"a": 2}, {"a": 3}],
        [{"a": 1}, {"a": 4}],
    ),
    "a huge length": (
        {"type": "object", "properties": {"a": {"type": "string", "minLength": 1, "maxLength": 100_000}}},
        [{"a": "x" * 5000}],
        [{"a": ""}],
    ),
    "what servers do not know": (
        {
            "type": "object",
            "properties": {"a": {"type": "string", "pattern": "(?<!x)y", "format": "regex"}, "b": {"not": {}}},
        },
        [{"a": "y"}],
        [{"a": 1}],
    ),
    "properties by pattern": (
        {"type": "object", "properties": {"a": {"type": "string"}}, "patternProperties": {"^x": {}}},
        [{"a": "y", "x1": 2}],
        [{"a": 1}],
    ),
    "one of two required": (
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        [{"a": "x"}, {"b": "x"}, {"a": "x", "b": "y"}],
        [{}, {"a": 1}],
    ),
    "parts that hold together": (
        {
            "allOf": [
                {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"properties": {"b": {"type": "integer"}}},
            ]
        },
        [{"a": "x"}, {"a": "x", "b": 1}],
        [{}, {"a": "x", "b": "y"}],
    ),
    "a tree": (
        {"type": "object", "properties": {"tree": {"$ref": "#/$defs/tree"}}, "$defs": {"tree": TREE}},
        [{}, {"tree": {"value": 1, "children": [{"value": 2, "children": []}]}}],
        [{"tree": {"children": []}}, {"tree": {"value": 1, "children": [{}]}}],
    ),
    "itself": (
        {"type": "object", "properties": {"next": {"$ref": "#"}, "v": {"type": "integer"}}},
        [{"v": 1, "next": {"v": 2, "next": {}}}],
        [{"next": {"v": "x"}}],
    ),
    "an endless value": (
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/e"}},
            "$defs": {"e": {"type": "object", "properties": {"e": {"$ref": "#/$defs/e"}}, "required": ["e"]}},
        },
        [{}],
        [[]],
    ),
    "references in a circle": (
        {"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"$ref": "#/$defs/y"}, "y": {"$ref": "#/$defs/x"}}},
        [{}],
        [[]],
    ),
    "a reference to nowhere": ({"properties": {"a": {"$ref": "https://x.example/s"}}}, [{}, {"a": 1}], [[]]),
    "schemas that are no objects": (
        {"properties": {"a": True, "b": 7, "c": {"type": "banana"}}},
        [{"a": 1, "b": 2}],
        [1],
    ),
    "required without a schema": ({"type": "object", "required": ["a"]}, [{"a": 1}], [1]),
}


def reply(arguments: Any) -> JSON:
    return {"tool": "f", "arguments": arguments}


def keywords(schema: Any) -> set[str]:
    """Return the keywords of a schema, names of properties and definitions left out."""
    if not isinstance(schema, dict):
        return set()
    found = set(schema)
    for keyword, inner in schema.items():
        if keyword in ("properties", "$defs"):
            found = found.union(*map(keywords, inner.values()))
        elif keyword == "anyOf":
            found = found.union(*map(keywords, inner))
        elif keyword in ("items", "additionalProperties"):
            found |= keywords(inner)
    return found


@every("name, case", SCHEMAS.items())
def test_no_right_call_is_forbidden(name: str, case: tuple[JSON, list[JSON], list[Any]]) -> None:  # K2
    parameters, right, wrong = case
    schema = call_schema([ToolSpec("f", parameters=parameters)])
    allows = jsonschema_rs.validator_for(schema).is_valid
    assert keywords(schema) <= KEYWORDS
    assert [arguments for arguments in right if not allows(reply(arguments))] == []
    assert [arguments for arguments in wrong if allows(reply(arguments))] == []
    assert allows({"answer": "Yes."})
    assert not allows({"answer": "Yes.", "tool": "f"})
    jsonschema_rs.validator_for(closed(schema))


TWO = (ToolSpec("f", parameters=TREE | {"$defs": {"tree": TREE}}), ToolSpec("g"))


@pytest.mark.parametrize(
    ("answer", "parallel", "first"),
    [
        (True, False, ["tool", "tool", "answer"]),
        (False, False, ["tool", "tool"]),
        (True, True, ["", "calls", "answer"]),
        (False, True, ["", "calls"]),
    ],
)
def test_the_first_key_decides(answer: bool, parallel: bool, first: list[str]) -> None:  # K2
    schema = call_schema(TWO, answer=answer, parallel=parallel)
    assert [next(iter(branch.get("properties", {"": 0}))) for branch in schema["anyOf"]] == first
    allows = jsonschema_rs.validator_for(schema).is_valid
    assert allows({"tool": "g", "arguments": {}})
    assert not allows({"tool": "h", "arguments": {}})
    assert allows({"answer": "No."}) is answer
    both = {"calls": [{"tool": "g", "arguments": {}}, {"tool": "f", "arguments": {"value": 1}}]}
    assert allows(both) is parallel


def test_a_schema_that_is_too_large_takes_any_object() -> None:  # K2
    huge = {"type": "object", "properties": {f"p{n}": {"enum": [f"v{n}_{k}" for k in range(400)]} for n in range(120)}}
    schema = call_schema([ToolSpec("big", parameters=huge), TWO[0]])
    assert schema["anyOf"][0]["properties"]["arguments"] == {"type": "object"}
    assert schema["anyOf"][1]["properties"]["arguments"]["required"] == ["value"]


def test_nothing_allowed_is_an_error() -> None:
    with pytest.raises(ValueError, match="allowed"):
        call_schema([], answer=False)


def test_a_closed_schema_has_one_object_around_everything() -> None:  # K2
    optional = {"type": "object", "properties": {"a": {"type": "string"}, "m": {"type": "object"}}, "required": ["m"]}
    allows = jsonschema_rs.validator_for(closed(call_schema([ToolSpec("f", parameters=optional)]))).is_valid
    assert allows({"reply": {"tool": "f", "arguments": {"a": None, "m": '{"x": 1}'}}})
    assert not allows({"reply": {"tool": "f", "arguments": {"m": "{}"}}})
    assert not allows({"tool": "f", "arguments": {"a": None, "m": "{}"}})
    allows = jsonschema_rs.validator_for(closed(call_schema([ToolSpec("f")]))).is_valid
    assert allows({"reply": {"tool": "f", "arguments": {}}})
    assert not allows({"reply": {"tool": "f", "arguments": "{}"}})


def written(schema: JSON, rules: SchemaRules) -> Any:
    parameters = {"type": "object", "properties": {"a": schema}}
    made = call_schema([ToolSpec("f", parameters=parameters)], answer=False, rules=rules)
    return made["properties"]["arguments"]["properties"]["a"]


NONE, ALL = SchemaRules(), SchemaRules(frozenset({"pattern", "multipleOf"}))
NARROW = SchemaRules(narrow=True)
CODE: JSON = {"type": "string", "pattern": "^[A-Z]{3}$"}
HALVES: JSON = {"type": "number", "multipleOf": 0.5}


@every(
    ("schema", "rules", "sent"),
    [
        (CODE, ALL, CODE),
        (CODE, NONE, {"type": "string", "minLength": 3, "maxLength": 3}),
        (CODE | {"minLength": 9}, ALL, {"type": "string", "minLength": 9}),
        (CODE | {"maxLength": 9}, ALL, CODE),
        ({"type": "string", "pattern": "^(on|off)$"}, NONE, {"type": "string", "enum": ["on", "off"]}),
        ({"type": "string", "pattern": "^(on|off)$", "minLength": 3}, ALL, {"type": "string", "enum": ["off"]}),
        ({"type": "string", "pattern": "[0-9]{2}"}, ALL, {"type": "string", "minLength": 2}),
        ({"type": "string", "pattern": "^.$"}, ALL, {"type": "string"}),
        (HALVES, ALL, HALVES),
        (HALVES, NONE, {"type": "number"}),
        (HALVES | {"minimum": 0.1, "maximum": 7.9}, NARROW, {"type": "integer", "minimum": 1, "maximum": 7}),
        (HALVES | {"minimum": 0.1, "maximum": 0.4}, ALL, {"type": "number", "minimum": 0.1, "maximum": 0.4}),
        ({"type": "number", "multipleOf": 5}, ALL, {"type": "integer", "multipleOf": 5}),
        ({"type": "integer", "multipleOf": 5, "minimum": 3, "maximum": 16}, NONE, {"enum": [5, 10, 15]}),
        ({"type": "integer", "multipleOf": 0.25}, ALL, {"type": "integer"}),
        ({"type": "integer", "multipleOf": "x"}, ALL, {"type": "integer"}),
    ],
)
def test_patterns_and_multiples_go_to_servers_that_know_them(schema: JSON, rules: SchemaRules, sent: JSON) -> None:
    assert written(schema, rules) == sent  # K7


def test_a_last_retry_leaves_out_rare_texts() -> None:  # K3
    narrow = SchemaRules(frozenset({"pattern"}), narrow=True)
    sent = written({"type": "string", "pattern": r"^\S+$"}, narrow)["pattern"]
    assert sent.startswith("^[!#") and '"' not in sent


ATOMS = st.sampled_from(
    [
        *({"type": "string"}, {"type": "integer"}, {"type": "banana"}, {}, True, {"enum": []}, {"const": None}),
        *({"$ref": "#"}, {"$ref": "#/properties/a"}, {"type": []}, {"enum": [1, "1", 1.0, None]}, {"minimum": "x"}),
    ]
)
ODD = st.recursive(
    ATOMS,
    lambda inner: st.dictionaries(
        st.sampled_from(["properties", "items", "anyOf", "allOf", "oneOf", "not", "$defs", "type", "required", "a"]),
        inner | st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab$"), inner, max_size=2),
        max_size=3,
    ),
    max_leaves=12,
)


@given(parameters=st.dictionaries(st.sampled_from(["properties", "allOf", "anyOf", "$ref", "type"]), ODD, max_size=3))
def test_any_schema_becomes_one_that_servers_know(parameters: JSON) -> None:  # K2
    schema = call_schema([ToolSpec("f", parameters=parameters)], parallel=True)
    assert keywords(schema) <= KEYWORDS
    jsonschema_rs.validator_for(schema)
    jsonschema_rs.validator_for(closed(schema))
