"""Verdicts of the steps besides the first call: the used result, two calls at once, each file tool."""

from __future__ import annotations

import json
import re

import pytest

from tests.tables import every
from tests.toolsupport.detection.replied import replied
from tests.toolsupport.detection.test_silent_servers import server, verdict_of
from toolsupport.core.events import CallRejected
from toolsupport.core.types import ToolCall
from toolsupport.detection import parallel, per_tool, second_turn
from toolsupport.detection.probe_prompts import ProbePrompt
from toolsupport.detection.probe_reply import ProbeReply

SEAT = "K7F-3XDP"
USED = [
    "Your seat is K7F-3XDP.",
    "your seat is k7f-3xdp",
    "Seat: **K7F**-**3XDP**",
    "Seat `K7F-3XDP`!",
    "Seat K7F\u20113XDP",  # non-breaking hyphen
    "Seat K7F\u20103XDP, K7F\u20133XDP",
    "Seat K7F\u22123XDP",  # minus
    "Seat K7F \u2014 3XDP",
    "Seat K7F - 3XDP",
    "Seat K7F\u00a0-\u00a03XDP",
    "Seat K7F\u00ad-3XDP",  # soft hyphen
    "Seat K7F-\u200b3XDP",
    "Seat K7F 3XDP",
    "Seat K7F3XDP",
    "Seat K-7-F-3-X-D-P",
    "Seat K 7 F - 3 X D P",
    "Seat K7F dash 3XDP",
    "Seat K7F, hyphen, 3XDP",
    "Sitz K7F Bindestrich 3XDP",
    "Siège K7F tiret 3XDP",
    "座位是Ｋ７Ｆ－３ＸＤＰ。",
    "座席はK7F‐3XDPです",
    "<b>K7F</b>-<b>3XDP</b>",
    "Seat K7F&#8209;3XDP",
    "Seat K7F&ndash;3XDP",
    r"Seat $\text{K7F-3XDP}$ and K7F\-3XDP",
    "| Seat |\n|---|\n| K7F\\-3XDP |",
]
NOT_USED = ["I do not know the seat.", "Seat K7F", "Seat 3XDP", "Seat K7F-3XDQ", "Seat K7F-3-DP", "Seat 3XDP-K7F"]


@every("text", USED)
def test_a_seat_is_the_same_however_it_is_written(text: str) -> None:
    assert second_turn.judged(replied(text=text), SEAT)[0] == "right"


@every("text", NOT_USED)
def test_another_seat_is_not_the_one(text: str) -> None:
    assert second_turn.judged(replied(text=text), SEAT)[0] == "not_copied"


def test_a_seat_that_another_call_passes_on_is_used() -> None:
    call = ToolCall("1", "list_rooms", {"building": ["The seat k7f‑3xdp"]})
    assert second_turn.judged(replied(calls=[call]), SEAT)[0] == "right"
    refused = CallRejected("show_seat", "There is no such tool.", '{"seat":"K7F-3XDP"}', fault="unknown")
    assert second_turn.judged(replied(rejected=[refused]), SEAT)[0] == "right"
    again = ToolCall("1", "lookup_ticket", {"ticket": "AAA-AAAA", "copies": 2})
    assert second_turn.judged(replied(calls=[again]), SEAT)[0] == "called_for_nothing"


def test_a_seat_in_reasoning_alone_proves_nothing() -> None:
    reply = replied(text="I found your seat; enjoy the film.", thinking=f"The seat is {SEAT}.")
    assert second_turn.judged(reply, SEAT)[0] == "proves_nothing"


ONE, OTHER = ProbePrompt("AAA-AAAA", 2), ProbePrompt("CCC-CCCC", 3)


def ticket(asked: ProbePrompt, **others: object) -> ToolCall:
    return ToolCall("1", "lookup_ticket", {"ticket": asked.ticket, "copies": asked.copies, **others})


def unfit(name: str, raw: str, fault: str = "schema") -> CallRejected:
    return CallRejected(name, "It does not fit.", raw, fault=fault)


