"""A person's request is read without the texts that their program added."""

from __future__ import annotations

from tests.processor_time import must_cost_at_most
from toolsupport.simulator.types import HistoryMessage, ModelInput, without_notes

OWN = {
    "<system-reminder>\nToday is 2026-11-23.\n</system-reminder>\n\nList the files": "List the files",
    "List the files <environment_context><cwd>/a/b.txt</cwd></environment_context>": "List the files",
    "<user_instructions>Read a.txt</user_instructions>": "<user_instructions>Read a.txt</user_instructions>",
    "<system-reminder>never closed. List the files": "<system-reminder>never closed. List the files",
    "<tool_response>42</tool_response> Go on": "<tool_response>42</tool_response> Go on",
    "What does <b>this</b> say?": "What does <b>this</b> say?",
}


def test_notes_of_programs_are_not_asked() -> None:  # G10
    assert {text: without_notes(text) for text in OWN} == OWN
    assert ModelInput((HistoryMessage("user", "<a-note>x</a-note>Hello"),)).asked == "Hello"


def test_many_open_marks_cost_little() -> None:
    text = "".join(f"<a-{'b' * (number % 30)}c{'d' * (number % 7)}>" for number in range(50_000))
    with must_cost_at_most(1):
        assert without_notes(text) == text
