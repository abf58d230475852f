"""Shapes of replies that differ from OpenAI's own, as hosted services and proxies send them."""

from __future__ import annotations

import orjson

from tests.tables import every
from tests.toolsupport.providers.openai_reply import decode, request_spec
from tests.toolsupport.providers.test_openai_codec import (
    CALLED,
    DELTAS,
    END,
    HI,
    STOP,
    F,
    asked,
    piece,
    ready,
    said,
    sse,
)
from toolsupport.core.events import CallDelta, Event, Finished, TextDelta, ThinkingDelta

# what it is → its bytes and its events; a Failed is compared by its kind only
CASES: dict[str, tuple[bytes, list[Event | str]]] = {
    "a call that is no list": (
        sse(said("tool_calls", tool_calls=piece(F, id="1", name="f"))),
        [DELTAS[0], ready("1", "f", F), Finished("tool_calls")],
    ),
    "an empty object before the arguments": (
        sse(asked(piece("{}", id="1", name="f")), asked(piece('{"a"')), asked(piece(":1}")), CALLED),
        [
            CallDelta("1", "f", ""),
            CallDelta("1", "f", '{"a"'),
            CallDelta("1", "f", ":1}"),
            ready("1", "f", F),
            Finished("tool_calls"),
        ],
    ),
    "an empty object and nothing else": (
        sse(asked(piece({}, id="1", name="f")), CALLED),
        [CallDelta("1", "f", ""), CallDelta("1", "f", "{}"), ready("1", "f", "{}"), Finished("tool_calls")],
    ),
    "a call without arguments before another one": (
        sse(asked(piece("{}", id="1", name="g")), asked(piece(F, id="2", name="f", index=1)), CALLED),
        [
            CallDelta("1", "g", ""),
            CallDelta("2", "f", F),
            CallDelta("1", "g", "{}"),
            ready("1", "g", "{}"),
            ready("2", "f", F),
            Finished("tool_calls"),
        ],
    ),
    "pieces that are messages": (
        sse(*({"choices": [{"message": {"content": text}}]} for text in ("Hel", "lo")), STOP),
        [TextDelta("Hel"), TextDelta("lo"), Finished("stop")],
    ),
    "a call by its older name": (
        sse(said(function_call={"name": "f", "arguments": '{"a"'}), said(function_call={"arguments": ":1}"}))
        + sse(said("function_call")),
        [
            CallDelta("call_0", "f", '{"a"'),
            CallDelta("call_0", "f", ":1}"),
            ready("call_0", "f", F),
            Finished("function_call"),
        ],
    ),
    "a call by both names": (
        sse(said(function_call={"name": "f", "arguments": F}, tool_calls=[piece(F, id="1", name="f")]))
        + sse(said(function_call={"name": "f", "arguments": ""}), CALLED),
        [DELTAS[0], ready("1", "f", F), Finished("tool_calls")],
    ),
    "text and calls in two choices": (
        orjson.dumps(
            {
                "choices": [
                    {"message": {"content": "Hi"}, "finish_reason": "tool_calls"},
                    {"message": {"tool_calls": [piece(F, id="1", name="f")]}, "finish_reason": "tool_calls"},
                ]
            }
        ),
        [TextDelta("Hi"), DELTAS[0], ready("1", "f", F), Finished("tool_calls")],
    ),
    "the whole message again at the end": (
        sse(
            HI,
            asked(piece(F, id="1", name="f")),
            {
                "choices": [
                    {
                        "delta": {},
                        "message": {"content": "Hi", "tool_calls": [piece(F, id="1", name="f")]},
                        "finish_reason": "stop",
                    }
                ]
            },
        ),
        [TextDelta("Hi"), DELTAS[0], ready("1", "f", F), Finished("stop")],
    ),
    "the answer in a last message": (
        sse(
            said(reasoning_content="hm"),
            {"choices": [{"message": {"content": "Hi", "reasoning_content": "hm"}, "finish_reason": "stop"}]},
        ),
        [ThinkingDelta("hm"), *END],
    ),
    "a refusal": (
        sse(said(refusal="I can"), said(refusal="not"), STOP),
        [TextDelta("I can"), TextDelta("not"), Finished("content_filter")],
    ),
    "an error in a choice": (
        sse(HI, {"choices": [{"delta": {"content": ""}, "error": {"message": "no"}, "finish_reason": "error"}]}),
        [TextDelta("Hi"), "server"],
    ),
    "an error in base_resp": (
        orjson.dumps({"choices": None, "base_resp": {"status_code": 1008, "status_msg": "no"}}),
        ["server"],
    ),
    "no error in base_resp": (sse(HI, STOP | {"base_resp": {"status_code": 0, "status_msg": ""}}), [*END]),
}


@every("case", CASES)
def test_bytes_become_events(case: str) -> None:
    data, expected = CASES[case]
    assert [request_spec(event) for event in decode([data])] == expected


@every("case", CASES)
def test_every_split_gives_the_same_events(case: str) -> None:
    data = CASES[case][0]
    assert decode([data[at : at + 1] for at in range(len(data))]) == decode([data])
