"""A request of thousands of messages delays no one else while it is read and built for the model."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database
from django.test import AsyncClient

from tests.factories import ModelProfileFactory, ServerFactory
from tests.growth import grows_no_faster
from tests.obedient_server import NAME, obedient_server
from tests.processor_time import LONGEST_STEP, with_longest_step
from tests.tables import every
from tests.toolsupport.gateway.conftest import Program
from toolsupport import providers
from toolsupport.core import exact_json
from toolsupport.gateway import views
from toolsupport.gateway.messages import request as messages_request
from toolsupport.gateway.responses import request as responses_request

MANY = 6_000
USER = {"role": "user", "content": "Hello"}
CALL = {"type": "function_call", "call_id": "c", "name": "now", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c", "output": "x"}
ANSWER = {"role": "assistant", "content": "word " * 20}

Body = Callable[[int], dict[str, Any]]


def tools(properties: int) -> list[dict[str, Any]]:
    """Return many tools of so many properties each."""
    schema = {
        "type": "object",
        "properties": {f"p{number}": {"pattern": f"^a{number}"} for number in range(properties)},
    }
    return [{"type": "function", "name": f"t{number}", "parameters": schema} for number in range(200)]


BODIES: dict[str, tuple[str, Body]] = {
    "calls in a row": ("responses", lambda many: {"input": [USER, *[CALL] * many, USER]}),
    "calls and results": ("responses", lambda many: {"input": [USER, *[CALL, RESULT] * many, USER]}),
    "questions": ("responses", lambda many: {"input": [USER] * many}),
    "parts of an answer": ("responses", lambda many: {"input": [USER, *[ANSWER] * many, USER]}),
    "definitions of tools": ("responses", lambda many: {"input": [USER], "tools": tools(many // 20)}),
    "answers of a program": ("messages", lambda many: {"max_tokens": 9, "messages": [USER, *[ANSWER] * many, USER]}),
}
READERS = {"responses": responses_request.read, "messages": messages_request.read}


@every("kind", sorted(BODIES))
def test_reading_costs_no_more_for_each_item(kind: str) -> None:  # S1
    api, body = BODIES[kind]
    written = {many: json.dumps({"model": "m"} | body(many)).encode() for many in (1_500, 12_000)}
    assert grows_no_faster(lambda many: READERS[api](written[many]), 1_500, 12_000, times=2.5)


def known(address: str) -> None:
    ModelProfileFactory(server=ServerFactory(name="far", kind="ollama", base_url=address), name=NAME)


async def asked(program: Program, api: str, body: dict[str, Any]) -> tuple[bytes, float]:
    """Send a request; return the answer, and the longest step of the loop meanwhile."""
    headers = {"Authorization": f"Bearer {program.key}"}
    written = json.dumps({"model": f"far/{NAME}"} | body)
    asking = AsyncClient().post(f"/v1/{api}", written, content_type="application/json", headers=headers)
    answer, longest = await with_longest_step(asking)
    return answer.content, longest


@pytest.mark.asyncio
async def test_no_step_of_the_loop_is_long(program: Program) -> None:  # S1, S2
    with obedient_server() as address:
        await in_database(known)(address)
        try:
            for kind, (api, body) in sorted(BODIES.items()):
                await asked(program, api, body(1))  # what is made at the first request only
                answer, longest = await asked(program, api, body(MANY))
                assert b"As you wish" in answer, (kind, answer[:500])
                assert longest < LONGEST_STEP, kind
        finally:
            await providers.close()


@pytest.mark.asyncio
async def test_an_answer_that_repeats_many_tools_is_written_beside_the_loop(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:  # S1, S2
    """Also if the model gets none of them: it takes long to write, and others would wait."""
    writers: list[int] = []

    def dumps(value: object) -> bytes:
        writers.append(threading.get_ident())
        return exact_json.dumps(value)

    monkeypatch.setattr(views, "exact_json", SimpleNamespace(dumps=dumps))
    with obedient_server() as address:
        await in_database(known)(address)
        try:
            api, body = BODIES["definitions of tools"]
            answer, _ = await asked(program, api, body(MANY))
            assert len(json.loads(answer)["tools"]) == 200
            await asked(program, "responses", {"input": [USER]})
        finally:
            await providers.close()
    long, short = writers
    assert long != threading.get_ident() == short
