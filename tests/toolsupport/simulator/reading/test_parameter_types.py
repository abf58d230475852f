"""Types as people write them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tables import every
from toolsupport.simulator.reading import parameter_types


@every(
    ("words", "schema"),
    [
        ("str", {"type": "string"}),
        ("int", {"type": "integer"}),
        ("float | None", {"type": "number"}),
        ("Optional[bool]", {"type": "boolean"}),
        ("list[int]", {"type": "array"}),
        ("number[]", {"type": "array"}),
        ("dict[str, Any]", {"type": "object"}),
        ("string | null", {"type": "string"}),
        ('Literal["a", "b"]', {"type": "string", "enum": ["a", "b"]}),
        ("'a' | 'b'", {"type": "string", "enum": ["a", "b"]}),
        ("Any", {}),
        ("", {}),
    ],
)
def test_reads_a_type(words: str, schema: dict[str, Any]) -> None:
    assert parameter_types.of_type(words) == schema


@pytest.mark.parametrize("value", [None, [], "x", {}, {"path": "a.txt"}, {"path": {"deep": 1}}, {"type": "x"}])
def test_an_example_is_no_schema(value: object) -> None:
    assert parameter_types.of_object(value) is None
