"""Calls in the text of an answer: noticed, named with their format, and left where they stand."""

from __future__ import annotations

import pytest

from tests.tables import every
from tests.toolsupport.core.formats.replies import OFFERED
from toolsupport.core.events import CallFound
from toolsupport.core.formats.calls_in_prose import MOST_FOUND, ProseWatcher

FOUND = {
    'I would call:\n```json\n{"name": "now", "arguments": {}}\n```\nShall I?': "pure_json",
    'Well: {"name": "now", "parameters": {}}': "pure_json",
    '<tool_call>\n{"name": "now"}\n</tool_call>': "hermes",
    "<tool_call>\n<function=now>\n</function>\n</tool_call>": "qwen3_coder_xml",
    "<function=now></function>": "qwen3_coder_xml",
    "[TOOL_CALLS]now[ARGS]{}": "mistral",
    "now[ARGS]{}": "mistral_args",
    'You would write `{"name": "now", "arguments": {}}` for that.': "pure_json",
    '<|python_tag|>{"name": "now", "parameters": {}}': "llama3_json",
}


def watched(text: str, size: int = 3) -> list[CallFound]:
    watcher = ProseWatcher(OFFERED)
    for at in range(0, len(text), size):
        watcher.watch(text[at : at + size])
    return watcher.flush()


@every("text", FOUND)
def test_a_call_in_prose_is_found(text: str) -> None:  # F5
    assert [(one.call.name, one.format) for one in watched(text)] == [("now", FOUND[text])]
    assert all(one.raw in text for one in watched(text))


@pytest.mark.parametrize(
    "text",
    [
        'The file holds {"name": "Bonn", "arguments": {}}.',
        '<tool_call>{"name": "format_disk", "arguments": {}}</tool_call>',
        "Call now() if you like.",
        '{"name": "write_file", "arguments": {"content": "half',
    ],
)
def test_what_is_no_call_of_an_offered_tool_is_left(text: str) -> None:
    assert watched(text) == []


def test_there_is_a_most_that_is_told() -> None:
    assert len(watched('{"name": "now", "arguments": {}}\n' * (MOST_FOUND + 5))) == MOST_FOUND


def test_without_tools_nothing_is_found() -> None:
    watcher = ProseWatcher(())
    watcher.watch('<tool_call>{"name": "now"}</tool_call>')
    assert watcher.flush() == []
