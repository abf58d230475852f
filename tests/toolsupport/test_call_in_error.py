"""A server could not parse a call, and its error holds what the model wrote: the call is read from there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import orjson
import pytest

from tests.tables import every
from tests.toolsupport.providers.scripted import Step, answer, scripted
from tests.toolsupport.test_exchange import QUESTION, ask, request_spec
from tests.toolsupport.test_exchange_retries import FINE_EVENTS, as_events, counted, delta
from toolsupport.call_in_error import REPAIR
from toolsupport.core.events import (
    CallDelta,
    CallGarbled,
    CallReady,
    CallRejected,
    Event,
    Failed,
    Finished,
    TextDelta,
    ThinkingDelta,
)
from toolsupport.core.types import ChatMessage, Permit, Role, ToolCall

CALL = '<function=list_directory>{"path": "."}</function>'
WORDS = "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details."
HARMONY = '<|channel|>commentary to=functions.list_directory <|constrain|>json<|message|>{"path": "."}<|call|>'


def groq(generated: object, code: str = "tool_use_failed") -> dict[str, object]:
    fields = {"message": WORDS, "type": "invalid_request_error", "code": code, "failed_generation": generated}
    return {"error": fields}


def refused(body: object, status: int = 400) -> Sequence[Step]:
    return answer(status, orjson.dumps(body))


def calls(events: Sequence[Event]) -> list[tuple[str, object]]:
    return [(event.call.name, event.call.arguments) for event in events if isinstance(event, CallReady)]


def text(events: Sequence[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


LISTED = [("list_directory", {"path": "."})]
JSON = orjson.dumps(groq(CALL)).decode()
# Groq itself, then those that pass its error on.
ENVELOPES = {
    "groq": groq(CALL),
    "harmony": groq(HARMONY, "output_parse_failed"),
    "json": groq('{"name": "list_directory", "arguments": {"path": "."}}'),
    "no end of the tag": groq('<function=list_directory{"path": "."}</function>'),
    "a sign behind the name": groq('<function=list_directory={"path": "."}</function>'),
    "no beginning of the tag": groq('list_directory{"path": "."}</function>'),
    "litellm": {"error": {"message": f"litellm.BadRequestError: GroqException - {JSON}", "code": "400"}},
    "litellm of a proxy": {
        "error": {"message": f"litellm.BadRequestError: OpenAIException - Error code: 400 - {groq(CALL)!r}"}
    },
    "openrouter": {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": JSON}}},
    "detail": {"detail": groq(CALL)},
    "llama.cpp": {"error": {"code": 500, "message": f"Failed to parse input at pos 0: {CALL}", "type": "server_error"}},
}


@pytest.mark.asyncio
@every("name", ENVELOPES)
@every("stream", [True, False])
async def test_the_call_is_the_reply_without_another_request(name: str, stream: bool) -> None:
    before = counted()
    async with scripted(refused(ENVELOPES[name]), FINE_EVENTS) as server:
        events = await ask(server.endpoint(kind="vllm"), request_spec(stream=stream))
        assert len(server.bodies) == 1
    assert calls(events) == LISTED and events[-1] == Finished("tool_calls") and counted() == before + 1
    [ready] = [event for event in events if isinstance(event, CallReady)]
    assert REPAIR in ready.call.repairs and ready.raw
    assert not [event for event in events if isinstance(event, Failed | CallGarbled | CallRejected)]


@pytest.mark.asyncio
async def test_words_and_thoughts_beside_the_call_are_kept() -> None:
    written = f"<think>Hm.</think>I will look.\n{CALL}"
    async with scripted(refused(groq(written))) as server:
        events = await ask(server.endpoint(kind="vllm"), request_spec())
    assert [type(event) for event in events] == [ThinkingDelta, TextDelta, CallReady, Finished]
    assert text(events).strip() == "I will look."


@pytest.mark.asyncio
@every("before", [(delta(reasoning_content="Hm"),), (delta(content="Let me look."),)])
async def test_in_a_stream_what_was_shown_is_not_shown_again(before: tuple[dict[str, object], ...]) -> None:
    async with scripted(as_events(*before, groq(f"Let me look.\n{CALL}"))) as server:
        events = await ask(server.endpoint(kind="vllm"), request_spec())
        assert len(server.bodies) == 1
    assert calls(events) == LISTED and text(events) in ("", "Let me look.") and isinstance(events[-1], Finished)


PIECE = delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "list_directory", "arguments": '{"pa'}}])


@pytest.mark.asyncio
async def test_a_call_that_began_in_the_stream_is_asked_for_again() -> None:
    """A program may have read a part of it, which the call of the error need not continue."""
    async with scripted(as_events(PIECE, groq(CALL)), FINE_EVENTS) as server:
        events = await ask(server.endpoint(kind="vllm"), request_spec())
        assert len(server.bodies) == 2
    assert any(isinstance(event, CallDelta) for event in events) and not calls(events)


@pytest.mark.asyncio
async def test_two_calls_are_both_made() -> None:
    async with scripted(refused(groq(f"{CALL}\n{CALL.replace('.', '/')}"))) as server:
        events = await ask(server.endpoint(kind="vllm"), request_spec())
    assert calls(events) == [*LISTED, ("list_directory", {"path": "/"})]


QUOTED = groq(CALL)["error"]
KEY, ESCAPED = 'failed_generation"', 'failed\\u005fgeneration"'
NOT_READ = {
    "no call": groq("Tools are not supported, so I will write the file."),
    "empty": groq(""),
    "no text": groq({"name": "list_directory", "arguments": {"path": "."}}),
    "cut in the arguments": groq('<function=list_directory>{"path": "."'),
    "cut before the end": groq('<function=list_directory>{"path": "."}'),
    "JSON that is cut": groq('{"name": "list_directory", "arguments": {"path": "."}'),
    "another tool": groq('<function=delete_all>{"path": "."}</function>'),
    "one of two is another tool": groq(f'{CALL}\n<tool_call>{{"name": "delete_all", "arguments": {{}}}}</tool_call>'),
    "wrong arguments": groq('<function=list_directory>{"folder": 1}</function>'),
    "an example": groq(f"For example:\n{CALL}\nDo you want that?"),
    "in a fence": groq(f"This is how it is done:\n```\n{CALL}\n```\nOk?"),
    "only thought of": groq(f"<think>I could do\n{CALL}\nbut no.</think>No."),
    "another code": groq(CALL, "invalid_value"),
    "no code": {"error": {"message": WORDS, "failed_generation": CALL}},
    "beside the error": {"error": {"message": WORDS, "code": "tool_use_failed"}, "failed_generation": CALL},
    "in the request": {"error": {"message": WORDS, "code": "tool_use_failed"}, "input": {"error": QUOTED}},
    "behind words": {"error": {"message": f"tool_use_failed: the last message was {JSON}", "code": "tool_use_failed"}},
    "a key with escapes": {"error": {"message": JSON.replace(KEY, ESCAPED), "code": "tool_use_failed"}},
    "two that differ": {"error": [QUOTED, groq(CALL.replace(".", "/"))["error"]]},
    "too long": groq(CALL + " " * 70_000),
    "llama.cpp, not from the beginning": {"error": {"code": 500, "message": f"Failed to parse input at pos 9: {CALL}"}},
}


@pytest.mark.asyncio
@every("name", NOT_READ)
async def test_anything_else_is_asked_for_again(name: str) -> None:
    async with scripted(refused(NOT_READ[name]), FINE_EVENTS) as server:
        events = await ask(server.endpoint(kind="vllm"), request_spec())
        asked_again = len(server.bodies) == 2
    assert not calls(events)
    assert asked_again or (name in ("too long",) and isinstance(events[-1], Failed))


@pytest.mark.asyncio
@every("role", [Role.SYSTEM, Role.USER, Role.TOOL])
@every("quoted", [JSON, JSON.replace("failed_g", "Failed_G"), JSON.replace("failed_g", "failedG")])
async def test_an_error_that_a_message_quotes_is_not_read(role: Role, quoted: str) -> None:
    """The server may only repeat what the message holds, such as a page that a tool fetched."""
    quoting = ChatMessage(role, f"The page has {quoted}.", call_id="a", name="list_directory")
    asked = ChatMessage(Role.ASSISTANT, "", calls=(ToolCall("a", "list_directory", {"path": "."}),))
    log = [*QUESTION, *([asked] if role is Role.TOOL else []), quoting]
    async with scripted(refused(groq(CALL)), FINE_EVENTS) as server:
        events = await ask(server.endpoint(kind="vllm"), request_spec(), log)
        assert len(server.bodies) == 2 and not calls(events)


@pytest.mark.asyncio
async def test_without_tools_and_in_a_test_of_a_model_nothing_is_read() -> None:
    for spec in (replace(request_spec(), tools=(), format=""), request_spec(tools=None, permit=Permit.PROBE)):
        async with scripted(refused(groq(CALL)), FINE_EVENTS) as server:
            assert not calls(await ask(server.endpoint(kind="vllm"), spec))


@pytest.mark.asyncio
async def test_a_format_in_text_is_read_by_its_own_reader() -> None:
    """Groq also parses the calls of requests that have no tools of its own."""
    written = '<tool_call>\n{"name": "list_directory", "arguments": {"path": "."}}\n</tool_call>'
    async with scripted(refused(groq(written))) as server:
        events = await ask(server.endpoint(kind="vllm"), request_spec(format="hermes"))
    assert calls(events) == LISTED


@pytest.mark.asyncio
async def test_also_in_a_second_attempt() -> None:
    async with scripted(refused(groq("I would.")), refused(groq(CALL))) as server:
        events = await ask(server.endpoint(kind="vllm"), request_spec())
        assert len(server.bodies) == 2
    assert calls(events) == LISTED and sum(isinstance(event, CallGarbled) for event in events) == 1
