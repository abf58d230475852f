"""Streams of OpenAI-compatible servers, in every chunking."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from tests.toolsupport.providers.openai_reply import decode, request_spec
from toolsupport.core.events import (
    FAILURES,
    CallDelta,
    CallReady,
    CallRejected,
    Event,
    Failed,
    Finished,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from toolsupport.core.types import ToolCall
from toolsupport.providers import codec

KEYS = [
    "delta",
    "message",
    "content",
    "reasoning",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "index",
    "id",
    "type",
]
ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
)


def sse(*chunks: Any) -> bytes:
    return b"".join(
        b"data: " + (chunk if isinstance(chunk, bytes) else orjson.dumps(chunk)) + b"\n\n" for chunk in chunks
    )


def said(finish: str | None = None, **delta: Any) -> dict:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def asked(*elements: dict, finish: str | None = None) -> dict:
    return said(finish, tool_calls=list(elements))


def piece(arguments: Any = None, index: Any = 0, **names: Any) -> dict:
    function = {key: names.pop(key) for key in ("name",) if key in names} | {"arguments": arguments}
    return {"index": index, **names, "function": function}


def ready(id_: str, name: str, raw: str) -> CallReady:
    return CallReady(ToolCall(id_, name, json.loads(raw) if raw.strip() else {}), raw)


NULLS = {"content": None, "reasoning": None, "tool_calls": None, "function_call": None, "refusal": None}
HI, STOP, CALLED = said(content="Hi"), said("stop"), said("tool_calls")
F = '{"a":1}'
BOTH: list[Event] = [ready("1", "f", F), ready("2", "g", F), Finished("tool_calls")]
DELTAS: list[Event] = [CallDelta("1", "f", F), CallDelta("2", "g", F)]
END: list[Event] = [TextDelta("Hi"), Finished("stop")]

# what it is → its bytes and its events; a Failed is compared by its kind only
CASES: dict[str, tuple[bytes, list[Event | str]]] = {
    "plain": (sse(HI, STOP, b"[DONE]"), [*END]),
    "no [DONE]": (sse(HI, STOP), [*END]),
    "no line end at the end": (sse(HI, STOP).rstrip(), [*END]),
    "no space, no blank lines": (sse(HI, STOP).replace(b"data: ", b"data:").replace(b"\n\n", b"\n"), [*END]),
    "CRLF": (sse(HI, STOP, b"[DONE]").replace(b"\n", b"\r\n"), [*END]),
    "line ends that are none": (
        sse(said(content="a\u2028b\u0085c\vd"), STOP),
        [TextDelta("a\u2028b\u0085c\vd"), Finished("stop")],
    ),
    "comments, ids and event names": (
        b": ping\n\n:\nid: 1\nretry: 5\nevent: message\n" + sse(HI) + b": x\n" + sse(STOP),
        [*END],
    ),
    "finish in the last piece of text": (sse(said("length", content="Hi")), [TextDelta("Hi"), Finished("length")]),
    "usage before the end": (
        sse(HI, STOP, {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}, b"[DONE]"),
        [TextDelta("Hi"), Usage(3, 2), Finished("stop")],
    ),
    "usage in the choice": (
        sse(HI, {"choices": [{"delta": {}, "finish_reason": "stop", "usage": {"prompt_tokens": 3}}]}),
        [TextDelta("Hi"), Usage(3), Finished("stop")],
    ),
    "usage where Groq writes it": (
        sse(HI | {"x_groq": {"id": "r"}}, STOP | {"x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": 2}}}),
        [TextDelta("Hi"), Usage(3, 2), Finished("stop")],
    ),
    "an error where Groq writes it": (
        sse(HI, STOP | {"x_groq": {"error": "over capacity"}}),
        [TextDelta("Hi"), "server"],
    ),
    "usage and times apart": (
        sse(
            HI,
            STOP | {"timings": {"prompt_ms": 1, "predicted_ms": 2.5}},
            {"choices": [], "usage": {"prompt_tokens": 3}},
        ),
        [TextDelta("Hi"), Usage(3, None, None, 1.0, 2.5), Finished("stop")],
    ),
    "nulls everywhere": (
        sse({"choices": None, "usage": None, "error": None}, said(**NULLS), HI, {"choices": [{"delta": None}]}, STOP),
        [*END],
    ),
    "both names of reasoning": (
        sse(said(reasoning="a", reasoning_content="a"), said(reasoning="b"), HI, STOP),
        [ThinkingDelta("a"), ThinkingDelta("b"), *END],
    ),
    "text in parts": (
        sse(
            said(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]),
            said(content=[{"type": "text", "text": "Hi"}]),
            STOP,
        ),
        [ThinkingDelta("hm"), *END],
    ),
    "a call in pieces": (
        sse(asked(piece("", id="1", name="f")), asked(piece('{"a"')), asked(piece(":1}")), CALLED),
        [CallDelta("1", "f", '{"a"'), CallDelta("1", "f", ":1}"), ready("1", "f", F), Finished("tool_calls")],
    ),
    "id and name in every piece": (
        sse(
            asked(piece("", id="1", name="f")),
            asked(piece('{"a"', id="1", name="f")),
            asked(piece(":1}", id="1", name="f")),
            CALLED,
        ),
        [CallDelta("1", "f", '{"a"'), CallDelta("1", "f", ":1}"), ready("1", "f", F), Finished("tool_calls")],
    ),
    "another id in every piece": (
        sse(asked(piece('{"a"', id="1", name="f")), asked(piece(":1}", id="9", name="f")), CALLED),
        [CallDelta("1", "f", '{"a"'), CallDelta("1", "f", ":1}"), ready("1", "f", F), Finished("tool_calls")],
    ),
    "an empty name later": (
        sse(
            asked(piece('{"a"', id="1", name="f")),
            asked(piece(":1}", id="", name="")),
            asked(piece("", id=None, name=None)),
            CALLED,
        ),
        [CallDelta("1", "f", '{"a"'), CallDelta("1", "f", ":1}"), ready("1", "f", F), Finished("tool_calls")],
    ),
    "the name comes last": (
        sse(asked(piece('{"a"', id="1")), asked(piece(":1}", name="f")), CALLED),
        [CallDelta("1", "f", '{"a"'), CallDelta("1", "f", ":1}"), ready("1", "f", F), Finished("tool_calls")],
    ),
    "two calls in turn": (
        sse(
            asked(piece('{"a"', 0, id="1", name="f")),
            asked(piece(F, 1, id="2", name="g")),
            asked(piece(":1}", 0)),
            CALLED,
        ),
        [CallDelta("1", "f", '{"a"'), DELTAS[1], CallDelta("1", "f", ":1}"), *BOTH],
    ),
    "whole calls in one piece": (
        sse(asked(piece(F, 0, id="1", name="f"), piece(F, 1, id="2", name="g")), CALLED),
        [*DELTAS, *BOTH],
    ),
    "all under index 0": (sse(asked(piece(F, id="1", name="f"), piece(F, id="2", name="g")), CALLED), [*DELTAS, *BOTH]),
    "no index": (
        sse(asked(piece(F, None, id="1", name="f"), piece(F, None, id="2", name="g")), CALLED),
        [*DELTAS, *BOTH],
    ),
    "twice the same, under index 0": (
        sse(asked(piece(F, id="1", name="f"), piece(F, id="2", name="f")), CALLED),
        [
            CallDelta("1", "f", F),
            CallDelta("2", "f", F),
            ready("1", "f", F),
            ready("2", "f", F),
            Finished("tool_calls"),
        ],
    ),
    "no index, no ids": (
        sse(asked(piece(F, None, name="f"), piece(F, None, name="f")), CALLED),
        [
            CallDelta("call_0", "f", F),
            CallDelta("call_1", "f", F),
            ready("call_0", "f", F),
            ready("call_1", "f", F),
            Finished("tool_calls"),
        ],
    ),
    "one id for two calls": (
        sse(asked(piece(F, 0, id="1", name="f")), asked(piece(F, 1, id="1", name="g")), CALLED),
        [
            CallDelta("1", "f", F),
            CallDelta("1_2", "g", F),
            ready("1", "f", F),
            ready("1_2", "g", F),
            Finished("tool_calls"),
        ],
    ),
    "arguments as an object": (
        sse(asked(piece({"a": 1}, id="1", name="f")), CALLED),
        [CallDelta("1", "f", F), ready("1", "f", F), Finished("tool_calls")],
    ),
    "no arguments": (sse(asked(piece(id="1", name="f")), CALLED), [ready("1", "f", ""), Finished("tool_calls")]),
    "arguments that are no object": (
        sse(asked(piece("[1]", id="1", name="f")), asked(piece("{a", 1, id="2")), CALLED),
        [CallDelta("1", "f", "[1]"), "rejected f", "rejected ", Finished("tool_calls")],
    ),
    "arguments with a number that JSON has not": (
        sse(asked(piece('{"a": NaN}', id="1", name="f")), asked(piece('{"a": 1e999}', 1, id="2", name="f")), CALLED),
        [
            CallDelta("1", "f", '{"a": NaN}'),
            CallDelta("2", "f", '{"a": 1e999}'),
            *["rejected f"] * 2,
            Finished("tool_calls"),
        ],
    ),
    "half arguments at the limit": (
        sse(asked(piece('{"a": "Par', id="1", name="f")), said("length"), b"[DONE]"),
        [CallDelta("1", "f", '{"a": "Par'), "rejected f", Finished("length")],
    ),
    "stop with a call": (
        sse(asked(piece(F, id="1", name="f")), STOP),
        [DELTAS[0], ready("1", "f", F), Finished("stop")],
    ),
    "tool_calls without calls": (sse(HI, CALLED, b"[DONE]"), [TextDelta("Hi"), "garbled"]),
    "tool_calls with an empty list": (sse(said("tool_calls", tool_calls=[])), ["garbled"]),
    "a call that the server could not read": (
        sse(said("function_call_filter: MALFORMED_FUNCTION_CALL", content="")),
        ["garbled"],
    ),
    "a call of a tool that was not declared": (sse(HI, said("UNEXPECTED_TOOL_CALL")), [TextDelta("Hi"), "garbled"]),
    "nothing said": (sse(said(content=" \n"), STOP), [TextDelta(" \n"), "empty"]),
    "no event at all": (b"", ["cut"]),
    "only comments": (b": ping\n\n: ping\n\n", ["cut"]),
    "[DONE] without a finish reason": (sse(HI, b"[DONE]"), [TextDelta("Hi"), "cut"]),
    "cut between events": (sse(HI), [TextDelta("Hi"), "cut"]),
    "cut in an event": (sse(HI, STOP)[:-20], [TextDelta("Hi"), "cut"]),
    "an error object": (sse(HI, {"error": {"code": 500, "message": "no"}}), [TextDelta("Hi"), "server"]),
    "an error text": (sse(HI, {"error": "no"}), [TextDelta("Hi"), "server"]),
    "a flat error": (sse({"object": "error", "message": "no", "code": 400}), ["server"]),
    "an error in a list": (sse([{"error": {"message": "no"}}]), ["server"]),
    "an error with choices": (sse({"error": {"message": "no"}, **said("error", content="")}), ["server"]),
    "an error event of broken JSON": (b'event: error\ndata: {"message": no}\n\n', ["server"]),
    "an error event without a line end": (b"event: error\ndata: no", ["server"]),
    "broken JSON that speaks of an error": (sse(HI, b"{'error': 'no'}"), [TextDelta("Hi"), "server"]),
    "an error line without data": (sse(HI) + b'{"error":{"message":"no"}}\n', [TextDelta("Hi"), "server"]),
    "finish reason error": (sse(HI, said("error")), [TextDelta("Hi"), "server"]),
    "not JSON": (sse(HI, b"{nonsense}"), [TextDelta("Hi"), "garbled"]),
    "a web page": (b"<!doctype html>\n<title>Hello</title>\n", ["garbled"]),
    "content is no text": (sse(said(content=5)), ["garbled"]),
    "calls are no list": (sse(said(tool_calls="f")), ["garbled"]),
    "bad UTF-8": (sse(b'{"choices":[{"delta":{"content":"\xff"}}]}'), ["garbled"]),
    "half of a character": (sse(b'{"choices":[{"delta":{"content":"\\ud800"}}]}'), ["garbled"]),
    "not a number": (sse(b'{"choices":[],"usage":{"prompt_tokens":NaN}}'), ["garbled"]),
    "another wire": (b'{"message":{"content":"Hi"},"done":true}\n', ["cut"]),
    "after the end": (sse(HI, STOP, b"[DONE]", HI, {"error": "no"}), [*END]),
    "a whole document": (orjson.dumps({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}), [*END]),
    "a document on many lines": (
        orjson.dumps(
            {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}, option=orjson.OPT_INDENT_2
        ),
        [*END],
    ),
    "an error document": (b'{"error":\n "no"}\n', ["server"]),
    "half a document": (b'{"choices": [\n{"message"', ["garbled"]),
}


@every("case", CASES)
def test_bytes_become_events(case: str) -> None:  # F10
    data, expected = CASES[case]
    assert [request_spec(event) for event in decode([data])] == expected


@every("case", CASES)
def test_every_split_gives_the_same_events(case: str) -> None:
    data = CASES[case][0]
    whole = decode([data])
    assert decode([data[at : at + 1] for at in range(len(data))]) == whole
    for at in range(len(data)):
        assert decode([data[:at], data[at:]]) == whole


@given(st.sampled_from(sorted(CASES)), st.sampled_from(sorted(CASES)), st.lists(st.integers(0, 900), max_size=20))
def test_any_chunking_of_any_two_gives_the_same_events(one: str, other: str, cuts: list[int]) -> None:
    data = CASES[one][0] + CASES[other][0]
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    assert decode([data[start:end] for start, end in pairwise(places)]) == decode([data])


@given(st.binary(max_size=300))
def test_no_bytes_are_an_accident(data: bytes) -> None:
    for pieces in ([data], [b"data: " + data + b"\n"], [b"{", data]):
        events = decode(pieces)
        assert [isinstance(event, Failed | Finished) for event in events].index(True) == len(events) - 1
        assert all(event.kind in FAILURES for event in events if isinstance(event, Failed))


@given(st.lists(ODD, max_size=4), ODD)
def test_no_object_is_an_accident(choices: list[object], delta: object) -> None:
    events = decode([sse({"choices": choices}, {"choices": [{"delta": delta, "finish_reason": "stop"}]})])
    assert [isinstance(event, Failed | Finished) for event in events].index(True) == len(events) - 1


@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, 0, 1]),
            st.sampled_from(["", "1", "2"]),
            st.sampled_from(["", "f", "g"]),
            st.sampled_from(["", "{", "}", '"a":1', F]),
        ),
        max_size=8,
    )
)
def test_what_was_told_of_a_call_is_what_it_has(pieces: list[tuple[Any, str, str, str]]) -> None:
    """However calls are mixed up: pieces never get lost, never come twice, and ids are unique."""
    elements = [piece(arguments, index, id=id_, name=name) for index, id_, name, arguments in pieces]
    events = decode([sse(*(asked(element) for element in elements), CALLED)])
    calls = [event for event in events if isinstance(event, CallReady | CallRejected)]
    ids = [event.call.id if isinstance(event, CallReady) else event.id for event in calls]
    assert len(set(ids)) == len(ids)
    if not any(isinstance(event, CallReady) and event.call.repairs for event in calls):  # of pieces that came twice
        assert sorted("".join(event.raw for event in calls)) == sorted("".join(piece[3] for piece in pieces))
    for id_, call in zip(ids, calls, strict=True):
        told = "".join(event.text for event in events if isinstance(event, CallDelta) and event.id == id_)
        assert told == (call.raw if isinstance(call, CallReady) or call.name else "")


def test_a_piece_is_told_at_once() -> None:
    reader = codec("openai")
    assert reader.feed(sse(asked(piece('{"a', id="1", name="f")))) == [CallDelta("1", "f", '{"a')]
    assert reader.feed(sse(HI)) == [TextDelta("Hi")]


def test_nothing_follows_the_end_or_a_failure() -> None:
    for data in (CASES["plain"][0], CASES["not JSON"][0]):
        reader = codec("openai")
        assert isinstance(reader.feed(data)[-1], Failed | Finished)
        assert reader.feed(CASES["plain"][0]) == []
        assert reader.flush() == []


@pytest.mark.parametrize("beginning", [b"", b"data: ", b'{"choices":\n[\n'])
@pytest.mark.parametrize("ending", [b"\n", b""])
def test_a_line_or_a_document_beyond_the_limit_is_told(beginning: bytes, ending: bytes) -> None:
    events = decode([beginning, b"x" * 301, ending], 300)
    assert [request_spec(event) for event in events] == ["too_large"]


def test_many_lines_of_a_document_count_together() -> None:
    assert [request_spec(event) for event in decode([b"{" + b'"a":1,\n' * 60], 300)] == ["too_large"]


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("half arguments at the limit", "limit of tokens was reached"),
        ("arguments that are no object", "one JSON object"),
        ("arguments with a number that JSON has not", "JSON has no NaN"),
    ],
)
def test_a_rejection_says_what_to_do(case: str, words: str) -> None:
    rejected = next(event for event in decode([CASES[case][0]]) if isinstance(event, CallRejected))
    assert words in rejected.reason


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("no event at all", "without sending anything"),
        ("cut between events", "was cut off"),
        ("tool_calls without calls", "sent no call"),
        ("a call that the server could not read", "could not read what the model wrote"),
        ("nothing said", "without an answer. Its finish reason was “stop”."),
        ("an error object", "failed while answering: “no”"),
    ],
)
def test_a_failure_says_what_happened(case: str, words: str) -> None:
    failure = decode([CASES[case][0]])[-1]
    assert isinstance(failure, Failed) and words in failure.message
