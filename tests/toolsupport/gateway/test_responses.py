"""The Responses API: requests, refusals and answers."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from django.test import AsyncClient

from tests.tables import every
from tests.toolsupport.gateway.conftest import FOLDER, PATH, Program
from toolsupport.core.types import Role, ToolCall
from toolsupport.gateway.parsed_request import GatewayRequest
from toolsupport.gateway.request_errors import InvalidField
from toolsupport.gateway.responses.request import read

Knows = Callable[..., Any]
LIST = {"type": "function", "name": "list_directory", "description": "Lists.", "parameters": PATH}
PIXEL = "data:image/png;base64," + b64encode(b"\x89PNG").decode()
CALL = {"type": "function_call", "call_id": "c1", "name": "list_directory", "arguments": '{"path": "."}'}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "config.json"}


def asked(**fields: Any) -> GatewayRequest:
    return read(orjson.dumps({"model": "m", "input": "Hello"} | fields))


def item(**fields: Any) -> dict[str, Any]:
    return {"input": [fields]}


def tool(**fields: Any) -> dict[str, Any]:
    return {"tools": [fields]}


WRONG: dict[str, tuple[Any, str]] = {
    "no model": ({"model": None}, "model"),
    "a number as model": ({"model": 3}, "model"),
    "an empty model": ({"model": ""}, "model"),
    "a blank model": ({"model": " "}, "model"),
    "a NUL in the model": ({"model": "a\0"}, "model"),
    "no input": ({"input": None}, "input"),
    "an object as input": ({"input": {}}, "input"),
    "an empty list": ({"input": []}, "input"),
    "a text as item": ({"input": ["Hello"]}, "input[0]"),
    "null as item": ({"input": [None]}, "input[0]"),
    "a message without role": (item(content="Hello"), "input[0].role"),
    "a message without content": (item(role="user"), "input[0].content"),
    "an unknown role": (item(role="tool", content="Hello"), "input[0].role"),
    "a number as role": (item(role=1, content="Hello"), "input[0].role"),
    "a number as content": (item(role="user", content=3), "input[0].content"),
    "an object as content": (item(role="user", content={}), "input[0].content"),
    "a text as part": (item(role="user", content=["x"]), "input[0].content[0]"),
    "a part without type": (item(role="user", content=[{"text": "x"}]), "input[0].content[0].type"),
    "an unknown part": (item(role="user", content=[{"type": "input_audio"}]), "input[0].content[0].type"),
    "a number as text": (item(role="user", content=[{"type": "input_text", "text": 3}]), "input[0].content[0].text"),
    "an address of an image": (
        item(role="user", content=[{"type": "input_image", "image_url": "http://127.0.0.1/a.png"}]),
        "input[0].content[0]",
    ),
    "an image without address": (item(role="user", content=[{"type": "input_image"}]), "input[0].content[0]"),
    "an image that is not base64": (
        item(role="user", content=[{"type": "input_image", "image_url": "data:image/png;base64,?"}]),
        "input[0].content[0]",
    ),
    "an item with an empty type": (item(type="", role="user", content=-1), "input[0].type"),
    "a number as type": (item(type=3, role="user", content="x"), "input[0].type"),
    "a call without id": (item(type="function_call", name="a", arguments="{}"), "input[0].call_id"),
    "a call without name": (item(type="function_call", call_id="c", arguments="{}"), "input[0].name"),
    "a call with an empty id": (item(type="function_call", call_id="", name="a"), "input[0].call_id"),
    "a call with a wrong name": (item(type="function_call", call_id="c", name="a b"), "input[0].name"),
    "a call with a list": (item(type="function_call", call_id="c", name="a", arguments=[]), "input[0].arguments"),
    "a result without id": (item(type="function_call_output", output="x"), "input[0].call_id"),
    "a result with an empty id": (
        item(type="function_call_output", name="a", call_id="", output="x"),
        "input[0].call_id",
    ),
    "a result without id and with a blank name": (
        item(type="function_call_output", name=" ", output="x"),
        "input[0].call_id",
    ),
    "a custom result without id": (item(type="custom_tool_call_output", output="x"), "input[0].call_id"),
    "a named result without output": (item(type="function_call_output", name="a"), "input[0].output"),
    "a result without output": (item(type="function_call_output", call_id="c"), "input[0].output"),
    "a number as result": (item(type="function_call_output", call_id="c", output=3), "input[0].output"),
    "an item by its id": (item(type="item_reference", id="msg_1"), "input[0]"),
    "reasoning with a text as summary": (item(type="reasoning", summary="x"), "input[0].summary"),
    "a list as instructions": ({"instructions": []}, "instructions"),
    "an object as tools": ({"tools": {}}, "tools"),
    "a text as tool": ({"tools": ["x"]}, "tools[0]"),
    "a tool without type": (tool(name="x"), "tools[0].type"),
    "an empty type": (tool(type="", name="x"), "tools[0].type"),
    "a function without name": (tool(type="function"), "tools[0].name"),
    "a function in another form": (tool(type="function", function={"name": "x"}), "tools[0].name"),
    "spaces in a name": (tool(type="function", name="a b"), "tools[0].name"),
    "a long name": (tool(type="function", name="a" * 65), "tools[0].name"),
    "a property that is no schema": (tool(type="function", name="a", parameters={"properties": {"a": 5}}), "tools"),
    "a reference to nothing": (tool(type="function", name="a", parameters={"items": {"$ref": "#/x"}}), "tools"),
    "a number as name": (tool(type="function", name=1), "tools[0].name"),
    "a list as parameters": (tool(type="function", name="x", parameters=[]), "tools[0].parameters"),
    "parameters of a text": (tool(type="function", name="x", parameters={"type": "string"}), "tools"),
    "a number as description": (tool(type="function", name="x", description=1), "tools[0].description"),
    "a text as strict": (tool(type="function", name="x", strict="yes"), "tools[0].strict"),
    "two of one name": ({"tools": [LIST, LIST]}, "tools"),
    "too many tools": ({"tools": [LIST | {"name": f"a{number}"} for number in range(257)]}, "tools"),
    "an unknown choice": ({"tools": [LIST], "tool_choice": "any"}, "tool_choice"),
    "a choice without type": ({"tools": [LIST], "tool_choice": {"name": "list_directory"}}, "tool_choice"),
    "a choice of another tool": (
        {"tools": [LIST], "tool_choice": {"type": "function", "name": "x"}},
        "tool_choice",
    ),
    "a choice of a hosted tool": ({"tools": [LIST], "tool_choice": {"type": "web_search"}}, "tool_choice"),
    "a required call without tools": ({"tool_choice": "required"}, "tool_choice"),
    "a required call of hosted tools": (
        {"tools": [{"type": "web_search"}], "tool_choice": "required"},
        "tool_choice",
    ),
    "an earlier response": ({"previous_response_id": "resp_1"}, "previous_response_id"),
    "a stored conversation": ({"conversation": "conv_1"}, "conversation"),
    "a stored prompt": ({"prompt": {"id": "p"}}, "prompt"),
    "work in the background": ({"background": True}, "background"),
    "a text as stream": ({"stream": "yes"}, "stream"),
    "a text as store": ({"store": "no"}, "store"),
    "no tokens": ({"max_output_tokens": 0}, "max_output_tokens"),
    "half a token": ({"max_output_tokens": 1.5}, "max_output_tokens"),
    "too hot": ({"temperature": 2.5}, "temperature"),
    "a text as temperature": ({"temperature": "1"}, "temperature"),
    "too likely": ({"top_p": 1.5}, "top_p"),
    "a text as text": ({"text": "json"}, "text"),
    "a format without type": ({"text": {"format": {}}}, "text"),
    "an unknown format": ({"text": {"format": {"type": "xml"}}}, "text"),
    "a format without schema": ({"text": {"format": {"type": "json_schema", "name": "a"}}}, "text"),
    "a text as metadata": ({"metadata": "a"}, "metadata"),
    "a text as include": ({"include": "x"}, "include"),
    "a number as truncation": ({"truncation": 1}, "truncation"),
    "allowed tools without a mode": ({"tools": [LIST], "tool_choice": {"type": "allowed_tools"}}, "tool_choice"),
    "an unknown mode": (
        {"tools": [LIST], "tool_choice": {"type": "allowed_tools", "mode": 7, "tools": []}},
        "tool_choice",
    ),
    "a stored file": (item(role="user", content=[{"type": "input_file", "file_id": "f"}]), "input[0].content[0]"),
    "a custom call without input": (item(type="custom_tool_call", call_id="c", name="a"), "input[0].input"),
    "a number as parallel": ({"parallel_tool_calls": 1}, "parallel_tool_calls"),
}


@every("case", WRONG)
def test_a_wrong_field_is_named(case: str) -> None:  # G5
    fields, place = WRONG[case]
    with pytest.raises(InvalidField) as error:
        asked(**fields)
    assert error.value.param.startswith(place), error.value


def test_a_whole_conversation_is_read() -> None:  # G5
    reasoning = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "I look."}]}
    said = {"role": "assistant", "content": [{"type": "output_text", "text": "Let me see.", "annotations": []}]}
    picture = [{"type": "input_text", "text": "And this?"}, {"type": "input_image", "image_url": PIXEL}]
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    log = asked(
        instructions="Be brief.",
        input=[FOLDER, reasoning, said, CALL, search, RESULT, {"role": "user", "content": picture}],
    ).log
    assert [message.role for message in log] == [Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL, Role.USER]
    assert (log[2].thinking, log[2].content) == ("I look.", "Let me see.")
    assert log[2].calls == (ToolCall("c1", "list_directory", {"path": "."}),)
    assert (log[3].call_id, log[3].content) == ("c1", "config.json")
    assert (log[4].content, log[4].images) == ("And this?", (b"\x89PNG",))


# Items of tools at hosted services, and of later versions: whatever they hold, they are left out.
OTHERS: list[dict[str, Any]] = [
    {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot", "image_url": "x"}},
    {"type": "shell_call_output", "call_id": "c", "output": [{"stdout": "x", "outcome": {"type": "exit"}}]},
    {"type": "mcp_list_tools", "name": "", "content": 7, "arguments": [], "summary": "x", "role": "tool"},
    {"type": "compaction", "encrypted_content": "x"},
    {"type": "something_new", "call_id": "", "output": None},
]


def test_other_items_are_left_out_and_custom_calls_stay() -> None:  # G5
    call = {"type": "custom_tool_call", "call_id": "c2", "name": "apply_patch", "input": "*** Begin"}
    result = {"type": "custom_tool_call_output", "call_id": "c2", "output": "Done"}
    log = asked(input=[FOLDER, *OTHERS, call, result, *OTHERS]).log
    assert [message.role for message in log] == [Role.USER, Role.ASSISTANT, Role.TOOL]
    assert log[1].calls == (ToolCall("c2", "apply_patch", {"input": "*** Begin"}),)


RESULTS = [
    {"type": "function_call_output", "id": "fco_1", "name": "automation_update", "namespace": "codex_app"},
    {"type": "custom_tool_call_output", "name": "automation_update", "call_id": None},
]


@every("result", RESULTS)
def test_a_result_that_names_no_call_is_a_message_of_the_user(result: dict[str, Any]) -> None:
    """Scheduled tasks of Codex send the results of calls that no model made."""
    parts = [{"type": "input_text", "text": "It is due."}, {"type": "input_image", "image_url": PIXEL}]
    for output, images in (("It is due.", ()), (parts, (b"\x89PNG",))):
        log = asked(input=[FOLDER, CALL, RESULT, result | {"output": output}]).log
        assert [message.role for message in log] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.USER]
        assert (log[3].content, log[3].images) == ("Result of the tool automation_update:\nIt is due.", images)


def test_a_name_beside_the_id_of_a_call_changes_nothing() -> None:
    for name in ("list_directory", " ", None, 3):
        assert asked(input=[FOLDER, CALL, RESULT | {"name": name}]).log == asked(input=[FOLDER, CALL, RESULT]).log


def test_a_file_of_text_is_read() -> None:
    url = f"data:text/plain;base64,{b64encode(b'words').decode()}"
    [message] = asked(**item(role="user", content=[{"type": "input_file", "filename": "a", "file_data": url}])).log
    assert message.content == "a:\nwords"


def test_fields_reach_the_model() -> None:
    schema = {"type": "object", "properties": {}}
    read = asked(
        max_output_tokens=50.0,
        temperature=0,
        text={"format": {"type": "json_schema", "name": "a", "schema": schema, "strict": True}},
    )
    json_schema = {"name": "a", "schema": schema, "strict": True}
    response_format = {"type": "json_schema", "json_schema": json_schema}
    assert read.options == {"num_predict": 50, "temperature": 0, "response_format": response_format}


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (None, ("auto", 2)),
        ("none", ("none", 2)),
        ("required", ("required", 2)),
        ({"type": "function", "name": "b"}, ("required", 1)),
        ({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "b"}]}, ("auto", 1)),
        ({"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "b"}]}, ("required", 1)),
    ],
)
def test_a_choice_is_read(choice: Any, expected: tuple[str, int]) -> None:
    found = asked(tools=[LIST, LIST | {"name": "b"}], tool_choice=choice)
    assert (found.choice, len(found.tools)) == expected


HOSTED = ("web_search", "namespace", "local_shell", "code_interpreter", "image_generation", "something_new")


def test_tools_of_hosted_services_are_left_out() -> None:  # G5
    found = asked(tools=[LIST, *({"type": kind, "name": "x"} for kind in HOSTED)])
    assert [tool.name for tool in found.tools] == ["list_directory"] and found.skipped == tuple(sorted(HOSTED))


async def post(program: Program, **fields: Any) -> Any:
    headers = {"Authorization": f"Bearer {program.key}"}
    body = {"input": [FOLDER], "tools": [LIST]} | fields
    return await AsyncClient().post("/v1/responses", body, content_type="application/json", headers=headers)


def events_of(text: str) -> list[dict[str, Any]]:
    lines = text.split("\n")
    found = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    assert [line.removeprefix("event: ") for line in lines if line.startswith("event: ")] == [
        event["type"] for event in found
    ]
    return found


@pytest.mark.asyncio
@pytest.mark.parametrize(("name", "known"), [("sim-honest", {}), ("sim-hermes", {"format": "hermes"})])
async def test_two_rounds(program: Program, knows: Knows, name: str, known: dict[str, str]) -> None:  # G5
    await knows(name, tools=True, **known)
    answer = await post(
        program, model=name, tools=[LIST, {"type": "web_search"}], instructions="Look.", metadata={"a": "b"}
    )
    body = answer.json()
    call = body["output"][-1]
    assert (call["type"], call["name"], json.loads(call["arguments"])) == (
        "function_call",
        "list_directory",
        {"path": "."},
    )
    assert answer.headers["X-Toolsupport-Tools-Skipped"] == "web_search"
    assert (body["status"], body["store"], body["instructions"], body["metadata"]) == (
        "completed",
        False,
        "Look.",
        {"a": "b"},
    )
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "config.json"}
    last = (await post(program, model=name, input=[FOLDER, *body["output"], result])).json()
    assert "config.json" in last["output"][-1]["content"][0]["text"] and last["usage"]["total_tokens"] > 0


@pytest.mark.asyncio
async def test_a_stream_ends_with_what_its_events_held(program: Program, knows: Knows) -> None:  # G5
    await knows("sim-honest", tools=True)
    answer = await post(program, model="sim-honest", stream=True)
    found = events_of(b"".join([piece async for piece in answer.streaming_content]).decode())
    assert [event["sequence_number"] for event in found] == list(range(len(found)))
    assert [found[0]["type"], found[1]["type"], found[-1]["type"]] == [
        "response.created",
        "response.in_progress",
        "response.completed",
    ]
    done = [event["item"] for event in found if event["type"] == "response.output_item.done"]
    assert done == found[-1]["response"]["output"] and done[-1]["type"] == "function_call"
    pieces = [event["delta"] for event in found if event["type"] == "response.function_call_arguments.delta"]
    assert json.loads("".join(pieces)) == {"path": "."}


@pytest.mark.asyncio
async def test_reasoning_is_an_item(program: Program, knows: Knows) -> None:  # G5
    await knows("sim-thinks", tools=True)
    kinds = [one["type"] for one in (await post(program, model="sim-thinks")).json()["output"]]
    assert kinds[0] == "reasoning" and kinds[-1] == "function_call"


@pytest.mark.asyncio
async def test_a_limit_of_tokens_makes_it_incomplete(program: Program, knows: Knows) -> None:
    await knows("sim-honest", tools=True)
    hello = [{"role": "user", "content": "Hello"}]
    body = (await post(program, model="sim-honest", input=hello, max_output_tokens=1)).json()
    assert (body["status"], body["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})


@pytest.mark.asyncio
async def test_a_failure_has_openais_shape(program: Program, knows: Knows) -> None:
    await knows("sim-honest", tools=True)
    for fields, status in (({"model": "nothing"}, 404), ({"model": "sim-honest", "background": True}, 400)):
        answer = await post(program, **fields)
        assert (answer.status_code, set(answer.json()["error"])) == (status, {"message", "type", "param", "code"})
