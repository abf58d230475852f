"""What the closed card of a call says."""

from __future__ import annotations

import pytest

from chat.transcript.messages.present import phrase


@pytest.mark.parametrize(
    ("name", "arguments", "line"),
    [
        ("read_file", {"path": "a b.txt"}, ("Read", "a b.txt")),
        ("bash", {"command": "\nls\nrm -r x"}, ("Run", "ls")),
        ("hot_swap", {"prompts": ["brief", "translator"]}, ("Swap prompts", "brief, translator")),
        ("read_file", {"path": 7}, ("Read", "")),
        ("read_file", {}, ("Read", "")),
        ("mail__send", {"to": "x"}, ("Ask mail", "send")),
        ("gone", {"path": "x"}, ("Asked for", "gone")),
        ("", {}, ("Unreadable call", "")),
    ],
)
def test_it_names_the_tool_and_what_it_is_about(name: str, arguments: dict[str, object], line: tuple[str, str]) -> None:
    assert phrase(name, arguments) == line
