"""The one text of a tool is taken from whatever a model writes for it, where nothing else can be meant."""

from __future__ import annotations

from typing import Any

from tests.tables import every
from toolsupport.core import free_text_tools
from toolsupport.core.call_validation import check
from toolsupport.core.events import CallReady, CallRejected
from toolsupport.core.free_text_tools import FROM_WORDS, read_again, takes_free_text
from toolsupport.core.types import JSON, ToolCall, ToolSpec

TEXT = {"type": "string"}
FREE = free_text_tools.parameters("A text.")
RUN = ToolSpec("run", "Runs.", FREE)
LOOSE = FREE | {"additionalProperties": True}


@every(
    ("rules", "free"),
    [
        ({}, True),
        ({"properties": {"input": TEXT}}, True),
        ({"properties": {"input": {"type": "integer"}}}, False),
        ({"properties": {"input": {"type": ["string", "null"]}}}, False),
        ({"properties": {"input": TEXT, "path": TEXT}}, False),
        ({"properties": {"text": TEXT}, "required": ["text"]}, False),
        ({"required": []}, False),
        ({"additionalProperties": True}, False),
        ({"additionalProperties": None}, False),
    ],
)
def test_only_a_tool_that_takes_one_text_and_nothing_else_is_one(rules: JSON, free: bool) -> None:
    assert takes_free_text(ToolSpec("run", "", FREE | rules)) is free


@every(
    ("arguments", "parameters", "text"),
    [
        ({"input": "a"}, FREE, "a"),
        ({"patch": "a"}, FREE, "a"),
        ({"": "a"}, FREE, "a"),
        ({"patch": "a", "path": "b"}, FREE, None),
        ({"patch": 3}, FREE, None),
        ({"patch": ["a"]}, FREE, None),
        ({"patch": None}, FREE, None),
        ({}, FREE, None),
        ({"patch": "a"}, LOOSE, None),
    ],
)
def test_another_key_is_read_as_the_text(arguments: JSON, parameters: JSON, text: str | None) -> None:
    checked = check(ToolCall("1", "run", arguments), [ToolSpec("run", "", parameters)])
    found = checked.call.arguments["input"] if isinstance(checked, CallReady) else None
    assert found == text
    assert not isinstance(checked, CallReady) or bool(checked.call.repairs) is (arguments != {"input": text})


@every(
    ("written", "text"),
    [
        ("ls -l", "ls -l"),
        (' "ls" ', "ls"),
        ('"ls" -l', None),
        ('"ls', None),
        ('{"input": "ls"', None),
        ('"{\\"input\\": \\"ls\\""', None),
        ("[1, 2]", None),
        (" ", None),
        ("", None),
        ('""', None),
        ("3", "3"),
        ("x" * 9 + "{", "x" * 9 + "{"),
    ],
)
def test_native_arguments_that_are_no_object_may_be_the_text(written: str, text: str | None) -> None:
    event = CallRejected("Run", "No object.", written, "1", arguments=written)
    expected: Any = event
    if text is not None:
        expected = CallReady(ToolCall("1", "Run", {"input": text}, (FROM_WORDS,)), written)
    assert read_again(event, [RUN]) == expected


def test_only_arguments_are_read_and_only_for_such_a_tool() -> None:
    raw = CallRejected("run", "No call.", "<tool_call>run", "1")
    other = CallRejected("run", "No object.", "ls", "1", arguments="ls")
    assert read_again(raw, [RUN]) is raw and read_again(other, []) is other
    assert read_again(other, [ToolSpec("run", "", LOOSE)]) is other
