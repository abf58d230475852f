"""The values that a later call takes from an earlier one."""

from __future__ import annotations

import pytest

from tests.tables import every
from toolsupport.simulator.rules.chained_values import received, secret, wanted
from toolsupport.simulator.types import OfferedTool, SimulatedCall


@every(
    ("words", "needs"),
    [
        ("Call get_code, then call record_note with the code it returns.", True),
        ("Call get_code. Then call record_note with code set to what get_code returned.", True),
        ("Use get_code, then record_note with the word you get", True),
        ("Call lookup and pass its result to record_note", True),
        ("Call f with a=1 and g with b=2", False),
        ("Call get_code and record_note with code=x and tell me what they return", False),
        ("Call f with a=1, and g, and tell me what it returns", False),
        ("Call f with text='the code it returns' and g", False),
        ("hello", False),
    ],
)
def test_knows_when_a_call_needs_the_one_before(words: str, needs: bool) -> None:
    assert wanted(words) is needs


@pytest.mark.parametrize(
    ("text", "found"), [("The word is k7-bravo-22.", "k7-bravo-22"), ("ok 42", "ok 42"), (" blue \n", "blue"), ("", "")]
)
def test_finds_what_can_only_be_copied(text: str, found: str) -> None:
    assert secret(text) == found


def test_values_keep_the_types_of_the_schema() -> None:
    count = OfferedTool(
        "f", "", {"type": "object", "properties": {"count": {"type": "integer"}, "loud": {"type": "boolean"}}}
    )
    assert received(count, SimulatedCall("f", {"count": 1}), '{"count": 17}') == SimulatedCall("f", {"count": 17})
    assert received(count, SimulatedCall("f", {"count": 1}), "nothing of it") == SimulatedCall("f", {"count": 1})
