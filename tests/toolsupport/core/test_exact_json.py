"""A number of a call stays the number that the model wrote, however long it is."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.tables import every
from toolsupport.core import exact_json
from toolsupport.core.events import CallReady
from toolsupport.core.types import JSON, ChatMessage, Request, Role, ToolCall
from toolsupport.gateway.block_ordering import BlockStream
from toolsupport.gateway.chat_response import same_arguments
from toolsupport.gateway.conversation import arguments_of
from toolsupport.gateway.messages.response import content
from toolsupport.providers import codec

WEI = 123456789012345678901234567890
NUMBERS = (WEI, -WEI, 2**64, -(2**63) - 1, 2**64 - 1, 0, 0.5, 1e22)
CALL = {"index": 0, "id": "1", "function": {"name": "f", "arguments": f'{{"wei": {WEI}}}'}}


@every("number", NUMBERS)
def test_it_is_written_and_read_unchanged(number: float) -> None:
    for value in ({"a": number}, {"a": None, "b": [number, "é"]}):
        assert exact_json.loads(exact_json.dumps(value).decode()) == value


@every("text", ["", "{", "NaN", "[1e999]", '"\\ud800"', "1" * 5000])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        exact_json.loads(text)


@every("value", ["\ud800", float("inf"), {"a": float("nan")}])
def test_what_cannot_be_written_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        exact_json.dumps(value)


@every("kind", ["openai", "ollama"])
def test_it_is_the_same_in_a_native_call_and_in_the_next_request(kind: str) -> None:
    call = ToolCall("1", "f", {"wei": WEI})
    sent = codec(kind, 2**21).encode(Request("m", (ChatMessage(Role.ASSISTANT, calls=(call,)),)))
    assert str(WEI).encode() in sent
    delta: JSON = {"tool_calls": [CALL]}
    chunk = {"choices": [{"delta": delta, "finish_reason": "stop"}]} if kind == "openai" else {"message": delta}
    written = orjson.dumps(chunk | ({"done": True} if kind == "ollama" else {}))
    reader = codec(kind, 2**21)
    events = [*reader.feed(b"data: " * (kind == "openai") + written + b"\n\n"), *reader.flush()]
    assert [one.call.arguments for one in events if isinstance(one, CallReady)] == [{"wei": WEI}]


def test_programs_get_it_unchanged() -> None:
    stream = BlockStream()
    stream.take([CallReady(ToolCall("1", "f", {"wei": WEI}))])
    text = stream.blocks[0].text
    assert text == f'{{"wei":{WEI}}}' and same_arguments(text, {"wei": WEI})
    assert content(stream.blocks[0], text)["input"] == arguments_of(text) == {"wei": WEI}
