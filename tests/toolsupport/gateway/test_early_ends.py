"""A program is shown that its answer was cut: by a limit of tokens, by a filter, or by the server."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from channels.db import database_sync_to_async as in_database

from tests.tables import every
from tests.toolsupport.gateway.conftest import Program
from tests.toolsupport.gateway.test_broken_streams import DONE
from tests.toolsupport.gateway.test_constrained import FORCED, says
from tests.toolsupport.gateway.test_constrained import row as constrained_row
from tests.toolsupport.gateway.test_required_calls import ASKED, HEAD, post, row, said
from tests.toolsupport.providers.scripted import LAST_CHUNK, scripted
from toolsupport.core.events import Finished
from toolsupport.core.types import JSON
from toolsupport.gateway.chat_response import reason
from toolsupport.gateway.request_summary import RequestSummary

LENGTH, FILTER, STOP = "length", "content_filter", "stop"
# How each API names these ends, as (status or reason, details).
ENDS: dict[str, dict[str, tuple[str, Any]]] = {
    "/v1/chat/completions": {LENGTH: ("length", None), FILTER: ("content_filter", None)},
    "/v1/messages": {LENGTH: ("max_tokens", None), FILTER: ("refusal", None)},
    "/v1/responses": {
        LENGTH: ("incomplete", {"reason": "max_output_tokens"}),
        FILTER: ("incomplete", {"reason": "content_filter"}),
    },
}


@every(
    ("written", "called", "cut", "shown"),
    [
        *((name, False, False, FILTER) for name in ("content_filter", "SAFETY", "sensitive", "refusal", "RECITATION")),
        *((name, False, False, FILTER) for name in ("guardrail_intervened", "PROHIBITED_CONTENT", "content_filtered")),
        *((name, False, False, LENGTH) for name in ("abort", "network_error", "insufficient_system_resource")),
        *((name, False, False, STOP) for name in ("stop", "eos", "end_turn", "stop_sequence", "unload", "")),
        # Calls that came whole are run, and the answer to them is another one.
        ("content_filter", True, False, "tool_calls"),
        ("length", True, False, "tool_calls"),
        ("content_filter", True, True, FILTER),
        ("abort", True, True, LENGTH),
        ("stop", False, True, STOP),
    ],
)
def test_an_early_end_is_no_ordinary_one(written: str, called: bool, cut: bool, shown: str) -> None:
    assert reason(Finished(written), RequestSummary(cut=cut), called=called) == shown


def end_of(path: str, content: bytes, stream: bool) -> tuple[str, Any]:
    """Return the reason of the end, and its details."""
    if not stream:
        whole = orjson.loads(content)
    elif path == "/v1/chat/completions":
        whole = orjson.loads(content.split(b"\n\n")[-3].removeprefix(b"data: "))
    else:
        event = next(one for one in content.split(b"\n\n") if b"message_delta" in one or b"response.incomplete" in one)
        last = orjson.loads(event.split(b"data: ", 1)[1])
        whole = last.get("delta") or last["response"]
    if path == "/v1/chat/completions":
        return whole["choices"][0]["finish_reason"], None
    return (whole["stop_reason"], None) if path == "/v1/messages" else (whole["status"], whole["incomplete_details"])


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ASKED)
async def test_an_answer_that_was_cut_names_the_reason(program: Program, path: str) -> None:
    """Also one without words: a limit of one token, as programs send it to try a key, may end before the first."""
    auto = {"type": "auto"} if path == "/v1/messages" else "auto"
    body = ASKED[path][0] | {"tool_choice": auto, "model": "made/m"}
    async with scripted((HEAD,)) as server:
        await in_database(row)(server, "openai", tools=True)
        for words in ("I begin", "", "\n"):
            for word in (LENGTH, FILTER):
                for stream in (False, True):
                    server.answers[:] = [
                        (HEAD, said(delta={"content": words}), said(finish_reason=word), DONE, LAST_CHUNK)
                    ]
                    before = len(server.requests)
                    answered = await post(program, path, **body, stream=stream)
                    streamed = answered.streaming and b"".join([one async for one in answered.streaming_content])
                    content = streamed or answered.content
                    assert answered.status_code == 200, (words, word, content)
                    assert end_of(path, content, stream) == ENDS[path][word], (words, word, content)
                    assert len(server.requests) == before + 1, "the same limit ends each answer"


EMPTY: JSON = {"content": ""}
FORMAT = {"tools": False, "format": "forced_json", "constrains": "enforced"}


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("known", "finish"),
    [
        *(({"tools": True}, word) for word in ("abort", "cancelled", "network_error", "insufficient_system_resource")),
        (FORMAT, LENGTH),
    ],
)
async def test_an_answer_without_words_is_asked_for_again(program: Program, known: JSON, finish: str) -> None:
    """Where its server gave up, or a constrained model did not begin: another try may end in another way."""
    async with scripted(says(EMPTY, finish), FORCED, says(EMPTY, finish)) as server:
        await in_database(constrained_row)(server, "llamacpp", known)
        answered = await program.ask("made/m")
        assert (answered.status_code, len(server.requests)) == (200, 2), answered.content
        answered = await program.ask("made/m")
        assert (answered.status_code, len(server.requests)) == (502, 5), answered.content


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ASKED)
async def test_a_refusal_in_a_field_of_its_own_is_the_answer(program: Program, path: str) -> None:
    """OpenAI writes a refusal beside the content, which is null then."""
    body = {name: value for name, value in ASKED[path][0].items() if not name.startswith("tool")}
    async with scripted((HEAD,)) as server:
        await in_database(row)(server, "openai", tools=True)
        pieces = [said(delta={"content": None, "refusal": one}) for one in (None, "I cannot ", "help.")]
        server.answers[:] = [(HEAD, *pieces, said(finish_reason="stop"), DONE, LAST_CHUNK)]
        answered = await post(program, path, **body, model="made/m")
        assert answered.status_code == 200 and b"I cannot help." in answered.content, answered.content
        assert len(server.requests) == 1


STOPS = ["END", "5"]


@pytest.mark.asyncio
async def test_a_stop_sequence_that_the_server_names_is_named_in_messages(program: Program) -> None:
    """vLLM and SGLang name it, each in a field of its own; numbers are tokens, other texts not the program's."""
    rows: dict[str, tuple[dict[str, Any], tuple[str, str | None]]] = {
        "vllm": ({"stop_reason": "END"}, ("stop_sequence", "END")),
        "sglang": ({"matched_stop": "5"}, ("stop_sequence", "5")),
        "a token": ({"stop_reason": 5, "matched_stop": 151645}, ("end_turn", None)),
        "not asked for": ({"stop_reason": "eos"}, ("end_turn", None)),
        "nothing": ({"stop_reason": None}, ("end_turn", None)),
        "a list": ({"stop_reason": ["END"]}, ("end_turn", None)),
        "a limit": ({"stop_reason": "END", "finish_reason": "length"}, ("max_tokens", None)),
    }
    body = {**ASKED["/v1/messages"][0], "tool_choice": {"type": "auto"}, "model": "made/m", "stop_sequences": STOPS}
    async with scripted((HEAD,)) as server:
        await in_database(row)(server, "vllm", tools=True)
        for name, (fields, expected) in rows.items():
            last = said(**{"finish_reason": "stop"} | fields)
            server.answers[:] = [(HEAD, said(delta={"content": "one two"}), last, DONE, LAST_CHUNK)]
            whole = orjson.loads((await post(program, "/v1/messages", **body)).content)
            assert (whole["stop_reason"], whole["stop_sequence"]) == expected, name
            answered = await post(program, "/v1/messages", **body, stream=True)
            content = b"".join([one async for one in answered.streaming_content])
            event = next(one for one in content.split(b"\n\n") if b"message_delta" in one)
            delta = orjson.loads(event.split(b"data: ", 1)[1])["delta"]
            assert (delta["stop_reason"], delta["stop_sequence"]) == expected, name
