"""The description for machines: the addresses there are, and the fields that are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.urls import urlpatterns as CHAT
from toolsupport.core.types import JSON
from toolsupport.gateway.chat_request import asked
from toolsupport.gateway.field_errors import InvalidField
from toolsupport.gateway.openapi import document
from toolsupport.gateway.request_schemas import CALL as CALL_SCHEMA
from toolsupport.gateway.request_schemas import CALLS, QUESTION, QUESTIONS, UNUSED, BodyCheck
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
    return found | {deep for inner in schema.get("anyOf", []) for deep in described(inner, place)}


TOOL = {"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {}}}
CALL = {"id": "c", "function": {"name": "add", "arguments": {}}}
PARTS = [
    {"type": "text", "text": "Look"},
    {"type": "refusal", "refusal": "No."},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
    {"type": "file", "file": {"filename": "a", "file_data": "data:text/plain;base64,AA=="}},
]
NAMED = {"type": "function", "function": {"name": "add"}}
ALLOWED = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [NAMED]}}
FULL: JSON = {
    "model": "m",
    "messages": [
        *({"role": role, "content": PARTS} for role in ("system", "developer", "user")),
        {"role": "assistant", "content": None, "reasoning_content": "So", "tool_calls": [CALL]},
        {"role": "tool", "content": "3", "tool_call_id": "c"},
    ],
    "tools": [TOOL],
    "tool_choice": NAMED,
    "stream_options": {"include_usage": True},
}
# What is checked, as hosted servers check it, and then has nothing to be read: most of it may have one value only.
CHECKED_ONLY = {
    *(".n", ".tool_choice.type", ".messages[].tool_calls[].type"),
    ".tool_choice.allowed_tools.tools[].type",
    *(f".{name}" for name in UNUSED),
    *(f".tools[].function.parameters.{name}" for name in ("type", "properties", "required")),
    *(f".response_format.{name}" for name in ("type", "json_schema", "json_schema.schema")),
}


def test_the_reader_reads_what_is_described_and_nothing_else() -> None:
    QUESTIONS.check(FULL)
    read: set[str] = set()
    for body in (FULL, FULL | {"tool_choice": ALLOWED}):
        asked(recorded(body, "", read))
    assert read == described(document("http://site")["components"]["schemas"]["Question"]) - CHECKED_ONLY


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


MINIMAL: JSON = {"model": "m", "messages": [{"role": "user"}], "name": "read_file", "arguments": {}}


@pytest.mark.parametrize(("schema", "check"), [(QUESTION, QUESTIONS), (CALL_SCHEMA, CALLS)], ids=["question", "call"])
def test_what_does_not_fit_the_description_is_refused_by_the_name_of_the_field(schema: JSON, check: BodyCheck) -> None:
    check.check(MINIMAL)
    refused = set()
    for body, name in samples(schema):
        with pytest.raises(InvalidField) as wrong:
            check.check(body)
        assert wrong.value.param.partition("[")[0] == name
        refused.add(name)
    assert refused == set(schema["properties"])


@pytest.mark.parametrize("body", [{}, [], None, "text", {"model": "m"}, {"name": "x", "messages": []}])
@pytest.mark.parametrize("check", [QUESTIONS, CALLS])
def test_what_is_missing_is_named(check: BodyCheck, body: Any) -> None:
    with pytest.raises(InvalidField, match="must be"):
        check.check(body)


@pytest.mark.django_db
def test_it_names_this_site(client: Client, charlie: User) -> None:
    client.force_login(charlie)
    assert client.get("/api/openapi.json").json()["servers"] == [{"url": "http://testserver"}]
