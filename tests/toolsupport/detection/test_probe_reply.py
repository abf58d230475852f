"""A reply under test is judged by the same events as one in a chat: void calls of a chat count nowhere."""

from __future__ import annotations

import pytest

from tests.toolsupport.detection.replied import replied
from toolsupport.core.events import (
    CallGarbled,
    CallReady,
    CallRejected,
    Event,
    Failed,
    Finished,
    TextDelta,
    TextReclassified,
    ToolsRefused,
    Usage,
)
from toolsupport.core.reply_builder import ReplyBuilder
from toolsupport.core.types import ToolCall
from toolsupport.detection import ProbeReply, parallel
from toolsupport.detection.probe_prompts import TICKET, ProbePrompt
from toolsupport.detection.probe_reply import trouble
from toolsupport.detection.text_formats import written_in
from toolsupport.providers.openai_codec import CALL_LOST

ONE, OTHER = ProbePrompt("AAA-AAAA", 1), ProbePrompt("BBB-BBBB", 2)
READY = [
    CallReady(ToolCall(one.ticket, TICKET.name, {"ticket": one.ticket, "copies": one.copies})) for one in (ONE, OTHER)
]
REFUSED = CallRejected("lookup", "No such tool.", "raw", "c", fault="unknown")
UNREADABLE = '{"error": "XML syntax error on line 14: element <parameter> closed by </function>"}'
ENDS: dict[str, Event] = {
    "garbled": CallGarbled("why", "rule"),
    "unreadable for its server": Failed("server", "It failed.", 500, UNREADABLE),
    "lost by its server": Failed("garbled", CALL_LOST, 200),
    "reasoning after all": TextReclassified("", "hm"),
}


@pytest.mark.parametrize("end", ENDS)
def test_calls_that_a_chat_makes_void_are_none(end: str) -> None:
    reply, chat = ProbeReply(), ReplyBuilder()
    for event in (*READY, REFUSED, ENDS[end]):
        reply.take(event)
        chat.take(event)
    if not isinstance(ENDS[end], TextReclassified):
        chat.take(CallGarbled("", ""))  # what the exchange makes of such a failure in a chat
    assert (reply.calls, reply.written) == ([], [])
    assert reply.rejected == chat.calls
    assert parallel.judged(reply, (ONE, OTHER))[0] == "none_made"


def test_other_failures_leave_them() -> None:
    reply = replied(calls=[one.call for one in READY])
    reply.take(Failed("timeout", "Late."))
    assert parallel.judged(reply, (ONE, OTHER))[0] == "right"


WHOLE = "<tool_call>\n<function=lookup_ticket>\n<parameter=ticket>\nK7F\n</parameter>\n</function>\n</tool_call>"


def test_a_call_that_is_withdrawn_is_written_in_no_format() -> None:
    assert "qwen3_coder_xml" in written_in(WHOLE)
    assert written_in(f"{WHOLE}\nand so on\n</parameter>\n</function>\n</tool_call>") == ()


def test_the_last_event_of_each_kind_is_kept() -> None:
    reply = ProbeReply()
    refused, failed = ToolsRefused("no tools", "rule", 400), Failed("server", "It failed.", 500, "")
    for event in (Usage(1, 2), refused, failed, Usage(3, 4), Finished("stop")):
        reply.take(event)
    assert (reply.refused, reply.failed, reply.usage, reply.finish) == (refused, failed, Usage(3, 4), "stop")


@pytest.mark.parametrize("text", ["", " \n", "\u200b\n\ufeff", "\u2060 \u200e"])
def test_a_reply_that_nobody_sees_is_empty(text: str) -> None:
    reply = ProbeReply()
    reply.take(TextDelta(text))
    reply.take(Finished("stop"))
    assert (trouble(reply) or ("",))[0] == "no_word"


@pytest.mark.parametrize(("tokens", "counted"), [(0, False), (1, False), (2, True)])
def test_an_empty_reply_is_counted_from_two_tokens_on(tokens: int, counted: bool) -> None:
    reply = ProbeReply()
    reply.take(Usage(5, tokens))
    reply.take(Finished("stop"))
    found = trouble(reply)
    assert found is not None and found[0] == "no_word"
    assert (f"{tokens} tokens" in found[1]) is counted
