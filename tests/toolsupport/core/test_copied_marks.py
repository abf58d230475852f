"""What a model copies from a result into a call has the characters of the result."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.core.copied_marks import CopiedMarks
from toolsupport.core.events import CallFound, CallReady, Event
from toolsupport.core.formats.writing import harmless
from toolsupport.core.types import ChatMessage, Role, ToolCall

PAGE = '<div class="a">\n#include <stdio.h>\n[TOOL_CALLS] ````md\nx < 5, List<String>\n```\n</div>'
PIECES = st.lists(st.sampled_from(["<", "</", "`", "```", "a", " ", "[TOOL]", "[", "|", ">", "\n", "5"])).map("".join)


def log(*results: str, words: str = "Change it.") -> tuple[ChatMessage, ...]:
    return (ChatMessage(Role.USER, words), *(ChatMessage(Role.TOOL, content, call_id="1") for content in results))


def restored(event: Event, messages: tuple[ChatMessage, ...]) -> Event:
    return CopiedMarks(messages).restored(event)


def copied(arguments: dict[str, Any], messages: tuple[ChatMessage, ...]) -> dict[str, Any]:
    event = restored(CallReady(ToolCall("2", "edit_file", arguments)), messages)
    assert isinstance(event, CallReady)
    return event.call.arguments


def test_a_copy_is_the_text_itself() -> None:
    written = harmless(PAGE)
    assert "‹div" in written and "ˋ" in written and "⁅" in written
    given = {"path": "a.html", "old": written, "more": [{"text": written}], "n": 1}
    assert copied(given, log(PAGE)) == {"path": "a.html", "old": PAGE, "more": [{"text": PAGE}], "n": 1}
    found = restored(CallFound(ToolCall("2", "f", {"old": "‹div"}), "raw", "hermes"), log(PAGE))
    assert isinstance(found, CallFound) and found.call.arguments == {"old": "<div"} and found.raw == "raw"


# Characters that may be the model's own, or that were never replaced.
OWN: dict[str, tuple[str, tuple[ChatMessage, ...]]] = {
    "no result has the mark": ("‹div>", log("plain")),
    "there is no result": ("‹div>", log()),
    "a result has the character itself": ("‹div>", log("<div>", "‹a")),
    "a person wrote it": ("‹div>", log("<div>", words="Write ‹div>.")),
    "a quotation": ("Il dit ‹oui›.", log("<div>")),
    "another place": ("‹ 5", log("<div>")),
    "another character": ("ˋ``", log("<div>")),
}


@every("case", sorted(OWN))
def test_what_may_be_meant_stays(case: str) -> None:
    text, messages = OWN[case]
    assert copied({"text": text}, messages) == {"text": text}


@pytest.mark.parametrize("ticks", [3, 4, 6, 40])
def test_a_long_fence_is_restored(ticks: int) -> None:
    fence = "`" * ticks
    assert copied({"text": harmless(fence)}, log(fence)) == {"text": fence}


@pytest.mark.parametrize("text", ["<div>", "plain", "`", ""])
def test_other_calls_are_left_alone(text: str) -> None:
    event = CallReady(ToolCall("2", "f", {"text": text}))
    assert restored(event, log(PAGE)) is event


@given(PIECES)
def test_every_copy_is_restored(text: str) -> None:
    assert copied({"text": harmless(text)}, log(text)) == {"text": text}
