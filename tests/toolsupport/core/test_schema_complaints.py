"""What a model reads about arguments that do not fit."""

from __future__ import annotations

from typing import Any

from tests.tables import every
from toolsupport.core.call_validation import complaints_about
from toolsupport.core.types import JSON

WHOLE: JSON = {"type": "integer"}
NULL: JSON = {"type": "null"}
CAT: JSON = {"properties": {"kind": {"const": "cat"}, "id": {"type": "string"}}, "required": ["kind", "id"]}
DOG: JSON = {"properties": {"kind": {"const": "dog"}, "id": WHOLE}, "required": ["kind", "id"]}
LONG = "a" * 1000
# the schema of an argument, its value, and what the complaint must and must not hold
COMPLAINTS: list[tuple[JSON, Any, str, str]] = [
    ({"type": "string", "maxLength": 100}, LONG, "is longer than 100 characters", LONG[:300]),
    ({"type": "string", "pattern": "^b$"}, LONG, 'does not match "^b$"', LONG[:300]),
    ({"enum": ["b", "c"]}, LONG, 'is not one of "b" or "c"', LONG[:300]),
    ({"anyOf": [WHOLE, NULL]}, "several", 'x: "several" is not of type "integer" / x: "several" is not of', "anyOf"),
    (
        {"anyOf": [{**CAT, "type": "object"}, {**DOG, "type": "object"}, NULL]},
        {"kind": "dog", "id": "x"},
        "x.id:",
        "cat",
    ),
    ({"oneOf": [{**CAT, "type": "object"}, {**DOG, "type": "object"}]}, {"kind": "dog"}, '"id" is a required', "cat"),
    ({"anyOf": [{"type": "array", "items": WHOLE}, NULL]}, ["a"], 'x.0: "a" is not of type "integer"', "null"),
    ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {}, '"a" is a required property / x: "b" is', "anyOf"),
    ({"anyOf": [{"anyOf": [{"anyOf": [{"anyOf": [WHOLE]}]}]}]}, "a", "is not valid under any", "integer"),
    ({"anyOf": [{"const": number} for number in range(9)]}, 10, "is not valid under any", "expected"),
    ({"type": "object", "additionalProperties": False}, {"y": 5}, "only declared properties are allowed", "False"),
]


@every("schema, value, held, left_out", COMPLAINTS)
def test_a_complaint_names_what_is_wrong(schema: JSON, value: Any, held: str, left_out: str) -> None:
    [complaint] = complaints_about({"x": value}, {"type": "object", "properties": {"x": schema}})
    assert held in complaint
    assert left_out not in complaint
    assert len(complaint) <= 300