PAIRS = {
    "both": (replied(calls=[ticket(ONE), ticket(OTHER)]), "right"),
    "one": (replied(calls=[ticket(ONE)]), "only_one"),
    "the same twice": (replied(calls=[ticket(ONE), ticket(ONE)]), "only_one"),
    "none": (replied(text="No."), "none_made"),
    "the second against the schema": (
        replied(calls=[ticket(ONE)], rejected=[unfit("lookup_ticket", '{"ticket":"CCC-CCCC","copies":"several"}')]),
        "proves_nothing",
    ),
    "both against the schema": (
        replied(rejected=[unfit("lookup_ticket", '{"a":1}'), unfit("lookup_ticket", '{"a":2}')]),
        "proves_nothing",
    ),
    "the second of an unknown name": (
        replied(calls=[ticket(ONE)], rejected=[unfit("lookup_tickets", "{}", "unknown")]),
        "proves_nothing",
    ),
    "the second unreadable": (
        replied(calls=[ticket(ONE)], rejected=[unfit("lookup_ticket", '{"ticket', "unreadable")]),
        "proves_nothing",
    ),
    "another tool beside it": (
        replied(calls=[ticket(ONE), ToolCall("2", "list_rooms", {"building": "x"})]),
        "proves_nothing",
    ),
    "two others": (replied(calls=[ticket(ProbePrompt("X", 1)), ticket(ProbePrompt("Y", 1))]), "proves_nothing"),
    "one against the schema": (replied(rejected=[unfit("lookup_ticket", "{}")]), "none_made"),
}


@every("name", PAIRS)
def test_two_calls_at_once(name: str) -> None:
    reply, code = PAIRS[name]
    assert parallel.judged(reply, (ONE, OTHER))[0] == code


ABOUT = "notes42"


def call(name: str, **arguments: object) -> ProbeReply:
    return replied(calls=[ToolCall("1", name, arguments)])


FILES = {
    "as demanded": (call("read_file", path="notes42.txt"), "right"),
    "by another path to it": (call("read_file", path="./work/Notes42.txt"), "right"),
    "another file": (call("read_file", path="."), "proves_nothing"),
    "another path": (call("read_file", path="path/to/file.txt"), "proves_nothing"),
    "another name of the argument": (
        replied(rejected=[unfit("read_file", '{"filename":"notes42.txt"}')]),
        "right",
    ),
    "rejected and about something else": (replied(rejected=[unfit("read_file", '{"path":7}')]), "proves_nothing"),
    "unreadable": (replied(rejected=[unfit("read_file", '{"path": "notes42', "unreadable")]), "right"),
    "another tool, rejected": (
        replied(rejected=[unfit("open_file", '{"path":"notes42.txt"}', "unknown")]),
        "no_call",
    ),
    "through the shell": (call("bash", command="cat notes42.txt"), "via_bash"),
    "the shell for something else": (call("bash", command="ls"), "proves_nothing"),
    "talk": (replied(text="You can open the file notes42.txt in an editor."), "no_call"),
    "a question": (replied(text="Should I overwrite the file if it exists already?"), "proves_nothing"),
    "a question in Japanese": (replied(text="ファイルを上書きしてもよろしいですか？"), "proves_nothing"),
    "a question in bold": (replied(text="**Do you mean notes42.txt?**"), "proves_nothing"),
    "a question with a word after it": (
        replied(text="Does the file exist already? Please confirm."),
        "proves_nothing",
    ),
    "a denial with a question": (replied(text="I can't access files. Could you paste it here?"), "no_call"),
}


@every("name", FILES)
def test_a_file_tool_is_called_for_its_file(name: str) -> None:
    reply, code = FILES[name]
    assert per_tool.judged(reply, "read_file", ABOUT)[0] == code


def test_a_question_far_from_the_end_is_none() -> None:
    text = "What is a file? " + "A file holds data. " * 40
    assert per_tool.judged(replied(text=text), "read_file", ABOUT)[0] == "no_call"


@pytest.mark.asyncio
async def test_a_server_that_refuses_tools_with_streaming_is_asked_without() -> None:
    def answer(_: int, raw: bytes) -> tuple[int, bytes]:
        body = json.loads(raw)
        if "messages" not in body:
            return 404, b"{}"
        if body.get("tools") and body.get("stream", True):
            return 400, b'{"error":"Streaming is not supported when tools are provided"}'
        wanted = re.search(r'with ticket "([A-Z0-9-]+)" and copies (\d+)', body["messages"][-1]["content"])
        message: dict[str, object] = {"role": "assistant", "content": "Hello."}
        if wanted and body.get("tools"):
            call = {"name": "lookup_ticket", "arguments": {"ticket": wanted[1], "copies": int(wanted[2])}}
            message["tool_calls"] = [{"function": call}]
        return 200, json.dumps({"message": message, "done": True, "done_reason": "stop"}).encode() + b"\n"

    async with server(answer) as endpoint:
        verdict = await verdict_of(endpoint)
    assert (verdict.name, verdict.values["tools"], verdict.values["streaming"]) == ("native", True, False)
