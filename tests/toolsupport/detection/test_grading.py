"""The grade of one reply to a demand."""

from __future__ import annotations

import random
from itertools import islice

from tests.tables import every
from tests.toolsupport.detection.replied import replied
from toolsupport.core.events import CallRejected, Failed
from toolsupport.core.types import ToolCall
from toolsupport.detection.grading import judge
from toolsupport.detection.probe_prompts import TICKET, TOOLS, ProbePrompt
from toolsupport.detection.probe_reply import ProbeReply
from toolsupport.detection.probe_runner import ProbeRequest
from toolsupport.detection.trial_order import streamed_or_not
from toolsupport.providers.openai_codec import CALL_LOST

ASKED = ProbePrompt("K7F-3XDP", 4)
RIGHT = {"ticket": "K7F-3XDP", "copies": 4}
UNREADABLE = '{"error":"error parsing tool call: raw=\'x\', err=invalid character"}'


def called(**arguments: object) -> ProbeReply:
    return replied(calls=[ToolCall("1", TICKET.name, RIGHT | arguments)])


def rejected(fault: str) -> ProbeReply:
    return replied(rejected=[CallRejected("lookup", "Because.", "raw", fault=fault)])


REPLIES = {  # D6
    "right": (called(), "right"),
    "beside another tool": (replied(calls=[ToolCall("1", "list_rooms", {}), *called().calls]), "right"),
    "another tool": (replied(calls=[ToolCall("1", "list_rooms", {})]), "unknown_tool"),
    "another ticket": (called(ticket="AAA-AAAA"), "not_copied"),
    "another number": (called(copies=5), "wrong_arguments"),
    "no such tool": (rejected("unknown"), "unknown_tool"),
    "against the schema": (rejected("schema"), "wrong_arguments"),
    "unreadable": (rejected("unreadable"), "malformed"),
    "unreadable for its server": (replied(failed=Failed("server", "It failed.", 500, UNREADABLE)), "malformed"),
    "lost by its server": (replied(failed=Failed("garbled", CALL_LOST, 200)), "malformed"),
    "garbled in another way": (replied(failed=Failed("garbled", "Not JSON.", 200)), "failed"),
    "nothing": (replied(text="Hello!"), "no_call"),
    "not a word": (replied(failed=Failed("empty", "Nothing.")), "no_word"),
    "too late": (replied(failed=Failed("timeout", "Late.")), "timeout"),
    "its connection cut": (replied(failed=Failed("cut", "It broke off.")), "connection_cut"),
    "busy": (replied(failed=Failed("busy", "Later.", 503)), "failed"),
}


@every("what", REPLIES)
def test_each_way_has_its_code(what: str) -> None:
    reply, code = REPLIES[what]
    outcome = judge("called", ProbeRequest(ASKED.messages, TOOLS), reply, ASKED)
    assert outcome.code == code
    assert outcome.why


def test_a_right_call_that_was_repaired_names_the_repair() -> None:
    repaired = replied(calls=[ToolCall("1", TICKET.name, RIGHT, ("copies: read string as integer",))])
    outcome = judge("called", ProbeRequest(ASKED.messages, TOOLS), repaired, ASKED)
    assert outcome.code == "right"
    assert outcome.why.endswith("Repairs: copies: read string as integer.")


def test_two_of_the_first_three_trials_are_streamed_and_every_block_has_two_of_each() -> None:  # D6
    orders = [list(islice(streamed_or_not(random.Random(seed)), 12)) for seed in range(20)]
    assert all(order[:3] == [False, True, True] for order in orders)
    assert all(sorted(order[n : n + 2]) == [False, True] for order in orders for n in range(0, 12, 2))
    assert len({tuple(order) for order in orders}) == 4
