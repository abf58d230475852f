"""Answers to programs fit the API description: both are made from the same tables of fields."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import jsonschema_rs
import pytest
from django.test import AsyncClient

from tests.toolsupport.gateway.conftest import Program
from tests.toolsupport.gateway.test_required_calls import ASKED
from toolsupport.core.json_shapes import Choice, Shape
from toolsupport.gateway import chat_shapes, keep_alive, openapi
from toolsupport.gateway.messages import shapes as messages_shapes
from toolsupport.gateway.responses import shapes as responses_shapes

Knows = Callable[..., Any]
# Address → the kinds of its events and its whole answer.
APIS: dict[str, tuple[Choice, Shape]] = {
    "/v1/chat/completions": (chat_shapes.EVENT, chat_shapes.COMPLETION),
    "/v1/responses": (responses_shapes.EVENT, responses_shapes.RESPONSE),
    "/v1/messages": (messages_shapes.EVENT, messages_shapes.MESSAGE),
}
AUTO = {"/v1/messages": {"type": "auto"}}
PATCH = [{"role": "user", "content": 'Call apply_patch with {"input": "a text"}'}]
CUSTOM: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": PATCH, "tools": [{"type": "custom", "custom": {"name": "apply_patch"}}]},
    "/v1/responses": {"input": PATCH, "tools": [{"type": "custom", "name": "apply_patch"}]},
}
LIMIT = {"/v1/responses": "max_output_tokens"}
# Models whose answers have calls, text, reasoning, an end within the text, and calls in text.
MODELS: dict[str, dict[str, Any]] = {
    "sim-honest": {"tools": True},
    "sim-thinks": {"tools": True},
    "sim-dies": {"tools": True},
    "sim-hermes": {"format": "hermes"},
}


@cache
def validator(name: str) -> Any:
    described = json.loads(json.dumps(openapi.document("http://site")))
    assert name in described["components"]["schemas"]
    return jsonschema_rs.validator_for({"$ref": f"#/components/schemas/{name}", "components": described["components"]})


def check(value: Any, name: str) -> None:
    assert [error.message for error in validator(name).iter_errors(value)] == [], (name, value)


async def post(program: Program, path: str, body: dict[str, Any]) -> Any:
    headers = {"Authorization": f"Bearer {program.key}"}
    return await AsyncClient().post(path, body, content_type="application/json", headers=headers)


async def events(program: Program, path: str, body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The names of the events of a stream, with their data."""
    answer = await post(program, path, body | {"stream": True})
    text = b"".join([piece async for piece in answer.streaming_content]).decode()
    found, name = [], ""
    for line in text.split("\n"):
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: {"):
            found.append((name, json.loads(line.removeprefix("data: "))))
            name = ""
    return found


def bodies(path: str, model: str) -> list[dict[str, Any]]:
    """A request with tools, one that reaches its limit of tokens, and one with a custom tool."""
    body = ASKED[path][0] | {"model": model, "tool_choice": AUTO.get(path, "auto")}
    options = {"stream_options": {"include_usage": True}} if path == "/v1/chat/completions" else {}
    cut = {LIMIT.get(path, "max_tokens"): 1, "tools": None, "tool_choice": None}
    return [body | options, body | cut, *([body | CUSTOM[path]] if path in CUSTOM else [])]


@pytest.mark.asyncio
@pytest.mark.parametrize("path", APIS)
async def test_every_event_and_every_answer_fits_its_description(
    program: Program, knows: Knows, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # G5 G6
    monkeypatch.setattr(keep_alive, "SILENCE", 0.001)  # so that pings come
    event, whole = APIS[path]
    seen: set[str] = set()
    for model, known in MODELS.items():
        await knows(model, **known)
        for body in bodies(path, model):
            for name, data in await events(program, path, body):
                seen.add(name)
                check(data, event.name)
                assert name in ("", "error") or data["type"] == name
            answer = await post(program, path, body)
            check(answer.json(), whole.name if answer.status_code == 200 else error_of(path))
    named = {shape.fixed["type"] for shape in event.shapes if "type" in shape.fixed}
    assert seen == (named - {"error"} or {""}) | ({"error"} if path != "/v1/responses" else set())


def error_of(path: str) -> str:
    return "MessagesError" if path == "/v1/messages" else "Error"


def test_a_description_excludes_other_fields_and_other_values() -> None:
    ping = {"type": "ping"}
    check(ping, "MessagesEvent")
    for wrong in ({}, {"type": "pong"}, ping | {"more": 1}, ping | {"type": None}):
        assert not validator("MessagesEvent").is_valid(wrong)
    for name in ("ChatEvent", "ResponsesEvent", "MessagesEvent"):
        assert not validator(name).is_valid({})


def test_a_writer_can_leave_nothing_out_and_add_nothing() -> None:
    point = Shape("Point", {"x": {}, "y": {}}, {"type": "point"}, {"name": {}})
    assert point(x=1, y=2) == {"type": "point", "x": 1, "y": 2}
    assert point(x=1, y=2, name="a")["name"] == "a"
    for fields in ({"x": 1}, {"x": 1, "y": 2, "z": 3}, {"x": 1, "name": "a"}):
        with pytest.raises(TypeError, match="Point"):
            point(**fields)
