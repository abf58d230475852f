"""Every value drawn from a schema fits it, judged by a validator of another project."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.simulator.fitting import patterns, response_format
from toolsupport.simulator.fitting.fitting import Intention, fitted
from toolsupport.simulator.types import SimulatedCall

SEEDS = range(20)
TEXT = {"type": "string"}
TREE = {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}, "name": TEXT}, "required": ["name"]}


def thing(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    named = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**named, "required": [*properties] if required is None else required}


SCHEMAS: dict[str, Any] = {
    "constant": thing(a={"const": "qzx"}, b={"enum": [1, None, "two", {"x": []}]}),
    "numbers": thing(a={"type": "integer", "minimum": 1037, "maximum": 1040}, b={"type": "number", "maximum": -2.5}),
    "exclusive": thing(a={"type": "integer", "exclusiveMinimum": 7, "exclusiveMaximum": 9}, b={"type": "number"}),
    "steps": thing(a={"type": "integer", "multipleOf": 25, "minimum": 60, "maximum": 110}),
    "texts": thing(a={"type": "string", "minLength": 12, "maxLength": 14}, b={"type": "string", "maxLength": 0}),
    "patterns": thing(
        a={"type": "string", "pattern": r"^[A-Z]{2}-\d{3,5}(?:x|y)?$"},
        b={"type": "string", "pattern": r"^[^a]\w+\.txt$"},
    ),
    "lists": thing(
        a={"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 4}, b={"type": "array"}
    ),
    "unlike": thing(a={"type": "array", "items": {"enum": ["x", "y", "z"]}, "minItems": 2, "uniqueItems": True}),
    "tuple": thing(a={"type": "array", "prefixItems": [TEXT, {"type": "boolean"}], "minItems": 2, "maxItems": 2}),
    "either": {"anyOf": [thing(a=TEXT), thing(b={"type": "integer"})]},
    "one of": {"oneOf": [thing(tool={"const": "f"}), thing(tool={"const": "g"}, x={"type": "null"})]},
    "both": {"allOf": [thing(["a"], a=TEXT, b=TEXT), {"type": "object", "properties": {"b": TEXT}, "required": ["b"]}]},
    "types": thing(a={"type": ["null", "integer"]}, b={"type": ["string", "null"]}),
    "deep": {"$ref": "#/$defs/tree", "$defs": {"tree": TREE}},
    "optional": thing([], a=TEXT, b={"type": "boolean"}, c={"type": "number", "minimum": 0, "maximum": 1}),
    "free": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 2},
    "nested": thing(a=thing(b=thing(c={"type": "array", "items": thing(d={"enum": ["e"]}), "minItems": 1}))),
    "dates": thing(a={"type": "string", "format": "date-time"}, b={"type": "string", "format": "email"}),
}


@every("name", SCHEMAS)
def test_noise_and_intentions_fit(name: str) -> None:  # K9
    validator = jsonschema_rs.validator_for(SCHEMAS[name])
    call = SimulatedCall("g", {"a": "x", "b": 3, "zz": [1], "c": {}})
    for seed in SEEDS:
        for intention in (None, Intention((call, call)), Intention(text="four words and more")):
            text = fitted(SCHEMAS[name], intention, random.Random(seed))
            assert validator.is_valid(json.loads(text)), text


def test_keys_keep_the_order_of_the_schema() -> None:  # the first key is the decision
    schema = thing(tool={"const": "f"}, arguments=thing(z=TEXT, a=TEXT))
    assert [*json.loads(fitted(schema, None, random.Random(1)))] == ["tool", "arguments"]
    assert [*json.loads(fitted(schema, None, random.Random(1)))["arguments"]] == ["z", "a"]


UNION = {
    "anyOf": [
        thing(tool={"const": "add"}, arguments=thing(["a"], a={"type": "integer"}, b={"type": "integer"})),
        thing(tool={"enum": ["read_file"]}, arguments=thing(path=TEXT)),
        thing(answer=TEXT),
    ]
}
SEVERAL = thing(calls={"type": "array", "items": {"anyOf": UNION["anyOf"][:2]}, "minItems": 1})
INTENDED: list[tuple[Any, Intention, Any]] = [
    (UNION, Intention((SimulatedCall("add", {"a": 4, "b": 7}),)), {"tool": "add", "arguments": {"a": 4, "b": 7}}),
    (UNION, Intention((SimulatedCall("add", {"a": 4}),)), {"tool": "add", "arguments": {"a": 4}}),
    (UNION, Intention((SimulatedCall("read_file", {"path": "ä"}),)), {"tool": "read_file", "arguments": {"path": "ä"}}),
    (UNION, Intention(text="Hello"), {"answer": "Hello"}),
    (
        SEVERAL,
        Intention((SimulatedCall("add", {"a": 1}), SimulatedCall("read_file", {"path": "p"}))),
        {"calls": [{"tool": "add", "arguments": {"a": 1}}, {"tool": "read_file", "arguments": {"path": "p"}}]},
    ),
]


@pytest.mark.parametrize(("schema", "intention", "expected"), INTENDED)
def test_an_intention_is_expressed_where_the_schema_permits_it(
    schema: Any, intention: Intention, expected: Any
) -> None:
    assert json.loads(fitted(schema, intention, random.Random(3))) == expected


def test_every_branch_of_a_union_is_drawn() -> None:
    drawn = {next(iter(json.loads(fitted(UNION, None, random.Random(seed))).values())) for seed in range(60)}
    assert {"add", "read_file"} < drawn


@example(r"\s\S", 140)
@given(st.sampled_from([r"^\d{4}-\d\d$", "[a-f]+", "(ab|cd){2}", "^x.?y$", r"\s\S", "a{0,3}b*?c"]), st.integers(0, 999))
def test_a_text_is_drawn_from_its_pattern(pattern: str, seed: int) -> None:
    text = patterns.drawn(pattern, random.Random(seed))
    assert text is not None and re.search(pattern, text)


def test_a_pattern_beyond_the_generator_gives_none() -> None:
    assert [patterns.drawn(pattern, random.Random(1)) for pattern in ("(", "^a(?=b)", "(?!)")] == [None] * 3


@pytest.mark.parametrize(
    ("schema", "parsed"),
    [
        (UNION, True),
        (thing(a={"type": "string", "pattern": r"^\w+\.txt$"}), True),
        (thing(a={"type": "string", "pattern": r"^hello\!$"}), False),
        (thing(a={"type": "string", "pattern": "^(?=x)"}), False),
        (thing(a={"type": "string", "maxLength": 100_000}), False),
        ({"anyOf": [UNION, thing(a={"type": "array", "maxItems": 0})]}, False),
    ],
)
def test_some_schemas_become_grammars_that_a_simple_parser_cannot_read(schema: Any, parsed: bool) -> None:
    assert response_format.can_be_parsed(schema) is parsed
