"""The Messages API: requests, refusals and answers."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from django.test import AsyncClient, Client

from tests.tables import every
from tests.toolsupport.gateway.conftest import FOLDER, PATH, Program
from toolsupport.core.types import Role, ToolCall
from toolsupport.gateway.message_blocks import UNREAD
from toolsupport.gateway.messages.request import read, read_count
from toolsupport.gateway.parsed_request import GatewayRequest
from toolsupport.gateway.request_errors import InvalidField
from toolsupport.web import protocol_errors

Knows = Callable[..., Any]
LIST = {"name": "list_directory", "description": "Lists.", "input_schema": PATH}
HELLO = {"role": "user", "content": "Hello"}
PICTURE = {"type": "base64", "media_type": "image/png", "data": b64encode(b"\x89PNG").decode()}


def asked(**fields: Any) -> GatewayRequest:
    return read(orjson.dumps({"model": "m", "max_tokens": 100, "messages": [HELLO]} | fields))


def message(**fields: Any) -> dict[str, Any]:
    return {"messages": [fields]}


def block(**fields: Any) -> dict[str, Any]:
    return message(role="user", content=[fields])


def tool(**fields: Any) -> dict[str, Any]:
    return {"tools": [fields]}


FIRST = "messages[0].content[0]"
WRONG: dict[str, tuple[Any, str]] = {
    "no model": ({"model": None}, "model"),
    "a number as model": ({"model": 3}, "model"),
    "an empty model": ({"model": ""}, "model"),
    "a NUL in the model": ({"model": "a\0"}, "model"),
    "no limit": ({"max_tokens": None}, "max_tokens"),
    "no tokens": ({"max_tokens": 0}, "max_tokens"),
    "half a token": ({"max_tokens": 1.5}, "max_tokens"),
    "a text as limit": ({"max_tokens": "100"}, "max_tokens"),
    "no messages": ({"messages": None}, "messages"),
    "an empty list": ({"messages": []}, "messages"),
    "a text as messages": ({"messages": "Hello"}, "messages"),
    "a text as message": ({"messages": ["Hello"]}, "messages[0]"),
    "no role": (message(content="Hello"), "messages[0].role"),
    "an unknown role": (message(role="tool", content="Hello"), "messages[0].role"),
    "no content": (message(role="user"), "messages[0].content"),
    "null as content": (message(role="user", content=None), "messages[0].content"),
    "an object as content": (message(role="user", content={}), "messages[0].content"),
    "a text as block": (message(role="user", content=["x"]), FIRST),
    "a block without type": (block(text="x"), FIRST),
    "a number as type": (block(type=3), FIRST),
    "a text without text": (block(type="text"), f"{FIRST}.text"),
    "a number as text": (block(type="text", text=3), f"{FIRST}.text"),
    "an image without source": (block(type="image"), f"{FIRST}.source"),
    "a text as source": (block(type="image", source="x"), f"{FIRST}.source"),
    "a source without type": (block(type="image", source={}), f"{FIRST}.source"),
    "an address": (block(type="image", source={"type": "url", "url": "http://127.0.0.1/a"}), FIRST),
    "a file": (block(type="image", source={"type": "file", "file_id": "f"}), FIRST),
    "a picture that is not base64": (block(type="image", source=PICTURE | {"data": "?"}), FIRST),
    "another medium": (block(type="image", source=PICTURE | {"media_type": "image/tiff"}), FIRST),
    "reasoning without text": (block(type="thinking"), f"{FIRST}.thinking"),
    "a call without id": (block(type="tool_use", name="a", input={}), f"{FIRST}.id"),
    "a call with an empty id": (block(type="tool_use", id="", name="a", input={}), f"{FIRST}.id"),
    "a call without name": (block(type="tool_use", id="c", input={}), f"{FIRST}.name"),
    "a call with a wrong name": (block(type="tool_use", id="c", name="a b", input={}), f"{FIRST}.name"),
    "a call without input": (block(type="tool_use", id="c", name="a"), f"{FIRST}.input"),
    "a call with a text as input": (block(type="tool_use", id="c", name="a", input="{}"), f"{FIRST}.input"),
    "a result without call": (block(type="tool_result", content="x"), f"{FIRST}.tool_use_id"),
    "a number as result": (block(type="tool_result", tool_use_id="c", content=3), f"{FIRST}.content"),
    "a text in a list as result": (block(type="tool_result", tool_use_id="c", content=["x"]), f"{FIRST}.content[0]"),
    "a result with an address": (
        block(type="tool_result", tool_use_id="c", content=[{"type": "image", "source": {"type": "url"}}]),
        f"{FIRST}.content[0]",
    ),
    "a document without source": (block(type="document", title="T"), f"{FIRST}.source"),
    "a document without source in a result": (
        block(type="tool_result", tool_use_id="c", content=[{"type": "document"}]),
        f"{FIRST}.content[0].source",
    ),
    "a number as title": (block(type="document", title=3, source={"type": "text", "data": "x"}), f"{FIRST}.title"),
    "a search result with a number": (block(type="search_result", content=3), f"{FIRST}.content"),
    "a text as is_error": (block(type="tool_result", tool_use_id="c", is_error="no"), f"{FIRST}.is_error"),
    "a number as system": ({"system": 3}, "system"),
    "a text in a list as system": ({"system": ["x"]}, "system[0]"),
    "a system block without text": ({"system": [{"type": "text"}]}, "system[0].text"),
    "an object as tools": ({"tools": {}}, "tools"),
    "a text as tool": ({"tools": ["x"]}, "tools[0]"),
    "a tool without name": (tool(input_schema=PATH), "tools[0].name"),
    "a tool without schema": (tool(name="a"), "tools[0].input_schema"),
    "a tool in another form": (tool(type="function", function={"name": "a"}), "tools[0].type"),
    "spaces in a name": (tool(name="a b", input_schema=PATH), "tools[0].name"),
    "a long name": (tool(name="a" * 65, input_schema=PATH), "tools[0].name"),
    "a longer name of an MCP tool": (tool(name="mcp__" + "a" * 124, input_schema=PATH), "tools[0].name"),
    "a property that is no schema": (tool(name="a", input_schema={"properties": {"a": 5}}), "tools"),
    "a type that is none": (tool(name="a", input_schema={"properties": {"a": {"type": "nonsense"}}}), "tools"),
    "a list as schema": (tool(name="a", input_schema=[]), "tools[0].input_schema"),
    "a schema of a text": (tool(name="a", input_schema={"type": "string"}), "tools"),
    "a number as description": (tool(name="a", description=3, input_schema=PATH), "tools[0].description"),
    "two of one name": ({"tools": [LIST, LIST]}, "tools"),
    "too many tools": ({"tools": [LIST | {"name": f"a{number}"} for number in range(257)]}, "tools"),
    "a text as choice": ({"tools": [LIST], "tool_choice": "auto"}, "tool_choice"),
    "an unknown choice": ({"tools": [LIST], "tool_choice": {"type": "required"}}, "tool_choice"),
    "a choice without name": ({"tools": [LIST], "tool_choice": {"type": "tool"}}, "tool_choice"),
    "a choice of another tool": ({"tools": [LIST], "tool_choice": {"type": "tool", "name": "x"}}, "tool_choice"),
    "any without tools": ({"tool_choice": {"type": "any"}}, "tool_choice"),
    "a text as stream": ({"stream": "yes"}, "stream"),
    "a text as stop": ({"stop_sequences": "x"}, "stop_sequences"),
    "too many stops": ({"stop_sequences": ["x"] * 17}, "stop_sequences"),
    "too hot": ({"temperature": 3}, "temperature"),
    "too likely": ({"top_p": 2}, "top_p"),
    "a negative number of tokens": ({"top_k": -1}, "top_k"),
    "a format without schema": ({"output_format": {"type": "json_schema"}}, "output_format"),
    "an unknown format": ({"output_config": {"format": {"type": "xml", "schema": {}}}}, "output_config"),
}


@every("case", WRONG)
def test_a_wrong_field_is_named(case: str) -> None:  # G6
    fields, place = WRONG[case]
    with pytest.raises(InvalidField) as error:
        asked(**fields)
    assert error.value.param.startswith(place), error.value


CONVERSATION = [
    FOLDER,
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "I look.", "signature": ""},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "text", "text": "Let me see.", "cache_control": {"type": "ephemeral"}},
            {"type": "tool_use", "id": "c1", "name": "list_directory", "input": {"path": "."}},
            {"type": "tool_use", "id": "c2", "name": "list_directory", "input": {"path": "x"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "config.json"},
            {
                "type": "tool_result",
                "tool_use_id": "c2",
                "content": [{"type": "text", "text": "none"}],
                "is_error": True,
            },
            {"type": "text", "text": "And this?"},
            {"type": "image", "source": PICTURE},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a file"}},
        ],
    },
]


def test_a_whole_conversation_is_read() -> None:  # G6
    log = asked(system=[{"type": "text", "text": "Be"}, {"type": "text", "text": "brief."}], messages=CONVERSATION).log
    assert [message.role.value for message in log] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert log[0].content == "Be\n\nbrief."
    assert (log[2].thinking, log[2].content) == ("I look.", "Let me see.")
    assert log[2].calls[0] == ToolCall("c1", "list_directory", {"path": "."}) and len(log[2].calls) == 2
    assert [(one.call_id, one.content) for one in log[3:5]] == [("c1", "config.json"), ("c2", "Error: none")]
    assert (log[5].role, log[5].content, log[5].images) == (Role.USER, "And this?\n\na file", (b"\x89PNG",))


# A block → the text that the model gets of it.
DOCUMENTS: list[tuple[dict[str, Any], str]] = [
    ({"type": "document", "title": "T", "source": {"type": "text", "data": "words"}}, "T:\nwords"),
    ({"type": "document", "source": {"type": "content", "content": "words"}}, "words"),
    ({"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "words"}]}}, "words"),
    ({"type": "search_result", "source": "s", "title": "T", "content": [{"type": "text", "text": "w"}]}, "T:\nw"),
    ({"type": "search_result", "content": [{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}]}, "a\n\nb"),
    ({"type": "document", "source": {"type": "content"}}, UNREAD.format("document")),
    ({"type": "document", "source": {"type": "base64", "data": "JVBERi0="}}, UNREAD.format("document")),
    ({"type": "document", "title": "T", "source": {"type": "url", "url": "https://a/b.pdf"}}, UNREAD.format("T")),
    ({"type": "container_upload", "file_id": "f"}, UNREAD.format("container_upload")),
    ({"type": "something_new", "text": "x"}, ""),
]


@every("given, expected", DOCUMENTS)
def test_documents_are_read_or_named_as_left_out(given: dict[str, Any], expected: str) -> None:  # G6
    assert asked(**block(**given)).log[0].content == expected
    result = {"type": "tool_result", "tool_use_id": "c", "content": [given]}
    assert asked(**block(**result)).log[0].content == expected


@every("fields", [{"output_format": {"type": "x"}}, {"output_config": "x"}, {"system": 7}, {"thinking": {}}])
def test_a_count_checks_what_it_reads(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidField) as error:
        read_count(orjson.dumps({"model": "m", "messages": [HELLO]} | fields))
    assert error.value.param.startswith(next(iter(fields)))


def test_a_name_as_claude_code_makes_it_is_read() -> None:
    name = "mcp__plugin_chrome-devtools-mcp_chrome-devtools__performance_analyze_insight"
    used = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": name, "input": {}}]}
    read = asked(tools=[{"name": name, "input_schema": PATH}], messages=[HELLO, used, HELLO])
    assert [tool.name for tool in read.tools] == [name] == [call.name for call in read.log[1].calls]


def test_fields_reach_the_model() -> None:
    schema = {"type": "object", "properties": {}}
    read = asked(stop_sequences=["END"], top_k=5, output_config={"format": {"type": "json_schema", "schema": schema}})
    response_format = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    assert read.options == {"num_predict": 100, "top_k": 5, "stop": ["END"], "response_format": response_format}


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (None, ("auto", 2, None)),
        ({"type": "auto", "disable_parallel_tool_use": True}, ("auto", 2, False)),
        ({"type": "any"}, ("required", 2, None)),
        ({"type": "tool", "name": "b"}, ("required", 1, None)),
        ({"type": "none"}, ("none", 2, None)),
    ],
)
def test_a_choice_is_read(choice: Any, expected: tuple[str, int, bool | None]) -> None:
    found = asked(tools=[LIST, LIST | {"name": "b"}], tool_choice=choice)
    assert (found.choice, len(found.tools), found.parallel) == expected


HOSTED = ("web_search_20250305", "bash_20250124", "text_editor_20250728", "computer_20250124", "something_new")


def test_tools_of_the_hosted_service_are_left_out() -> None:  # G6
    found = asked(tools=[LIST | {"type": "custom"}, *({"type": kind} for kind in HOSTED)])
    assert [tool.name for tool in found.tools] == ["list_directory"] and found.skipped == tuple(sorted(HOSTED))


async def post(program: Program, address: str = "", **fields: Any) -> Any:
    headers = {"X-Api-Key": program.key, "Anthropic-Version": "2023-06-01"}
    body = {"max_tokens": 200, "messages": [FOLDER], "tools": [LIST]} | fields
    path = f"/v1/messages{address}"
    return await AsyncClient().post(path, json.dumps(body), content_type="application/json", headers=headers)


@pytest.mark.asyncio
@pytest.mark.parametrize(("name", "known"), [("sim-honest", {}), ("sim-hermes", {"format": "hermes"})])
async def test_two_rounds(program: Program, knows: Knows, name: str, known: dict[str, str]) -> None:  # G6
    await knows(name, tools=True, **known)
    first = (await post(program, model=name)).json()
    call = first["content"][-1]
    assert (first["type"], first["role"], first["stop_reason"]) == ("message", "assistant", "tool_use")
    assert (call["type"], call["name"], call["input"]) == ("tool_use", "list_directory", {"path": "."})
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "config.json"}
    answer = {"role": "assistant", "content": first["content"]}
    last = (await post(program, model=name, messages=[FOLDER, answer, {"role": "user", "content": [result]}])).json()
    assert last["stop_reason"] == "end_turn" and "config.json" in last["content"][-1]["text"]
    assert last["usage"]["input_tokens"] > 0


@pytest.mark.asyncio
async def test_the_events_of_a_stream(program: Program, knows: Knows) -> None:  # G6
    await knows("sim-thinks", tools=True)
    answer = await post(program, model="sim-thinks", stream=True)
    text = b"".join([piece async for piece in answer.streaming_content]).decode()
    found = [json.loads(line.removeprefix("data: ")) for line in text.split("\n") if line.startswith("data: ")]
    begun = [event["content_block"]["type"] for event in found if event["type"] == "content_block_start"]
    assert begun[0] == "thinking" and begun[-1] == "tool_use"
    assert [event["index"] for event in found if event["type"] == "content_block_stop"] == list(range(len(begun)))
    pieces = [event["delta"] for event in found if event["type"] == "content_block_delta"]
    assert json.loads("".join(piece.get("partial_json", "") for piece in pieces)) == {"path": "."}
    assert [found[0]["type"], found[-2]["type"], found[-1]["type"]] == [
        "message_start",
        "message_delta",
        "message_stop",
    ]
    assert found[-2]["delta"]["stop_reason"] == "tool_use" and found[-2]["usage"]["output_tokens"] > 0


@pytest.mark.asyncio
async def test_tokens_are_counted_without_an_answer(program: Program, knows: Knows) -> None:  # G6
    await knows("sim-honest", tools=True)
    short = (await post(program, "/count_tokens", model="sim-honest")).json()["input_tokens"]
    longer = [{"role": "user", "content": "word " * 500}]
    assert (await post(program, "/count_tokens", model="sim-honest", messages=longer)).json()[
        "input_tokens"
    ] > short + 300


@pytest.mark.asyncio
async def test_errors_have_anthropics_shape(program: Program, knows: Knows) -> None:  # G6
    await knows("sim-honest", tools=True)
    wrong: list[tuple[dict[str, Any], int, str]] = [
        ({"model": "nothing"}, 404, "not_found_error"),
        ({"model": "sim-honest", "max_tokens": 0}, 400, "invalid_request_error"),
    ]
    for fields, status, kind in wrong:
        answer = await post(program, **fields)
        assert (answer.status_code, answer.json()["type"], answer.json()["error"]["type"]) == (status, "error", kind)


@pytest.mark.django_db
def test_errors_before_the_view_have_it_too(client: Client) -> None:
    refused = client.post("/v1/messages", "{}", content_type="application/json", headers={"X-Api-Key": "wrong"})
    assert (refused.status_code, refused.json()["error"]["type"]) == (401, "authentication_error")
    for path in ("/v1/messages", "/v1/messages/count_tokens", "/v1/messages/nothing/of/this/name"):
        for headers in ({}, {"X-Api-Key": "wrong"}, {"Authorization": "Basic x"}):  # packages accept gzip
            packed = client.post(path, "{}", "application/json", headers={"Accept-Encoding": "gzip", **headers})
            assert packed.status_code in (401, 404) and packed.json()["type"] == "error", (path, headers)
            assert "Content-Encoding" not in packed.headers
    for path in ("/v1/messages/batches", "/v1/messages/x/y"):
        assert client.post(path).json()["type"] == "error"
    assert client.get("/v1/responses/x").json()["error"]["code"] in ("unknown_url", "invalid_api_key")
    assert json.loads(protocol_errors.answer(b"/v1/messages?beta=true", 408, "late")[1])["error"]["type"] == (
        "invalid_request_error"
    )
