"""A program gets the call that its model wrote, although the server could not parse it, on each API."""

from __future__ import annotations

import orjson
import pytest
from channels.db import database_sync_to_async as in_database

from tests.toolsupport.gateway.conftest import Program
from tests.toolsupport.gateway.test_required_calls import ASKED, CALLED, HEAD, post, row, said
from tests.toolsupport.providers.scripted import LAST_CHUNK, answer, chunk, scripted

WRITTEN = '<function=list_directory>{"path": "sub"}</function>'
ERROR = {"error": {"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": WRITTEN}}
REFUSED = answer(400, orjson.dumps(ERROR))
EVENT = chunk(b"event: error\ndata: " + orjson.dumps(ERROR) + b"\n\n")
BROKEN_OFF = (HEAD, said(delta={"content": "Let me look."}), EVENT, LAST_CHUNK)
PIECE = {"index": 0, "id": "c", "type": "function", "function": {"name": "list_directory", "arguments": '{"path":'}}
BEGUN = (HEAD, said(delta={"tool_calls": [PIECE]}), EVENT, LAST_CHUNK)
ENDS = ('"finish_reason":"tool_calls"', '"stop_reason":"tool_use"', '"type":"function_call"')


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ASKED)
async def test_the_call_is_passed_on_with_its_repair(program: Program, path: str) -> None:
    auto = {"type": "auto"} if path == "/v1/messages" else "auto"
    body = ASKED[path][0] | {"tool_choice": auto, "model": "made/m"}
    async with scripted(REFUSED) as server:
        await in_database(row)(server, "vllm")
        for first in (REFUSED, BROKEN_OFF):
            for stream in (False, True):
                server.answers[:], asked = [first, CALLED], len(server.requests)
                reply = await post(program, path, **body, stream=stream)
                whole = b"".join([piece async for piece in reply.streaming_content]) if stream else reply.content
                text = whole.decode().replace('": ', '":')
                assert reply.status_code == 200 and len(server.requests) == asked + 1, text
                assert "sub" in text and any(end in text for end in ENDS) and "Failed to call" not in text
                assert ("Let me look." in text) is (first is BROKEN_OFF)
                if not stream:
                    assert reply.headers["X-Toolsupport-Repairs"] and reply.headers["X-Toolsupport-Retries"] == "0"


@pytest.mark.asyncio
async def test_a_part_of_another_call_was_passed_on(program: Program) -> None:
    """The call of the error need not continue it."""
    async with scripted(BEGUN, CALLED) as server:
        await in_database(row)(server, "vllm")
        lines = "\n".join(await program.stream("made/m"))
        assert "sub" not in lines
