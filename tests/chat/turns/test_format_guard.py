"""A format fails where two replies in a row hold nothing but calls that cannot be read."""

from __future__ import annotations

from chat.turns.format_guard import FormatGuard
from toolsupport.core.events import CallReady, CallRejected
from toolsupport.core.types import ToolCall

READY = CallReady(ToolCall("1", "read_file", {}))
BROKEN = CallRejected("", "no JSON", "{", "1")
UNKNOWN = CallRejected("reed", "no such tool", "{}", "1", fault="unknown")


def verdicts(*replies: list[CallReady | CallRejected]) -> list[bool]:
    guard, found = FormatGuard(), []
    for reply in replies:
        for event in reply:
            guard.received(event)
        found.append(guard.replied())
    return found


# F11
def test_the_second_time_in_a_row_is_too_often() -> None:
    assert verdicts([BROKEN], [BROKEN, BROKEN], [BROKEN], [BROKEN]) == [False, True, False, True]


def test_one_call_that_can_be_read_is_enough() -> None:
    assert verdicts([BROKEN], [BROKEN, READY], [BROKEN], [UNKNOWN], [BROKEN]) == [False] * 5


def test_a_reply_without_calls_is_no_failure() -> None:
    assert verdicts([BROKEN], [], [BROKEN]) == [False] * 3
