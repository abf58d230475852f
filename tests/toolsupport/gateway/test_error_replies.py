"""The codes of errors that programs act on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database

from tests.toolsupport.gateway.conftest import Program
from tests.toolsupport.gateway.test_required_calls import ASKED, post, row
from tests.toolsupport.providers.scripted import answer, scripted
from toolsupport.core.events import Failed
from toolsupport.core.types import Endpoint
from toolsupport.gateway import error_replies, keep_alive
from toolsupport.gateway.request_errors import UntestedModel
from toolsupport.providers import error_text

LLAMA_SERVER = {
    "code": 400,
    "message": "request (15718 tokens) exceeds the available context size (1024 tokens), try increasing it",
    "type": "exceed_context_size_error",
    "n_prompt_tokens": 15718,
    "n_ctx": 1024,
}
OPENAI = {"message": "Your input is too long.", "type": "invalid_request_error", "code": "context_length_exceeded"}


# G4
@pytest.mark.parametrize(
    ("status", "body", "expected", "code"),
    [
        (400, {"error": LLAMA_SERVER}, 400, "context_length_exceeded"),
        (400, {"error": json.dumps({"error": LLAMA_SERVER})}, 400, "context_length_exceeded"),  # Ollama 0.33
        (400, {"error": OPENAI}, 400, "context_length_exceeded"),
        (400, {"error": {"message": "messages must not be empty"}}, 400, "refused"),
        (404, {"error": "model 'some:latest' not found"}, 404, "model_not_found"),
        (500, {"error": LLAMA_SERVER | {"message": "out of memory", "n_ctx": 0}}, 502, "server"),
    ],
)
def test_an_error_has_the_code_that_programs_expect(status: int, body: object, expected: int, code: str) -> None:
    failed = error_text.answered(Endpoint("ollama", "http://127.0.0.1:1"), status, json.dumps(body))
    error = error_replies.body(failed)["error"]
    assert (error_replies.status(failed), error["code"]) == (expected, code)


# The body of a server's error → how Claude Code's error begins: it shortens a conversation for these words only.
TOO_LONG: dict[str, tuple[object, str]] = {
    "llama-server": (LLAMA_SERVER, "prompt is too long: 15718 tokens > 1024 maximum. The server at "),
    "vllm": (
        {
            "message": "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens "
            "(39000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion."
        },
        "prompt is too long: 40000 tokens > 32768 maximum. The server at ",
    ),
    "no numbers": (OPENAI, "prompt is too long. The server at "),
    "another error": ({"message": "messages must not be empty"}, "The server at "),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ASKED)
async def test_a_full_context_has_the_words_that_claude_code_shortens_for(
    program: Program, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    body = {name: value for name, value in ASKED[path][0].items() if not name.startswith("tool")}
    async with scripted(answer(400)) as server:
        await in_database(row)(server, "openai", tools=True)
        for case, (error, begins) in TOO_LONG.items():
            server.answers[:] = [answer(400, json.dumps({"error": error}).encode())]
            for stream, silence in ((False, 5), (True, 5), (True, 0)):
                monkeypatch.setattr(keep_alive, "SILENCE", silence)
                refused = await post(program, path, **body, model="made/m", stream=stream)
                assert refused.status_code == (200 if stream and not silence else 400)
                found = begins if path == "/v1/messages" else "The server at "
                assert (await message_of(refused)).startswith(found), (case, stream)


async def message_of(refused: Any) -> str:
    """Return the message of an error, or of the last event of a stream."""
    if not refused.streaming:
        return str(refused.json()["error"]["message"])
    text = b"".join([piece async for piece in refused.streaming_content]).decode()
    last = json.loads(text.strip().split("\n")[-1].removeprefix("data: "))
    return str(last.get("response", last)["error"]["message"])


def test_other_failures_keep_their_kind() -> None:
    assert error_replies.body(Failed("timeout", "It took too long."))["error"]["code"] == "timeout"


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ASKED)
async def test_the_pause_of_a_busy_server_is_passed_on(program: Program, path: str) -> None:
    """Packages wait as long as they are asked to, up to a minute; without the header they give up after 2 s."""
    body = {name: value for name, value in ASKED[path][0].items() if not name.startswith("tool")}
    rows = {"30": "30", "3600": "3600", "Wed, 21 Oct 2115 07:28:00 GMT": None, "soon": None, "9" * 30: None}
    async with scripted(answer(429)) as server:
        await in_database(row)(server, "openai", tools=True)
        for asked, shown in rows.items():
            for stream in (False, True):
                server.answers[:] = [answer(429, b"", f"retry-after: {asked}\r\n")]
                refused = await post(program, path, **body, model="made/m", stream=stream)
                assert (refused.status_code, refused.headers.get("Retry-After")) == (503, shown), asked
        server.answers[:] = [answer(529, b"", "retry-after: 30\r\n")]
        refused = await post(program, path, **body, model="made/m")
        assert (refused.status_code, refused.headers.get("Retry-After")) == (503, "30")
        server.answers[:] = [answer(400, b"", "retry-after: 30\r\n")]
        refused = await post(program, path, **body, model="made/m")
        assert (refused.status_code, refused.headers.get("Retry-After")) == (400, None)


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ASKED)
async def test_packages_are_asked_not_to_repeat_what_a_wrong_key_ends(program: Program, path: str) -> None:
    """They repeat every 5xx: a server may lock out whoever sends it a wrong key again and again."""
    body = {name: value for name, value in ASKED[path][0].items() if not name.startswith("tool")}
    async with scripted(answer(401)) as server:
        await in_database(row)(server, "openai", tools=True)
        for status, shown in ((401, "false"), (403, "false"), (500, None), (429, None)):
            server.answers[:] = [answer(status, b"", "retry-after: 30\r\n" if status == 429 else "")]
            refused = await post(program, path, **body, model="made/m")
            assert refused.headers.get("X-Should-Retry") == shown, (status, refused.content)


def test_packages_are_asked_not_to_repeat_a_request_to_an_untested_model() -> None:
    refused = error_replies.before(UntestedModel("Test it first."))
    assert (refused.status_code, refused.headers["X-Should-Retry"]) == (409, "false")
