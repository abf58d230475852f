"""Shapes of replies that differ from OpenAI's own, as hosted services and proxies send them."""

from __future__ import annotations

import json

import orjson
import pytest

from tests.growth import grows_no_faster
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
from toolsupport.core.events import CallDelta, CallReady, Event, Finished, TextDelta, ThinkingDelta
from toolsupport.core.types import JSON, ToolCall
from toolsupport.providers.openai_calls import PiecedCalls


def again(id_: str, name: str, raw: str, arguments: JSON, *repairs: str) -> CallReady:
    return CallReady(ToolCall(id_, name, arguments, repairs), raw)


G = '{"b":2}'
ONCE = again("1", "f", F, {"a": 1}, "read arguments once that were sent again")
NONE, CALLS = again("1", "f", "null", {}), Finished("tool_calls")
BEHIND = "left out what followed the arguments"
PAIRS = "<arg_key>a</arg_key><arg_value>b</arg_value>"
FROM_TEXT = "read the arguments from a text"

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
    "null for no arguments": (
        sse(asked(piece("null", id="1", name="f"), piece("null", id="2", name="g")), CALLED),
        [CallDelta("1", "f", "null"), CallDelta("2", "g", "null"), NONE, again("2", "g", "null", {}), CALLS],
    ),
    "null in pieces": (
        sse(asked(piece("nu", id="1", name="f")), asked(piece("ll")), CALLED),
        [CallDelta("1", "f", "nu"), CallDelta("1", "f", "ll"), NONE, CALLS],
    ),
    "null in a reply that was cut": (
        sse(asked(piece("null", id="1", name="f"), finish="length")),
        [CallDelta("1", "f", "null"), "rejected f", Finished("length")],
    ),
    "arguments as a text of JSON": (
        sse(asked(piece(json.dumps(F), id="1", name="f")), CALLED),
        [CallDelta("1", "f", json.dumps(F)), again("1", "f", json.dumps(F), {"a": 1}, FROM_TEXT), CALLS],
    ),
    "two calls with a text of JSON, under index 0": (
        sse(asked(*(piece(json.dumps(F), id=id_, name="f") for id_ in "12")), CALLED),
        [
            *(CallDelta(id_, "f", json.dumps(F)) for id_ in "12"),
            *(again(id_, "f", json.dumps(F), {"a": 1}, FROM_TEXT) for id_ in "12"),
            CALLS,
        ],
    ),
    "arguments as a text of something else": (
        sse(asked(piece('"[1]"', id="1", name="f"), piece('"a"', 1, id="2", name="f")), CALLED),
        [CallDelta("1", "f", '"[1]"'), CallDelta("2", "f", '"a"'), "rejected f", "rejected f", CALLS],
    ),
    "a text of JSON in a text of JSON": (
        sse(asked(piece(json.dumps(json.dumps(F)), id="1", name="f")), CALLED),
        [CallDelta("1", "f", json.dumps(json.dumps(F))), "rejected f", CALLS],
    ),
    "one id for calls of two tools, no index": (
        sse(asked(piece(F, None, id="1", name="f"), piece(F, None, id="1", name="g")), CALLED),
        [CallDelta("1", "f", F), CallDelta("1_2", "g", F), ready("1", "f", F), ready("1_2", "g", F), CALLS],
    ),
    "one id for two calls of a tool, under index 0": (
        sse(asked(piece(F, id="1", name="f")), asked(piece(G, id="1", name="f")), CALLED),
        [CallDelta("1", "f", F), CallDelta("1_2", "f", G), ready("1", "f", F), ready("1_2", "f", G), CALLS],
    ),
    "one id for two calls of a tool, in pieces": (
        sse(*(asked(piece(text, None, id="1", name="f")) for text in ('{"a"', ":1}", '{"b"', ":2}")), CALLED),
        [
            *(CallDelta("1", "f", text) for text in ('{"a"', ":1}")),
            *(CallDelta("1_2", "f", text) for text in ('{"b"', ":2}")),
            ready("1", "f", F),
            ready("1_2", "f", G),
            CALLS,
        ],
    ),
    "one call of an id twice, then another one": (
        sse(*(asked(piece(text, id="1", name="f")) for text in (F, F, G)), CALLED),
        [CallDelta("1", "f", F), CallDelta("1_2", "f", G), ONCE, ready("1_2", "f", G), CALLS],
    ),
    "the whole arguments again": (
        sse(*(asked(piece(text, id="1", name="f")) for text in ('{"a"', ":1}", '{"a": 1}')), CALLED),
        [CallDelta("1", "f", '{"a"'), CallDelta("1", "f", ":1}"), ONCE, CALLS],
    ),
    "the arguments again in pieces": (
        sse(asked(piece(F, id="1", name="f")), *(asked(piece(text)) for text in ('{"a"', ":1}")), CALLED),
        [CallDelta("1", "f", F), ONCE, CALLS],
    ),
    "all arguments so far in each piece": (
        sse(asked(piece('{"a"', id="1", name="f")), *(asked(piece(text)) for text in ('{"a":', F, F, "\n")), CALLED),
        [CallDelta("1", "f", '{"a"'), CallDelta("1", "f", ":1}"), ONCE, CALLS],
    ),
    "all arguments so far with id and name": (
        sse(*(asked(piece(text, id="1", name="f")) for text in ("{", '{"a"', F)), CALLED),
        [CallDelta("1", "f", "{"), CallDelta("1", "f", '"a":1}'), ONCE, CALLS],
    ),
    "an object in an object, whose beginning is like that of the other": (
        sse(asked(piece('{"a":', id="1", name="f")), *(asked(piece(text)) for text in ('{"a":', "1}", "}")), CALLED),
        [*(CallDelta("1", "f", text) for text in ('{"a":', '{"a":1}}')), ready("1", "f", '{"a":{"a":1}}'), CALLS],
    ),
    "two objects that differ": (
        sse(asked(piece(F, id="1", name="f")), asked(piece(G)), CALLED),
        [CallDelta("1", "f", F), CallDelta("1", "f", G), "rejected f", CALLS],
    ),
    "arguments that only look alike": (
        sse(asked(piece(F, id="1", name="f")), asked(piece('{"a":true}')), CALLED),
        [CallDelta("1", "f", F), CallDelta("1", "f", '{"a":true}'), "rejected f", CALLS],
    ),
    "a beginning that is written again": (
        sse(asked(piece("{", id="1", name="f")), asked(piece('{"a":')), asked(piece("1}")), CALLED),
        [
            *(CallDelta("1", "f", text) for text in ("{", '{"a":1}')),
            again("1", "f", '{{"a":1}', {"a": 1}, "removed a second pair of braces"),
            CALLS,
        ],
    ),
    "arguments in the name, as GLM writes them": (
        sse(asked(piece("{}", id="1", name=f"f{PAIRS}")), CALLED),
        [
            *(CallDelta("1", f"f{PAIRS}", text) for text in ("", "{}")),
            again("1", "f", "{}", {"a": "b"}, "read the arguments from the name", "added the end that was missing"),
            CALLS,
        ],
    ),
    "a part of the arguments in the name": (
        sse(asked(piece("{}", id="1", name=f"f{PAIRS[:-12]}")), CALLED),
        [*(CallDelta("1", f"f{PAIRS[:-12]}", text) for text in ("", "{}")), f"rejected f{PAIRS[:-12]}", CALLS],
    ),
    "an empty list for no arguments": (
        sse(asked(piece("[]", id="1", name="f")), CALLED),
        [CallDelta("1", "f", "[]"), again("1", "f", "[]", {}), CALLS],
    ),
    **{
        f"arguments that are no JSON: {text}": (
            sse(asked(piece(text, id="1", name="f")), CALLED),
            [CallDelta("1", "f", text), again("1", "f", text, meant, *repairs), CALLS],
        )
        for text, meant, *repairs in (
            ('{"a":1}}', {"a": 1}, BEHIND),
            ('{"a":1}\n</tool_call>', {"a": 1}, BEHIND),
            ('{"a":1}<|call|>', {"a": 1}, BEHIND),
            ('```json\n{"a":1}\n```', {"a": 1}, "removed the code fence", BEHIND),
            ('{"a":"x\ny"}', {"a": "x\ny"}, "allowed line breaks inside a string"),
            ('{"a":"\\d"}', {"a": "\\d"}, "kept backslashes that escape nothing"),
            ("{'a': None}", {"a": None}, "replaced quotes by double quotes", "read None as JSON writes it"),
        )
    },
    **{
        f"arguments without their end, or with more behind it: {text}": (
            sse(asked(piece(text, id="1", name="f")), CALLED),
            [CallDelta("1", "f", text), "rejected f", CALLS],
        )
        for text in ('{"a":1', '{"a":"x', '{"a":[1}', '{"a":1}, "b":2}', '{"a":1} b', '{"a":1}\nNo, wait.', "a", "[1]")
    },
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


# The first piece, those that follow, after which the arguments could be whole, and the name in each of them.
PIECES = {"list": ('{"a":[', "{}", None), "text": ('{"a":"', "{x}", "f"), "named": ('{"a":[', "{}", "f")}


@pytest.mark.parametrize("kind", PIECES)
def test_many_pieces_that_could_end_a_call_cost_no_more_for_each(kind: str) -> None:
    first, piece, name = PIECES[kind]

    def read(length: int) -> None:
        calls = PiecedCalls()
        calls.feed([{"index": 0, "id": "x", "function": {"name": "f", "arguments": first}}])
        for _ in range(length):
            calls.feed([{"index": 0, "id": "x", "function": {"name": name, "arguments": piece}}])
        calls.flush("stop")

    assert grows_no_faster(read, 2_000, 20_000)
