"""The choice of arguments."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.simulator.rules.arguments import fill
from toolsupport.simulator.rules.intents import Intent, IntentKind, understand
from toolsupport.simulator.types import JSON, OfferedTool


def tool(required: str = "", **properties: JSON) -> OfferedTool:
    return OfferedTool("note", "", {"type": "object", "properties": properties, "required": required.split()})


RECORD = tool(
    "code count unit",
    code={"type": "string"},
    count={"type": "integer"},
    unit={"type": "string", "enum": ["kg", "m"]},
    urgent={"type": "boolean"},
)


@pytest.mark.parametrize(
    ("words", "filled"),
    [
        ('call note with code "k7-abc", count 42 and unit kg.', {"code": "k7-abc", "count": 42, "unit": "kg"}),
        ("call note: code=zz-1, count=3, unit=m", {"code": "zz-1", "count": 3, "unit": "m"}),
        ("call note with code set to x, count: -7, unit M", {"code": "x", "count": -7, "unit": "m"}),
        ('call note with {"code": "a", "count": 1, "unit": "kg"}', {"code": "a", "count": 1, "unit": "kg"}),
        ("call note, code `q w`, 5 kg, urgent: true", {"code": "q w", "count": 5, "unit": "kg", "urgent": True}),
    ],
)
def test_takes_what_was_said(words: str, filled: JSON) -> None:
    assert fill(RECORD, understand(words, ["note"])[0]) == filled


@every(
    ("schema", "value"),
    [
        ({"type": "string", "default": "d"}, "d"),
        ({"type": "string", "enum": ["x", "y"]}, "x"),
        ({"type": "integer"}, 0),
        ({"type": "number"}, 0),
        ({"type": "boolean"}, False),
        ({"type": "array"}, []),
        ({"type": ["null", "integer"]}, 0),
        ({"const": 7}, 7),
        ({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}, {"n": 0}),
        ({}, "call note"),
    ],
)
def test_a_required_parameter_nobody_spoke_of_gets_a_likely_value(schema: JSON, value: Any) -> None:
    assert fill(tool("p", p=schema), Intent(IntentKind.CALL, "call note", {"tool": "note"})) == {"p": value}


def test_an_optional_parameter_nobody_spoke_of_is_left_out() -> None:
    recursive = tool("path", path={"type": "string"}, recursive={"type": "boolean", "default": False})
    assert fill(recursive, understand("What's in the docs folder?")[0]) == {"path": "docs"}


@pytest.mark.parametrize(
    ("said", "schema", "value"),
    [
        ("[1, 2]", {"type": "array"}, [1, 2]),
        ("[a, b]", {"type": "array"}, ["a", "b"]),
        ("2.5", {"type": "number"}, 2.5),
        ("no", {"type": "boolean"}, False),
        ("{}", {"type": "object"}, {}),
    ],
)
def test_types_follow_the_schema(said: str, schema: JSON, value: Any) -> None:
    assert fill(tool("it", it=schema), Intent(IntentKind.CALL, f"call note it={said}", {})) == {"it": value}


def test_a_proper_name_is_a_likely_text() -> None:
    city = tool("city", city={"type": "string"})
    assert fill(city, Intent(IntentKind.UNKNOWN, "What is the weather in New York?")) == {"city": "New York"}


SCHEMAS = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "array"},
        {"type": "object"},
        {"type": "string", "enum": ["red", "green"]},
        {"type": ["string", "null"]},
    ]
)


@given(st.dictionaries(st.sampled_from(["path", "n", "text", "query", "flag"]), SCHEMAS), st.text(max_size=80))
def test_the_arguments_always_fit_the_schema(properties: dict[str, JSON], words: str) -> None:
    parameters = {"type": "object", "properties": properties, "required": [*properties]}
    filled = fill(OfferedTool("note", "", parameters), Intent(IntentKind.CALL, f"call note {words}", {"tool": "note"}))
    assert jsonschema_rs.is_valid(parameters, filled), (parameters, filled)
