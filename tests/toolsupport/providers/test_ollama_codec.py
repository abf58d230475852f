"""The recorded and constructed streams of tests/wire/ollama, in every chunking."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.core.events import (
    FAILURES,
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

KEYS = ["role", "content", "thinking", "tool_calls", "function", "name", "arguments", "index", "id", "error", "done"]
ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
)
WIRE = Path(__file__).parents[2] / "wire" / "ollama"
USAGE = Usage(26, 298, 2.154458, 383.809, 4799.921)
END: list[Event] = [USAGE, Finished("stop")]


def ready(id_: str, name: str, arguments: dict, raw: str) -> CallReady:
    return CallReady(ToolCall(id_, name, arguments), raw)


# file → its events; a Failed is compared by its kind only
CASES: dict[str, list[Event | str]] = {
    "plain": [TextDelta("Hel"), TextDelta("lo."), *END],
    "crlf_and_blank_lines": [TextDelta("Hel"), TextDelta("lo."), *END],
    "line_ends_that_are_none": [
        TextDelta("a\u2028b\u2029c\u0085d"),
        TextDelta("\v\f\x1c\x1d\x1e"),
        TextDelta("é漢🦊"),
        *END,
    ],
    "thinking": [ThinkingDelta("Let me"), ThinkingDelta(" see."), TextDelta("Four."), *END],
    "call_before_done": [ready("call_x1y2z3w4", "f", {"a": 1}, '{"a":1}'), *END],
    "call_in_done": [
        TextDelta("Look: "),
        ready("call_1", "f", {"a": 1}, '{"a":1}'),
        ready("call_2", "g", {}, "{}"),
        *END,
    ],
    "all_indices_zero": [
        ready("call_1", "write_file", {"path": "a"}, '{"path":"a"}'),
        ready("call_2", "write_file", {"path": "b"}, '{"path":"b"}'),
        *END,
    ],
    "no_ids_no_index": [
        ready("call_0", "f", {}, "{}"),
        ready("call_1", "f", {}, "{}"),
        ready("call_2", "g", {"x": [1]}, '{"x":[1]}'),
        *END,
    ],
    "same_id_twice": [
        ready("call_1", "f", {}, "{}"),
        ready("call_1_2", "g", {}, "{}"),
        ready("call_2", "h", {}, "{}"),
        *END,
    ],
    "arguments_as_text": [ready("call_1", "f", {"a": "b"}, '{"a":"b"}'), *END],
    # g came whole in the second line, but f was still open: the order of the stream is kept
    "continued_call": [
        ready("call_1", "f", {"a": "z"}, '{"a":"z"}'),
        ready("call_2", "g", {"b": 2}, '{"b":2}'),
        TextDelta("!"),
        *END,
    ],
    "arguments_broken": ["rejected f", "rejected g", "rejected ", *END],
    "no_arguments": [
        ready("call_1", "now", {}, ""),
        ready("call_2", "now", {}, ""),
        ready("call_3", "now", {}, ""),
        *END,
    ],
    "cut_between_lines": [TextDelta("Hel"), TextDelta("lo"), "cut"],
    "cut_in_a_line": [TextDelta("Hel"), "cut"],
    "done_without_line_end": [TextDelta("Hi"), Usage(), Finished("stop")],
    "error_in_mid_stream": [TextDelta("Hel"), "server"],
    "error_nested": ["server"],
    "error_without_key": ["server"],
    "empty_answer": [USAGE, "empty"],
    "blank_answer": [TextDelta("\n  \n"), Usage(), "empty"],
    "not_json": [TextDelta("Hel"), "garbled"],
    "not_a_number": [TextDelta("x"), "garbled"],
    "lone_surrogate": ["garbled"],
    "bad_utf8": ["garbled"],
    "another_wire": ["garbled"],
    "content_is_no_text": ["garbled"],
    "after_the_end": [TextDelta("Hi"), Usage(), Finished("length")],
}


def decode(pieces: list[bytes], line_bytes: int = 2**21) -> list[Event]:
    reader = codec("ollama", line_bytes)
    events = [event for piece in pieces for event in reader.feed(piece)]
    return events + reader.flush() if not events or not isinstance(events[-1], Failed | Finished) else events


def request_spec(event: Event) -> Event | str:
    if isinstance(event, Failed):
        return event.kind
    return f"rejected {event.name}" if isinstance(event, CallRejected) else event


def wire(case: str) -> bytes:
    return (WIRE / f"{case}.ndjson").read_bytes()


def test_every_recorded_stream_is_a_case() -> None:
    assert {path.stem for path in WIRE.glob("*.ndjson")} == set(CASES)


@every("case", CASES)
def test_bytes_become_events(case: str) -> None:
    assert [request_spec(event) for event in decode([wire(case)])] == CASES[case]


@every("case", CASES)
def test_every_split_gives_the_same_events(case: str) -> None:
    data = wire(case)
    whole = decode([data])
    assert decode([data[at : at + 1] for at in range(len(data))]) == whole
    for at in range(len(data)):
        assert decode([data[:at], data[at:]]) == whole


@given(st.sampled_from(sorted(CASES)), st.lists(st.integers(0, 2000), max_size=20))
def test_any_chunking_gives_the_same_events(case: str, cuts: list[int]) -> None:
    data = wire(case)
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(places)]
    assert decode(pieces) == decode([data])


@given(st.binary(max_size=300))
def test_no_bytes_are_an_accident(data: bytes) -> None:
    events = decode([data])
    assert isinstance(events[-1], Failed | Finished)
    assert sum(isinstance(event, Failed | Finished) for event in events) == 1
    assert all(event.kind in FAILURES for event in events if isinstance(event, Failed))


@given(ODD, ODD)
def test_no_object_is_an_accident(message: object, done: object) -> None:
    events = decode([orjson.dumps({"message": message, "done": done}) + b"\n"])
    assert [isinstance(event, Failed | Finished) for event in events].index(True) == len(events) - 1


def test_a_call_is_ready_in_the_line_that_holds_it() -> None:
    first, _, _ = wire("call_before_done").partition(b"\n")
    assert codec("ollama").feed(first + b"\n") == [ready("call_x1y2z3w4", "f", {"a": 1}, '{"a":1}')]


@every("arguments, meant", [('{"a":1}}', {"a": 1}), ('{"a":"x\ny"}', {"a": "x\ny"}), ('{"a":1', None), ("[1]", None)])
def test_arguments_that_are_no_json_are_repaired_if_their_end_is_there(arguments: str, meant: dict | None) -> None:
    call = {"function": {"name": "f", "arguments": arguments}}
    made = decode([orjson.dumps({"message": {"tool_calls": [call]}, "done": True})])[0]
    assert (made.call.arguments if isinstance(made, CallReady) else None) == meant


def test_nothing_follows_the_end() -> None:
    reader = codec("ollama")
    reader.feed(wire("plain"))
    assert reader.feed(wire("plain")) == []
    assert reader.flush() == []


def test_nothing_follows_a_failure() -> None:
    reader = codec("ollama")
    assert isinstance(reader.feed(b"nonsense\n")[-1], Failed)
    assert reader.feed(wire("plain")) == []
    assert reader.flush() == []


@pytest.mark.parametrize("ending", [b"\n", b""])
def test_a_line_beyond_the_limit_is_told(ending: bytes) -> None:
    events = decode([wire("cut_between_lines"), b"x" * 301 + ending], 300)
    assert [request_spec(event) for event in events] == [TextDelta("Hel"), TextDelta("lo"), "too_large"]


def test_the_words_of_the_server_are_unwrapped() -> None:
    failure = decode([wire("error_nested")])[-1]
    assert isinstance(failure, Failed)
    assert "request (7912 tokens) exceeds the available context size" in failure.message
    assert "{" not in failure.message
    assert failure.body == wire("error_nested").decode().strip()
