"""The text of a growing reply for open pages, and the part of it that is stored already."""

from __future__ import annotations

import pytest

from chat.broadcast import frames
from chat.turns.live_reply import LiveReply
from toolsupport.core.events import CallDelta, TextDelta, TextReclassified, ThinkingDelta


@pytest.fixture
def sent() -> list[frames.ServerFrame]:
    return []


@pytest.fixture
def reply(sent: list[frames.ServerFrame]) -> LiveReply:
    made = LiveReply(sent.append, 7)
    made.begin()
    return made


def test_offsets_count_utf16_units(reply: LiveReply, sent: list[frames.ServerFrame]) -> None:
    for text in ("a😀", "b"):
        reply.add_text(TextDelta(text))
    reply.add_thinking(ThinkingDelta("hm"))
    assert sent == [
        frames.TextDeltaFrame(7, 0, "a😀"),
        frames.TextDeltaFrame(7, 3, "b"),
        frames.ThinkingDeltaFrame(7, 0, "hm"),
    ]
    assert reply.whole() == [frames.ResyncFrame(7, "a😀b", "hm")]


def test_reclassified_text_is_sent_as_a_whole(reply: LiveReply, sent: list[frames.ServerFrame]) -> None:
    reply.add_text(TextDelta("hm"))
    reply.reclassify(TextReclassified("Hi", "hm"))
    reply.add_text(TextDelta("!"))
    assert sent[1:] == [frames.ResyncFrame(7, "Hi", "hm"), frames.TextDeltaFrame(7, 2, "!")]
    assert reply.thinking_ms is not None


def test_it_grew_until_the_rows_have_all_of_it(reply: LiveReply) -> None:
    assert not reply.grew
    reply.add_text(TextDelta("a"))
    assert reply.grew
    reply.mark_written()
    assert not reply.grew
    reply.add_thinking(ThinkingDelta("b"))
    assert reply.grew


def test_before_the_first_message_nothing_is_to_be_written() -> None:
    reply = LiveReply(lambda _: None)
    reply.add_text(TextDelta("a"))
    assert not reply.grew and reply.whole() == []


def test_the_next_reply_begins_empty(reply: LiveReply, sent: list[frames.ServerFrame]) -> None:
    reply.add_text(TextDelta("first"))
    reply.add_call_piece(CallDelta("1", "f", "{"))
    reply.begin()
    reply.message = 8
    reply.add_text(TextDelta("second"))
    reply.add_call_piece(CallDelta("1", "f", "{"))
    assert sent[-2:] == [frames.TextDeltaFrame(8, 0, "second"), frames.CallDeltaFrame(8, "1", "f", 0, "{")]


def test_calls_that_are_written_again_begin_at_their_first_character(
    reply: LiveReply, sent: list[frames.ServerFrame]
) -> None:
    reply.add_call_piece(CallDelta("1", "f", '{"a": '))
    reply.forget_calls()
    reply.add_call_piece(CallDelta("1", "f", "{}"))
    assert sent[-1] == frames.CallDeltaFrame(7, "1", "f", 0, "{}")
