"""The description for machines: the addresses there are, and the fields that are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema_rs
import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.urls import urlpatterns as CHAT
from tests.tables import every
from toolsupport.core.types import JSON
from toolsupport.gateway import chat_request
from toolsupport.gateway.chat_schemas import ITEM_QUESTIONS, ITEMS, QUESTION, QUESTIONS, UNUSED
from toolsupport.gateway.embeddings import request as embeddings_request
from toolsupport.gateway.embeddings import schemas as embeddings_schemas
from toolsupport.gateway.messages import request as messages_request
from toolsupport.gateway.messages import schemas as messages_schemas
from toolsupport.gateway.openapi import document
from toolsupport.gateway.request_errors import InvalidField
from toolsupport.gateway.request_schemas import CALL as CALL_SCHEMA
from toolsupport.gateway.request_schemas import CALLS, BodyCheck
from toolsupport.gateway.responses import request as responses_request
from toolsupport.gateway.responses import schemas as responses_schemas
from toolsupport.gateway.responses.schemas import UNUSED as UNUSED_RESPONSES
from toolsupport.gateway.urls import urlpatterns as GATEWAY
from toolsupport.web.api_errors import PLACES
from toolsupport.web.urls import urlpatterns as PAGES


def test_every_address_for_programs_is_described_and_is_there() -> None:  # G3
    described = set(document("http://site")["paths"])
    routes = {re.sub(r"<\w+:(\w+)>", r"{\1}", f"/{entry.pattern}") for entry in [*GATEWAY, *PAGES, *CHAT]}
    assert {route for route in routes if route.startswith(PLACES)} == described


class Recorded(dict[str, Any]):
    """An object of a body that keeps the places of the fields that are read from it."""

    def __init__(self, fields: dict[str, Any], place: str, read: set[str]) -> None:
        super().__init__({name: recorded(value, f"{place}.{name}", read) for name, value in fields.items()})
        self.place, self.read = place, read

    def __getitem__(self, name: str) -> Any:
        self.read.add(f"{self.place}.{name}")
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.read.add(f"{self.place}.{name}")
        return super().get(name, default)


def recorded(value: Any, place: str, read: set[str]) -> Any:
    if isinstance(value, dict):
        return Recorded(value, place, read)
    return [recorded(inner, f"{place}[]", read) for inner in value] if isinstance(value, list) else value


def described(schema: JSON, place: str = "") -> set[str]:
    """The places of all fields that a schema describes."""
    fields = schema.get("properties", {})
    found = {f"{place}.{name}" for name in fields}
    found |= {deep for name, inner in fields.items() for deep in described(inner, f"{place}.{name}")}
    found |= described(schema["items"], f"{place}[]") if "items" in schema else set()
    parts = [*schema.get("anyOf", ()), *schema.get("allOf", ()), *filter(None, [schema.get("then")])]
    return found | {deep for inner in parts for deep in described(inner, place)}


TOOL = {"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {}}}
FLAT = {"type": "function", "name": "add", "description": "Adds.", "parameters": {}}
CLAUDE = {"name": "subtract", "description": "Subtracts.", "input_schema": {}}
GRAMMAR = {"syntax": "lark", "definition": "start: A"}
RUN = {"type": "custom", "name": "run", "description": "Runs.", "format": {"type": "grammar", **GRAMMAR}}
NESTED_RUN = RUN | {"name": "start", "format": {"type": "grammar", "grammar": GRAMMAR}}
CUSTOM_TOOLS = [RUN, {"type": "custom", "custom": NESTED_RUN}]
CALL = {"id": "c", "function": {"name": "add", "arguments": {}}}
CUSTOM = {"id": "d", "type": "custom", "custom": {"name": "run", "input": "ls"}}
PARTS = [
    {"type": "text", "text": "Look"},
    {"type": "refusal", "refusal": "No."},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
    {"type": "file", "file": {"filename": "a", "file_data": "data:text/plain;base64,AA=="}},
]
NAMED = {"type": "function", "function": {"name": "add"}}
NAMED_CUSTOM = {"type": "custom", "custom": {"name": "start"}}
ALLOWED = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [NAMED]}}
INPUT_PARTS = [
    {"type": "input_text", "text": ""},
    {"type": "input_image", "image_url": "data:image/png;base64,AA=="},
    {"type": "input_file", "filename": "a", "file_data": "data:text/plain;base64,AA=="},
]
RESPONSES_BODY: JSON = {
    "model": "m",
    "instructions": "Be brief.",
    "input": [
        {"role": "user", "content": INPUT_PARTS},
        {"type": "reasoning", "content": INPUT_PARTS[:1], "summary": INPUT_PARTS},
        {"type": "function_call", "call_id": "c", "name": "add", "namespace": "mcp", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": INPUT_PARTS},
        {"type": "function_call_output", "name": "add", "output": "a"},
        {"type": "custom_tool_call", "call_id": "d", "name": "run", "input": "ls"},
        {"type": "custom_tool_call_output", "call_id": "d", "output": "a"},
    ],
    "tools": [FLAT, RUN, {"type": "namespace", "name": "mcp", "tools": [FLAT, RUN]}],
    "tool_choice": {"type": "function", "name": "add"},
    "text": {"format": {"type": "json_schema", "name": "x", "schema": {}}},
}
ALLOWED_FLAT = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "add"}]}
ITEMS_BODY = RESPONSES_BODY | {"tools": [FLAT, RUN], "stream_options": {"include_usage": True}}
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
LINKED = {"type": "document", "title": "T", "source": {"type": "url", "url": "https://a/b.pdf"}}
BLOCKS: list[JSON] = [
    {"type": "text", "text": "Look"},
    {"type": "document", "title": "T", "source": {"type": "text", "data": "a"}},
    {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "a"}]}},
    {"type": "search_result", "content": [{"type": "text", "text": "a"}]},
    LINKED,
]
MADE = [{"type": "thinking", "thinking": "So"}, {"type": "tool_use", "id": "c", "name": "add", "input": {}}]
RESULT: JSON = {"type": "tool_result", "tool_use_id": "c", "content": [*BLOCKS, PICTURE], "is_error": True}
IN_MESSAGES: JSON = {"type": "tool", "name": "add", "disable_parallel_tool_use": True}
QUESTION_BODY: JSON = {
    "model": "m",
    "messages": [
        *({"role": role, "content": [*PARTS, *BLOCKS]} for role in ("system", "developer", "user")),
        {"role": "assistant", "content": None, "reasoning_content": "So", "tool_calls": [CALL, CUSTOM]},
        {"role": "tool", "content": "3", "tool_call_id": "c"},
        {"role": "assistant", "content": MADE},
        {"role": "user", "content": [RESULT | {"content": [*RESULT["content"], *PARTS]}]},
        {"role": "user", "content": [PICTURE]},
    ],
    "system": BLOCKS[:1],
    "tools": [TOOL, FLAT | {"name": "divide"}, CLAUDE, *CUSTOM_TOOLS],
    "tool_choice": NAMED,
    "stream_options": {"include_usage": True},
}
FORM = {"type": "json_schema", "schema": {}}
MESSAGES_BODY: JSON = {
    "model": "m",
    "max_tokens": 9,
    "system": BLOCKS,
    "messages": [
        {"role": "user", "content": [*BLOCKS, PICTURE]},
        {"role": "assistant", "content": [*BLOCKS, *MADE]},
        {"role": "user", "content": [RESULT]},
    ],
    "tools": [{"name": "add", "description": "Adds.", "input_schema": {}}],
    "tool_choice": {"type": "tool", "name": "add"},
    "output_config": {"format": FORM},
}
EMBEDDINGS_BODY: JSON = {"model": "m", "input": ["a"]}
SCHEMA_OF_TOOL = ("type", "properties", "required")
# What is checked, as hosted servers check it, and then has nothing to be read: most of it may have one value only.
CHECKED_ONLY = {
    ".n",
    # Addresses are never fetched.
    *(f".messages[].content[]{inner}.source.url" for inner in ("", ".content[]")),
    *(f".{name}" for name in UNUSED),
    *(
        f".tools[].{at}.{name}"
        for at in ("function.parameters", "parameters", "input_schema")
        for name in SCHEMA_OF_TOOL
    ),
    *(f".response_format.{name}" for name in ("type", "json_schema", "json_schema.schema")),
}
CHECKED_RESPONSES = {
    *(f".{name}" for name in (*UNUSED_RESPONSES, "store", "previous_response_id", "conversation", "prompt")),
    *(".background", *(f".tools[].{at}parameters.{name}" for at in ("", "tools[].") for name in SCHEMA_OF_TOOL)),
}
CHECKED_MESSAGES = {
    *(f".{name}" for name in ("thinking", "metadata", "service_tier")),
    *(f".tools[].input_schema.{name}" for name in SCHEMA_OF_TOOL),
    *(f".{name}.type" for name in ("output_format", "output_config.format")),
    # Addresses are never fetched, and a system prompt has no images.
    *(f".{place}.source.url" for place in ("system[]", "messages[].content[]", "messages[].content[].content[]")),
    ".system[].source.media_type",
}


@pytest.mark.parametrize(
    ("name", "check", "read", "bodies", "checked"),
    [
        (
            *("Question", QUESTIONS, chat_request.asked),
            *(
                (
                    QUESTION_BODY,
                    *(QUESTION_BODY | {"tool_choice": one} for one in (ALLOWED, IN_MESSAGES, NAMED_CUSTOM)),
                ),
                CHECKED_ONLY,
            ),
        ),
        (
            *("QuestionOfItems", ITEM_QUESTIONS, chat_request.asked_by_items),
            *((ITEMS_BODY, ITEMS_BODY | {"tool_choice": ALLOWED_FLAT}), CHECKED_RESPONSES),
        ),
        (
            *("ResponsesRequest", responses_schemas.CHECK, responses_request.asked),
            *((RESPONSES_BODY, RESPONSES_BODY | {"tool_choice": ALLOWED_FLAT}), CHECKED_RESPONSES),
        ),
        (
            *("MessagesRequest", messages_schemas.CHECK, messages_request.asked),
            *((MESSAGES_BODY, MESSAGES_BODY | {"output_config": None, "output_format": FORM}), CHECKED_MESSAGES),
        ),
        ("EmbeddingRequest", embeddings_schemas.CHECK, embeddings_request.asked, (EMBEDDINGS_BODY,), {".user"}),
    ],
    ids=["chat completions", "chat completions of items", "responses", "messages", "embeddings"],
)
def test_the_reader_reads_what_is_described_and_nothing_else(
    name: str, check: BodyCheck, read: Callable[[JSON], object], bodies: tuple[JSON, ...], checked: set[str]
) -> None:
    found: set[str] = set()
    for body in bodies:
        check.check(body)
        read(recorded(body, "", found))
    assert found == described(document("http://site")["components"]["schemas"][name]) - checked


def test_the_options_that_programs_ask_for_are_described() -> None:
    wanted = {"temperature", "top_p", "seed", "stop", "n", "presence_penalty", "frequency_penalty", "response_format"}
    assert wanted <= set(document("http://site")["components"]["schemas"]["Question"]["properties"])


WRONG: list[Any] = [float("nan"), [[]], {"": []}, True, 10**400, ""]


def samples(schema: JSON) -> Iterator[tuple[JSON, str]]:
    """Bodies with one field of the wrong type each, with the name of the field."""
    for name in schema["properties"]:
        for wrong in WRONG:
            if not jsonschema_rs.is_valid(schema["properties"][name], wrong):
                yield {**MINIMAL, name: wrong}, name


HELLO = {"role": "user", "content": "Hello"}
MINIMAL: JSON = {"model": "m", "messages": [HELLO], "input": "Hello", "max_tokens": 9, "name": "read_file"}
CHECKS = {
    "question": (QUESTION, QUESTIONS),
    "question of items": (ITEMS, ITEM_QUESTIONS),
    "call": (CALL_SCHEMA, CALLS),
    "responses": (responses_schemas.REQUEST, responses_schemas.CHECK),
    "messages": (messages_schemas.REQUEST, messages_schemas.CHECK),
    "count": (messages_schemas.COUNT, messages_schemas.COUNT_CHECK),
    "embeddings": (embeddings_schemas.REQUEST, embeddings_schemas.CHECK),
}


@pytest.mark.parametrize(("schema", "check"), CHECKS.values(), ids=CHECKS)
def test_what_does_not_fit_the_description_is_refused_by_the_name_of_the_field(schema: JSON, check: BodyCheck) -> None:
    check.check(MINIMAL)
    refused = set()
    for body, name in samples(schema):
        with pytest.raises(InvalidField) as wrong:
            check.check(body)
        assert re.split(r"[.\[]", wrong.value.param)[0] == name
        refused.add(name)
    assert refused == set(schema["properties"])


@every("body", [{}, [], None, "text", {"model": "m"}, {"name": "x", "messages": []}])
@every("check", [QUESTIONS, CALLS])
def test_what_is_missing_is_named(check: BodyCheck, body: Any) -> None:
    with pytest.raises(InvalidField, match="must be"):
        check.check(body)


@pytest.mark.django_db
def test_it_names_this_site(client: Client, charlie: User) -> None:
    client.force_login(charlie)
    assert client.get("/api/openapi.json").json()["servers"] == [{"url": "http://testserver"}]
