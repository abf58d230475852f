"""A server cannot read the call of its model: the model is asked again, and nothing counts twice."""

from __future__ import annotations

from collections.abc import Sequence

import orjson
import pytest

from tests.tables import every
from tests.toolsupport.providers.scripted import (
    FINE,
    HEAD,
    LAST_CHUNK,
    Step,
    answer,
    chunk,
    said,
    scripted,
)
from tests.toolsupport.test_exchange import SERVER, ask, recorder, request_spec  # noqa: F401
from toolsupport.config import metrics
from toolsupport.core.events import (
    CallGarbled,
    CallReady,
    Event,
    Failed,
    Finished,
    TextDelta,
    ThinkingDelta,
    ToolsRefused,
)
from toolsupport.core.types import Permit, ToolCall

# What the servers are seen to say; the words of Ollama's, llama-server's and Groq's own code.
PEG = "The model produced output that does not match the expected peg-native format"
WORDS = [
    "XML syntax error on line 14: element <parameter> closed by </function>",
    "XML syntax error on line 115: unexpected EOF",
    "XML syntax error on line 3: invalid character entity & (no semicolon)",
    "expected element type <function> but have <parameter>",
    "failed to parse XML: XML syntax error on line 1: element <tool_call> closed by </arg_value>",
    "mismatched arg_key and arg_value counts: 2 keys, 1 values",
    "incomplete GLM tool call: missing </tool_call>",
    "error parsing tool call: raw='{\"a\": ', err=invalid character 'x' looking for beginning of value",
    f"map[error:map[code:500 message:{PEG} type:server_error]]",
    PEG,
    "Failed to parse input at pos 12: <tool_call>",
]
GROQ = [
    {"message": "Parsing failed. See 'failed_generation'.", "code": "output_parse_failed", "failed_generation": "{"},
    {"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": "<function=a>"},
]


def line(**fields: object) -> bytes:
    return chunk(orjson.dumps(fields) + b"\n")


THOUGHT = line(message={"role": "assistant", "content": "", "thinking": "Hm, a call."}, done=False)


def in_mid_stream(words: str, *before: bytes) -> Sequence[Step]:
    return (HEAD, *before, line(error=words), LAST_CHUNK)


