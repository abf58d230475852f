"""Suites as JSON: read with clear errors, written without loss."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.tables import every
from toolsupport.core import call_validation
from toolsupport.core.errors import ConfigError
from toolsupport.core.events import CallReady
from toolsupport.core.exams.builtin import CASES, SUITES
from toolsupport.core.exams.cases import read_suite
from toolsupport.core.types import ToolCall

TOOL = {"type": "function", "function": {"name": "note", "parameters": {"type": "object"}}}
CASE = {
    "id": "a",
    "messages": [{"role": "user", "content": "Note it."}],
    "tools": [TOOL],
    "expected": [{"name": "note"}],
}


@pytest.mark.parametrize("name", sorted(SUITES))
def test_the_built_in_suites_come_back_as_they_were(name: str) -> None:
    back = read_suite(json.loads(json.dumps(SUITES[name].to_json())))
    assert back.to_json() == SUITES[name].to_json()


def test_the_expected_calls_fit_the_schemas_of_their_tools() -> None:
    for case in CASES:
        for call in case.expected:
            checked = call_validation.check(ToolCall("c", call.name, call.arguments), case.tools)
            assert isinstance(checked, CallReady), (case.id, checked)
            assert not checked.call.repairs, case.id


WRONG: list[tuple[Any, str]] = [
    ([], "The exam must be a JSON object"),
    ({"cases": []}, "The exam needs a name"),
    ({"name": 3, "cases": []}, "“name” must be a text"),
    ({"name": "x", "cases": {}}, "“cases” must be a list"),
    ({"name": "x", "cases": [3]}, "Case 1 must be a JSON object"),
    ({"name": "x", "cases": [{**CASE, "id": ""}]}, "Case 1 needs an id"),
    ({"name": "x", "cases": [CASE, CASE]}, "Two cases have the id “a”"),
    ({"name": "x", "cases": [{**CASE, "messages": []}]}, "Case “a” needs a message of a user"),
    ({"name": "x", "cases": [{**CASE, "id": "a\nb"}]}, "Case 1 has an id with a character that cannot be shown"),
    ({"name": "x", "cases": [{**CASE, "messages": [{"role": "boss"}]}]}, "Case “a”, message 1: “role” must be one of"),
    (
        {"name": "x", "cases": [{**CASE, "recorded": [{"name": "note"}, 3]}]},
        "Case “a”, recorded result 2 must be",
    ),
    ({"name": "x", "cases": [{**CASE, "tools": [{}]}]}, "a tool needs a name"),
    (
        {"name": "x", "cases": [{**CASE, "tools": [{"name": "n", "parameters": 3}]}]},
        "the parameters of a tool must be a JSON object",
    ),
    ({"name": "x", "cases": [{**CASE, "expected": [{"name": "gone"}]}]}, "which is not among its tools"),
    ({"name": "x", "cases": [{**CASE, "expected": [{"name": "note", "accepts": {"a": 3}}]}]}, "a list of values"),
    ({"name": "x", "cases": [{**CASE, "order": "maybe"}]}, "“order” must be one of any, exact"),
    ({"name": "x", "cases": [{**CASE, "recorded": [{"name": "note", "result": 3}]}]}, "“result” must be a text"),
    (
        {"name": "x", "cases": [{**CASE, "messages": [{"role": "user", "content": "x" * 200_001}]}]},
        "200,001 characters",
    ),
    ({"name": "x" * 121, "cases": []}, "121 characters"),
]


@every(("value", "why"), WRONG)
def test_what_is_no_suite_is_refused_with_the_place(value: Any, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        read_suite(value)
