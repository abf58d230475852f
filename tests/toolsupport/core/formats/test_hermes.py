"""Calls in Hermes' tags, sound and broken, and text that stays text."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tables import every
from tests.toolsupport.core.formats.replies import calls, read, rejections, text

NOW = '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'
# reply → the text of the answer, the calls
READ: dict[str, tuple[str, list[tuple[str, Any]]]] = {
    f"Let me see.\n{NOW}": ("Let me see.\n", [("now", {})]),
    f"{NOW}\n{NOW}\n": ("", [("now", {}), ("now", {})]),
    '<tool_call>{"name":"now"}': ("", [("now", {})]),
    '<toolcall>{"name":"now"}</toolcall>': ("", [("now", {})]),
    '<tool_call>[{"name":"now"},{"name":"now"}]</tool_call>': ("", [("now", {}), ("now", {})]),
    '<tool_call>{"arguments": {"days": "2"}, "name": "get_weather"}}</tool_call>': ("", [("get_weather", {"days": 2})]),
    "<tool_call>{'name': 'get_weather', 'args': {'city': 'Bonn's', 'detailed': True,}}</tool_call>": (
        "",
        [("get_weather", {"city": "Bonn's", "detailed": True})],
    ),
    '<tool_call>{"name":"write_file","arguments":{"content":"</tool_call>"}}</tool_call>.': (
        ".",
        [("write_file", {"content": "</tool_call>"})],
    ),
    "Write <tool_call> and then </tool_call> around it": ("Write <tool_call> and then </tool_call> around it", []),
    "half a <tool_ca": ("half a <tool_ca", []),
    f"<think>{NOW}</think>{NOW}": ("", [("now", {})]),
    f"<think>{NOW}": ("", [("now", {})]),
}


@every("reply", READ)
@every("size", [1, 2, 3, 7, 10_000])
def test_hermes(reply: str, size: int) -> None:
    events = read("hermes", [reply[at : at + size] for at in range(0, len(reply), size)])
    assert (text(events), calls(events)) == READ[reply]
    assert events == read("hermes", [reply])


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ('<tool_call>{"name": "write_file", "arguments": {"content": "half of', "middle of a value"),
        ('<tool_call>{"arguments": {}}</tool_call>', "no name"),
        ('<tool_call>{"name": "now", "arguments": ' + "[" * 70 + "</tool_call>", "levels deep"),
    ],
)
def test_a_broken_call_stays_text_and_is_told(reply: str, reason: str) -> None:
    events = read("hermes", [reply])
    assert (text(events), calls(events)) == (reply, [])
    assert [reason in rejection.reason and rejection.raw == reply for rejection in rejections(events)] == [True]
