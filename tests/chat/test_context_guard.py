"""The guard of a turn says what does not fit, and learns what tools cost (F9)."""

from __future__ import annotations

from chat.context_guard import CUT, TOO_LONG, ContextGuard
from chat.notices import NOTICES
from toolsupport.core.events import Usage
from toolsupport.core.prompt.fitting import Counted, Counts
from toolsupport.core.words import Brief, Capabilities, Message, Role, ToolSpec

BRIEF = Brief("m", Capabilities({}), (ToolSpec("f"),), format="native", options={"num_ctx": 1000})
PLAIN = Brief("m", Capabilities({}), options={"num_ctx": 1000})


def said(length: int) -> list[Message]:
    return [Message(Role.USER, "x" * length)]


def test_what_it_says_has_words() -> None:
    assert {TOO_LONG, CUT} <= set(NOTICES)


def test_a_prompt_that_is_too_long_is_said_before_it_is_sent() -> None:
    guard = ContextGuard(Counts(Counted(0, 700)))
    assert guard.asked(BRIEF, said(400)) == ""
    assert guard.asked(BRIEF, said(1600)) == TOO_LONG
    assert guard.asked(PLAIN, said(1600)) == ""


def test_a_cut_is_said_and_teaches_nothing() -> None:
    guard = ContextGuard(Counts())
    guard.asked(PLAIN, said(6000))
    assert guard.answered(PLAIN, Usage(512)) == CUT
    assert guard.lesson(PLAIN, Usage(512)) is None
    assert guard.answered(PLAIN, Usage(None)) == guard.answered(PLAIN, Usage(0)) == ""


def test_only_a_shorter_request_than_any_before_teaches() -> None:
    guard = ContextGuard(Counts(Counted(300, 200), None))
    guard.asked(BRIEF, said(400))
    assert guard.lesson(BRIEF, Usage(230)) is None
    assert guard.lesson(PLAIN, Usage(110)) == Counted(400, 110)
    guard.asked(BRIEF, said(100))
    assert guard.lesson(BRIEF, Usage(150)) == Counted(100, 150)
    assert guard.lesson(BRIEF, Usage(150)) is None
    assert guard.lesson(BRIEF, Usage(None)) is None
