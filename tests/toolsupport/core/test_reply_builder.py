"""The sum of the events of a reply, however its text is split."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import toolsupport
from tests.tables import every
from toolsupport.core.events import (
    CallDelta,
    CallFound,
    CallGarbled,
    CallReady,
    CallRejected,
    Event,
    Failed,
    Finished,
    TextDelta,
    TextReclassified,
    ThinkingDelta,
    Usage,
)
from toolsupport.core.reply_builder import ReplyBuilder
from toolsupport.core.types import ToolCall

READY = CallReady(ToolCall("1", "read_file", {"path": "a"}))
FOUND = CallFound(ToolCall("2", "read_file", {"path": "b"}), "", "hermes")
REFUSED = CallRejected("nothing", "No such tool.", "")
GARBLED = CallGarbled("why", "rule")
FAILED = Failed("cut", "The stream broke off.")

ROWS: list[tuple[str, list[Event], str, str, list[Event]]] = [
    ("nothing", [], "", "", []),
    (
        "text and reasoning",
        [ThinkingDelta("h"), ThinkingDelta("m"), TextDelta("Hel"), TextDelta("lo")],
        "Hello",
        "hm",
        [],
    ),
    ("all kinds of calls", [TextDelta("a"), READY, REFUSED, FOUND], "a", "", [READY, REFUSED, FOUND]),
    ("pieces of a call are none", [CallDelta("1", "read_file", '{"pa'), READY], "", "", [READY]),
    ("text that was reasoning", [TextDelta("hm"), TextReclassified("Hello", "hm")], "Hello", "hm", []),
    ("reasoning that was text", [ThinkingDelta("no, yes"), TextReclassified("yes", "", 5)], "yes", "no", []),
    ("calls in what was reasoning are void", [READY, TextReclassified("", "hm"), FOUND], "", "hm", [FOUND]),
    ("text goes on behind it", [TextDelta("hm"), TextReclassified("A", "hm"), TextDelta("B")], "AB", "hm", []),
    (
        "calls that a server could not read",
        [READY, REFUSED, CallGarbled("why", "rule"), READY],
        "",
        "",
        [REFUSED, READY],
    ),
    ("what is no part of it", [Usage(1, 2), TextDelta("a"), Finished("stop")], "a", "", []),
]


@every("row", ROWS)
def test_what_the_events_add_up_to(row: tuple[str, list[Event], str, str, list[Event]]) -> None:
    _, events, text, thinking, calls = row
    reply = ReplyBuilder()
    for event in events:
        reply.take(event)
    assert (reply.text, reply.thinking, reply.calls, reply.failed) == (text, thinking, calls, None)


def test_a_failure_is_kept_with_what_came_before() -> None:
    reply = ReplyBuilder("So", "hm")
    for event in (TextDelta(" far"), FAILED):
        reply.take(event)
    assert (reply.text, reply.thinking, reply.failed) == ("So far", "hm", FAILED)


@given(st.lists(st.tuples(st.text(max_size=4), st.booleans(), st.booleans())))
def test_reading_it_in_between_changes_nothing(pieces: list[tuple[str, bool, bool]]) -> None:
    reply, text, thinking = ReplyBuilder(), "", ""
    for piece, is_text, looks in pieces:
        reply.take(TextDelta(piece) if is_text else ThinkingDelta(piece))
        text, thinking = text + piece * is_text, thinking + piece * (not is_text)
        if looks:
            assert (reply.text, reply.thinking) == (text, thinking)
    assert (reply.text, reply.thinking) == (text, thinking)


def test_reclassified_text_is_moved_in_one_place() -> None:
    """Elsewhere it is only passed on, or compared with what was sent."""
    root = Path(toolsupport.__file__).parent.parent
    places = [*(root / "toolsupport").rglob("*.py"), *(root / "chat").rglob("*.py")]
    found = {path.name for path in places if ".reasoning(" in path.read_text()}
    # live_reply.py keeps what grows on open pages, with its offsets.
    assert found == {"reply_builder.py", "live_reply.py"}
