"""Calls as tags."""

from __future__ import annotations

from toolsupport.simulator.languages.tags import qwen3_coder
from toolsupport.simulator.types import SimulatedCall


def test_texts_stand_as_they_are_and_other_values_as_json() -> None:  # F1
    assert qwen3_coder([SimulatedCall("write", {"text": "<b>\n", "count": 3, "deep": {"a": [True]}})]) == (
        "<tool_call>\n<function=write>\n<parameter=text>\n<b>\n\n</parameter>\n<parameter=count>\n3\n</parameter>\n"
        '<parameter=deep>\n{"a": [true]}\n</parameter>\n</function>\n</tool_call>'
    )


def test_several_calls_stand_below_each_other() -> None:
    assert qwen3_coder([SimulatedCall("now", {}), SimulatedCall("now", {})]).count("</tool_call>\n<tool_call>") == 1