def as_events(*data: object) -> Sequence[Step]:
    """An answer of an OpenAI-compatible server."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    return (head, *(chunk(b"data: %s\n\n" % orjson.dumps(one)) for one in data), LAST_CHUNK)


def delta(**fields: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


FINE_EVENTS = as_events(delta(content="Hi"), {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})


def counted() -> float:
    return metrics.REGISTRY.get_sample_value("toolsupport_calls_garbled_total") or 0.0


def text(events: Sequence[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@pytest.mark.asyncio
@every("words", WORDS)
@every("stream", [True, False])
async def test_the_model_is_asked_again_and_told_why(words: str, stream: bool) -> None:
    before, garbled = counted(), answer(500, orjson.dumps({"error": words}))
    async with scripted(garbled, FINE) as server:
        events = await ask(server.endpoint(), request_spec(stream=stream))
        first, second = server.bodies
    assert isinstance(events[0], CallGarbled) and text(events) == "Hi"
    assert isinstance(events[-1], Finished) and counted() == before + 1
    assert "tools" in second and "could not be read" in second["messages"][-1]["content"]
    assert second["messages"][-1]["content"].startswith(first["messages"][-1]["content"])


@pytest.mark.asyncio
@every("words", WORDS)
async def test_also_after_it_thought(words: str) -> None:
    async with scripted(in_mid_stream(words, THOUGHT), FINE) as server:
        events = await ask(server.endpoint(), request_spec())
        assert len(server.bodies) == 2
    assert isinstance(events[0], ThinkingDelta) and text(events) == "Hi" and isinstance(events[-1], Finished)


@pytest.mark.asyncio
@every("words", WORDS)
async def test_also_after_it_said_something(words: str) -> None:
    async with scripted(in_mid_stream(words, said("Let me look.")), FINE) as server:
        events = await ask(server.endpoint(), request_spec())
        asked = server.bodies[1]["messages"][-2:]
    assert text(events) == "Let me look.\n\nHi" and isinstance(events[-1], Finished)
    assert [message["role"] for message in asked] == ["assistant", "user"]
    assert asked[0]["content"] == "Let me look."


@pytest.mark.asyncio
@every("error", [{"message": PEG, "code": 500, "type": "server_error"}, *GROQ])
@every("before", [(), (delta(reasoning_content="Hm"),), (delta(content="Let me look."),)])
async def test_on_the_other_wire(error: dict[str, object], before: tuple[dict[str, object], ...]) -> None:
    async with scripted(as_events(*before, {"error": error}), FINE_EVENTS) as server:
        events = await ask(server.endpoint(kind="vllm"), request_spec())
        assert len(server.bodies) == 2
    assert text(events).endswith("Hi") and isinstance(events[-1], Finished)
    assert sum(isinstance(event, CallGarbled) for event in events) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("error", GROQ)
async def test_before_a_stream_and_without_one(error: dict[str, object]) -> None:
    for stream in (True, False):
        async with scripted(answer(400, orjson.dumps({"error": error})), FINE_EVENTS) as server:
            events = await ask(server.endpoint(kind="vllm"), request_spec(stream=stream))
            assert len(server.bodies) == 2 and isinstance(events[0], CallGarbled)


@pytest.mark.asyncio
@pytest.mark.parametrize("before", [(), (THOUGHT,), (said("Let me look."),)])
async def test_after_two_retries_a_clear_end(before: tuple[bytes, ...]) -> None:
    was = counted()
    async with scripted(in_mid_stream(WORDS[0], *before)) as server:
        events = await ask(server.endpoint(), request_spec())
        assert len(server.bodies) == 3
    assert isinstance(events[-1], Failed) and events[-1].kind == "unreadable_call"
    assert "3 times in a row" in events[-1].message and '{"error"' not in events[-1].message
    assert sum(isinstance(event, CallGarbled) for event in events) == 2 and counted() == was + 3


CALL = CallReady(ToolCall("1", "list_directory", {"path": "."}))


@pytest.mark.asyncio
async def test_calls_of_an_attempt_that_failed_are_not_told_with_its_end(recorder) -> None:  # noqa: F811
    failed = Failed("server", "", 200, orjson.dumps({"error": PEG}).decode())
    recorder([[CALL, failed]], [[CALL, Finished("tool_calls")]])
    events = await ask(SERVER, request_spec())
    assert sum(isinstance(event, CallReady) for event in events) == 1


@pytest.mark.asyncio
async def test_a_refusal_and_a_call_that_cannot_be_read_each_have_their_way() -> None:
    refused = answer(400, b'{"error":"m does not support tools"}')
    garbled = answer(500, orjson.dumps({"error": PEG}))
    async with scripted(garbled, refused, garbled, garbled) as server:
        events = await ask(server.endpoint(), request_spec())
        assert len(server.bodies) == 4
    assert isinstance(events[-1], Failed)


@pytest.mark.asyncio
async def test_a_probe_judges_for_itself() -> None:
    async with scripted(answer(500, orjson.dumps({"error": PEG})), FINE) as server:
        events = await ask(server.endpoint(), request_spec(tools=None, permit=Permit.PROBE))
        assert len(server.bodies) == 1 and [type(event) for event in events] == [Failed]


@pytest.mark.asyncio
async def test_other_failures_are_not_asked_again() -> None:
    for status, words in ((500, "unexpected EOF"), (502, PEG), (500, "template error"), (504, WORDS[0])):
        async with scripted(answer(status, orjson.dumps({"error": words})), FINE) as server:
            events = await ask(server.endpoint(), request_spec())
            assert len(server.bodies) == 1 and isinstance(events[-1], Failed), words


UNSTREAMED_ONLY = answer(400, b'{"error":"Streaming is not supported when tools are provided"}')


@pytest.mark.asyncio
async def test_tools_refused_with_streaming_are_sent_without_streaming() -> None:
    async with scripted(UNSTREAMED_ONLY, FINE) as server:
        events = await ask(server.endpoint(), request_spec())
        assert not [event for event in events if isinstance(event, ToolsRefused | Failed)]
        assert [(body["stream"], "tools" in body) for body in server.bodies] == [(True, True), (False, True)]
    async with scripted(UNSTREAMED_ONLY, UNSTREAMED_ONLY, FINE) as server:
        events = await ask(server.endpoint(), request_spec())
        assert isinstance(events[0], ToolsRefused) and events[0].misconfigured and isinstance(events[-1], Finished)
        assert [(body["stream"], "tools" in body) for body in server.bodies[1:]] == [(False, True), (False, False)]
