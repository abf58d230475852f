"""An error inside a reply with status 200 counts like the status that it names, as long as nothing else has come."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.tables import every
from tests.toolsupport.providers.scripted import LAST_CHUNK, Step, answer, chunk, scripted, told
from tests.toolsupport.test_exchange import request_spec
from toolsupport import exchange, providers, refused_settings
from toolsupport.core.events import Event, Failed, Finished, SettingsLeftOut, TextDelta
from toolsupport.core.types import ChatMessage, Endpoint, Request, Role
from toolsupport.gateway import error_replies
from toolsupport.providers import transport

QUESTION = (ChatMessage(Role.USER, "Hello"),)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
LONG = "The input (40000 tokens) is longer than the model's context length (32768 tokens)."
FULL = {"error": {"message": LONG, "code": 400}}
LIMITED = {"error": {"message": "Rate limit exceeded", "code": 429}}


@pytest.fixture(autouse=True)
def quick_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "PAUSES", (0.001, 0.002))
    monkeypatch.setattr(refused_settings, "_refused", {})


def streamed(*values: Any) -> list[Step]:
    return [HEAD, *(chunk(b"data: " + orjson.dumps(value) + b"\n\n") for value in values), LAST_CHUNK]


def delta(finish: str | None = None, **parts: Any) -> dict[str, Any]:
    return {"choices": [{"delta": parts, "finish_reason": finish}]}


FINE = streamed(delta(content="Hi"), delta("stop"))
FLAT = {"choices": None, "error_type": "BadRequestError", "error_message": LONG}


async def ask(endpoint: Endpoint) -> list[Event]:
    return [event async for batch in providers.stream(endpoint, Request("m", QUESTION)) for event in batch]


# what it is → the reply, and the kind and the status of its failure
REPLIES: dict[str, tuple[Any, str, int]] = {
    "SGLang": (streamed(FULL), "refused", 400),
    "a whole document": (told(FULL), "refused", 400),
    "a list": (told([FULL]), "refused", 400),
    "a flat error": (streamed({"object": "error", "message": LONG, "code": 400}), "refused", 400),
    "a code in text": (streamed({"error": {"message": LONG, "code": "400"}}), "refused", 400),
    "a status": (streamed({"error": {"message": LONG, "status": 422, "code": "too_long"}}), "refused", 422),
    "a status beside the error": (streamed({"error": LONG, "status": 400}), "refused", 400),
    "an error in a choice": (
        streamed({"choices": [{"delta": {"content": ""}, "error": {"message": LONG, "code": 400}}]}),
        "refused",
        400,
    ),
    "after a role and a comment": (
        [HEAD, chunk(b": ping\n\n"), *streamed(delta(role="assistant", content=""), FULL)[1:]],
        "refused",
        400,
    ),
    "a missing model": (streamed({"error": {"message": "no such model", "code": 404}}), "model_missing", 404),
    "a wrong key": (streamed({"error": {"message": "no", "code": 401}}), "unauthorized", 401),
    "a failed server": (streamed({"error": {"message": "no", "code": 502}}), "server", 502),
    "a busy server": (streamed(LIMITED), "busy", 429),
    "the name of an error, no choices": (streamed(FLAT), "refused", 400),
    "the name of an error, an empty list": (streamed(FLAT | {"choices": []}), "refused", 400),
    "an unknown name": (streamed(FLAT | {"error_type": "Odd"}), "server", 200),
    "no status": (streamed({"error": {"message": LONG, "code": None}}), "server", 200),
    "a code of something else": (streamed({"error": {"message": LONG, "code": 1008}}), "server", 200),
    "after a text": (streamed(delta(content="Hi"), FULL), "server", 200),
    "after a thought": (streamed(delta(reasoning="Hm"), LIMITED), "server", 200),
    "after a call": (
        streamed(delta(tool_calls=[{"index": 0, "id": "1", "function": {"name": "f"}}]), FULL),
        "server",
        200,
    ),
    "beside a text": (
        streamed({"choices": [{"delta": {"content": "Hi"}}, {"error": {"message": LONG, "code": 400}}]}),
        "server",
        200,
    ),
}


@every("case", REPLIES)
@pytest.mark.asyncio
async def test_the_failure_has_the_status_and_its_kind(case: str) -> None:
    reply, kind, status = REPLIES[case]
    async with scripted(reply) as server:
        failed = (await ask(server.endpoint(kind="openai")))[-1]
        assert isinstance(failed, Failed)
        assert (failed.kind, failed.status) == (kind, status), failed
        assert len(server.requests) == (3 if kind == "busy" else 1)
    if LONG in failed.body:
        assert LONG.removesuffix(".") in failed.message
        code = error_replies.code(failed)
        assert code == (error_replies.CONTEXT_EXCEEDED if kind == "refused" else "server")


@every("busy", [[streamed(LIMITED), streamed(LIMITED)], [streamed(LIMITED), answer(429)], [told(LIMITED)]])
@pytest.mark.asyncio
async def test_a_busy_server_is_asked_again(busy: list[Any]) -> None:
    async with scripted(*busy, FINE) as server:
        assert await ask(server.endpoint(kind="openai")) == [TextDelta("Hi"), Finished("stop")]
        assert len(server.requests) == len(busy) + 1


@pytest.mark.asyncio
async def test_a_refused_setting_is_left_out() -> None:
    words = "temperature is not supported with this model"
    async with scripted(streamed({"error": {"message": words, "code": 400}}), FINE) as server:
        asked = request_spec(tools=False, options={"temperature": 0.5})
        batches = exchange.ask(server.endpoint(kind="openai"), asked, QUESTION)
        events = [event async for batch in batches for event in batch]
        assert events[0] == SettingsLeftOut(("temperature",), words)
        assert ["temperature" in body for body in server.bodies] == [True, False]
