"""The fields of a program's request, and that a wrong one is named."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import orjson
import pytest

from tests.tables import every
from toolsupport.core.types import Role
from toolsupport.gateway.chat_request import read
from toolsupport.gateway.chat_schemas import QUESTION
from toolsupport.gateway.parsed_request import GatewayRequest
from toolsupport.gateway.request_errors import InvalidField

HELLO = {"role": "user", "content": "Hello"}
TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
SECOND_CALL = "messages[0].tool_calls[1]"
NAME = "tools[0].function.name"
CALL_NAME = f"{SECOND_CALL}.function.name"
SECOND_TOOL = "tools[1].function.parameters"
OTHER = {"type": "function", "function": {"name": "other"}}
FLAT = {"type": "function", "name": "add", "parameters": {"type": "object"}}


def asked(**fields: Any) -> GatewayRequest:
    return read(orjson.dumps({"model": "m", "messages": [HELLO]} | fields))


@every(
    "fields, param",
    [
        ({"model": None}, "model"),
        ({"model": 3}, "model"),
        ({"messages": []}, "messages"),
        ({"model": " \t"}, "model"),
        ({"model": "a\0b"}, "model"),
        ({"messages": ["Hello"]}, "messages[0]"),
        ({"messages": {"role": "user"}}, "messages"),
        ({"messages": [{"content": "Hello"}]}, "messages[0].role"),
        ({"messages": [HELLO, {"role": "function"}]}, "messages[1].role"),
        ({"messages": [{"role": "user", "content": 3}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "audio"}]}]}, "messages[0].content[0]"),
        ({"messages": [{"role": "tool", "content": "3"}]}, "messages[0].tool_call_id"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages[0].content[0].text"),
        ({"messages": [HELLO, {"role": "tool", "content": "3", "tool_call_id": 3}]}, "messages[1].tool_call_id"),
        ({"messages": [{"role": "assistant", "tool_calls": [{}]}]}, "messages[0].tool_calls[0]"),
        ({"messages": [{"role": "assistant", "tool_calls": [CALL, CALL | {"function": 3}]}]}, SECOND_CALL),
        (
            {"messages": [{"role": "assistant", "tool_calls": [CALL, CALL | {"function": {"name": 3}}]}]},
            f"{SECOND_CALL}.function.name",
        ),
        ({"messages": [{"role": "assistant", "tool_calls": "none"}]}, "messages[0].tool_calls"),
        ({"messages": [{"role": "assistant", "reasoning_content": []}]}, "messages[0].reasoning_content"),
        ({"n": 2}, "n"),
        ({"stream": "yes"}, "stream"),
        ({"stream_options": []}, "stream_options"),
        ({"temperature": 3}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"seed": 1.5}, "seed"),
        ({"seed": 2**63}, "seed"),
        ({"max_completion_tokens": "5"}, "max_completion_tokens"),
        ({"top_p": 1.01}, "top_p"),
        ({"presence_penalty": -2.5}, "presence_penalty"),
        ({"frequency_penalty": "1"}, "frequency_penalty"),
        ({"response_format": "json"}, "response_format"),
        ({"stream_options": {"include_usage": "yes"}}, "stream_options"),
        ({"stop": ["a"] * 17}, "stop"),
        ({"stop": ["a", 1]}, "stop"),
        ({"parallel_tool_calls": 1}, "parallel_tool_calls"),
        ({"tools": {}}, "tools"),
        ({"tools": [TOOL, TOOL]}, "tools"),
        ({"tools": [{"type": 3}]}, "tools[0].type"),
        ({"tools": [{"type": ""}]}, "tools[0].type"),
        ({"tools": [None]}, "tools[0]"),
        ({"tools": ["add"]}, "tools[0]"),
        ({"tools": "add"}, "tools"),
        ({"tools": [{"type": "web_search"}], "tool_choice": "required"}, "tool_choice"),
        ({"tools": [{"type": None}]}, "tools[0]"),
        ({"model": ["m"]}, "model"),
        ({"model": {}}, "model"),
        ({"messages": None}, "messages"),
        ({"messages": "Hello"}, "messages"),
        ({"messages": [None]}, "messages[0]"),
        ({"messages": [{"role": "user", "content": {}}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": ["Hello"]}]}, "messages[0].content[0]"),
        ({"messages": [{"role": None, "content": "Hello"}]}, "messages[0].role"),
        ({"stream": 1}, "stream"),
        ({"stop": {}}, "stop"),
        ({"stop": 3}, "stop"),
        ({"top_p": "1"}, "top_p"),
        ({"max_tokens": 1.5}, "max_tokens"),
        ({"tools": [{"type": "function", "function": {}}]}, NAME),
        (
            {"tools": [TOOL, {"type": "function", "function": {"name": "b", "parameters": "{}"}}]},
            "tools[1].function.parameters",
        ),
        *(
            (
                {"tools": [TOOL, {"type": "function", "function": {"name": "b", "parameters": {"properties": one}}}]},
                "tools",
            )
            for one in (
                {"a": 5},
                {"a": {"type": "nonsense"}},
                {"a": {"required": 1}},
                {"a": {"enum": 5}},
                {"a": {"pattern": "("}},
                {"a": {"$ref": "#/nowhere"}},
                {"a": {"$ref": "http://127.0.0.1:1/x"}},
            )
        ),
        ({"tools": [{"type": "function"}]}, "tools[0]"),
        ({"tools": [FLAT | {"name": "a b"}]}, "tools[0].name"),
        ({"tools": [FLAT | {"name": None}]}, "tools[0].name"),
        ({"tools": [FLAT | {"parameters": "{}"}]}, "tools[0].parameters"),
        ({"tools": [{"name": "add", "input_schema": []}]}, "tools[0].input_schema"),
        ({"tools": [{"name": "add", "input_schema": {"type": "array"}}]}, "tools"),
        ({"tools": [FLAT | {"input_schema": {}}]}, "tools[0]"),
        ({"tools": [FLAT | {"function": None}]}, "tools[0]"),
        ({"tools": [FLAT | {"function": {}}]}, "tools[0].function.name"),
        ({"tools": [{"input_schema": {}}]}, "tools[0]"),
        ({"tools": [TOOL, FLAT]}, "tools"),
        ({"tools": [TOOL] * 257}, "tools"),
        ({"tools": [TOOL], "tool_choice": {"type": "function"}}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": "any"}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "sub"}}}, "tool_choice"),
        ({"tool_choice": "required"}, "tool_choice"),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, Any], param: str) -> None:  # G4
    with pytest.raises(InvalidField) as wrong:
        asked(**fields)
    assert wrong.value.param == param


def test_an_error_names_the_tool_whose_schema_cannot_be_used() -> None:
    with pytest.raises(InvalidField, match=r"No call of add could be checked: .*5 is not of types"):
        asked(**of_tool(parameters={"properties": {"a": 5}}))


def test_null_in_a_schema_is_as_if_it_were_left_out() -> None:
    (read,) = asked(**of_tool(parameters={"type": "object", "properties": None, "required": None})).tools
    assert read.parameters == {"type": "object", "properties": {}, "required": []}


def named(name: str) -> dict[str, Any]:
    return {"tools": [{"type": "function", "function": {"name": name}}]}


def of_tool(**fields: Any) -> dict[str, Any]:
    return {"tools": [{"type": "function", "function": {"name": "add", **fields}}]}


def in_history(**fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "assistant", "tool_calls": [CALL | fields]}]}


def allowed(mode: str, *names: str) -> dict[str, Any]:
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}


def with_file(kind: str, data: bytes) -> dict[str, Any]:
    url = f"data:{kind};base64,{b64encode(data).decode()}"
    part = {"type": "file", "file": {"filename": "notes.txt", "file_data": url}}
    return {"messages": [{"role": "user", "content": [part, {"type": "text", "text": "Read."}]}]}


IN_FILE = "messages[0].content[0]"
BAD_NAMES = ["", " ", "get weather", "a.b", "a/b", "a\n", "naïve", "天气", "a" * 65, "a\u200bb", "-\u202e-", "a:b"]
IN_CALL = "messages[0].tool_calls[0]"


@every(
    "fields, param",
    [
        *((named(name), NAME) for name in BAD_NAMES),
        *((in_history(function={"name": name}), f"{IN_CALL}.function.name") for name in BAD_NAMES),
        (in_history(id=""), IN_CALL),
        (in_history(type="tool"), f"{IN_CALL}.type"),
        (of_tool(description=3), "tools[0].function.description"),
        (of_tool(strict="yes"), "tools[0].function.strict"),
        (of_tool(parameters={"type": "array"}), "tools"),
        (of_tool(parameters={"type": ["object"]}), "tools[0].function.parameters"),
        (of_tool(parameters={"properties": []}), "tools[0].function.parameters"),
        (of_tool(parameters={"required": "a"}), "tools[0].function.parameters"),
        (of_tool() | {"tool_choice": {"type": "tool", "function": {"name": "add"}}}, "tool_choice"),
        ({"response_format": {}}, "response_format"),
        ({"response_format": {"type": "xml"}}, "response_format"),
        ({"response_format": {"type": "json_schema", "json_schema": []}}, "response_format"),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema"),
        ({"logprobs": "yes"}, "logprobs"),
        ({"top_logprobs": -1}, "top_logprobs"),
        ({"metadata": "a"}, "metadata"),
        ({"tools": [TOOL], "tool_choice": {"type": "allowed_tools"}}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": allowed("none", "add")}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": allowed("required", "sub")}, "tool_choice"),
        (with_file("application/pdf", b"%PDF"), f"{IN_FILE}"),
        (with_file("text/plain", b"\xff"), f"{IN_FILE}"),
        ({"messages": [{"role": "user", "content": [{"type": "file", "file": {"file_id": "f"}}]}]}, IN_FILE),
    ],
)
def test_what_hosted_servers_refuse_is_refused_here(fields: dict[str, Any], param: str) -> None:  # G7
    with pytest.raises(InvalidField) as wrong:
        asked(**fields)
    assert wrong.value.param == param


@pytest.mark.parametrize("name", ["a", "get_weather", "get-weather", "_", "9", "A" * 64])
def test_names_that_hosted_servers_take_are_taken(name: str) -> None:  # G7
    assert [tool.name for tool in asked(**named(name)).tools] == [name]


def test_a_wrong_field_is_explained_in_words() -> None:
    with pytest.raises(
        InvalidField, match=r"^`tools\[0\].function.name` must be a name of 1 to 64 letters \(a-z, A-Z\)"
    ):
        asked(**named("get weather"))
    with pytest.raises(InvalidField, match=r"^`temperature` must be a number from 0 to 2.$"):
        asked(temperature=3)
    with pytest.raises(
        InvalidField, match=r"^`messages\[1\].role` must be one of system, developer, user, assistant, tool.$"
    ):
        asked(messages=[HELLO, {"role": "function"}])


@every("body", [b"", b"{", b"[]", b'"text"', b"3", b"null", b'{"model": NaN}', b"\xff"])
def test_a_body_that_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidField) as wrong:
        read(body)
    assert wrong.value.param == ""


def test_a_body_that_can_be_read_in_two_ways_is_refused() -> None:
    body = b'{"model": "m", "messages": [{"role": "user", "content": "Hello", "content": "Bye"}]}'
    with pytest.raises(InvalidField, match="'content' stands there twice"):
        read(body)


def test_a_number_of_a_tool_may_be_larger_than_64_bits() -> None:
    tool = {"function": {"name": "add", "parameters": {"maximum": 18446744073709552000}}}
    body = json.dumps({"model": "m", "messages": [HELLO], "tools": [tool]}).encode()
    limit = read(body).tools[0].parameters["maximum"]
    assert limit == 2.0**64 and orjson.loads(orjson.dumps(limit)) == limit


def test_null_is_as_good_as_nothing() -> None:
    names = [name for name in QUESTION["properties"] if name not in ("model", "messages")]
    assert asked(**dict.fromkeys(names)) == asked()


def test_what_has_no_word_here_is_left_unread() -> None:  # G1
    assert asked(user="me", logprobs=False, metadata={"a": 1}, base_url="http://other", api_key="k") == asked()


def test_a_whole_number_is_sent_on_as_one() -> None:
    assert orjson.dumps(asked(max_tokens=5.0, seed=-7.0, temperature=1.0).options) == (
        b'{"temperature":1.0,"num_predict":5,"seed":-7}'
    )


def test_options_get_our_words() -> None:
    given = asked(max_completion_tokens=5, stop="END", temperature=0, top_p=None, seed=7).options
    assert given == {"num_predict": 5, "stop": ["END"], "temperature": 0, "seed": 7}


def test_a_named_tool_is_the_only_one() -> None:  # G3
    choice = {"type": "function", "function": {"name": "other"}}
    named = asked(tools=[TOOL, OTHER], tool_choice=choice)
    assert ([tool.name for tool in named.tools], named.choice) == (["other"], "required")


@pytest.mark.parametrize(("mode", "choice"), [("auto", "auto"), ("required", "required")])
def test_allowed_tools_are_the_only_ones(mode: str, choice: str) -> None:
    found = asked(tools=[TOOL, OTHER], tool_choice=allowed(mode, "other"))
    assert ([tool.name for tool in found.tools], found.choice) == (["other"], choice)


@pytest.mark.parametrize("kind", ["text/plain", "text/markdown;charset=utf-8", "application/json"])
def test_a_file_of_text_is_read(kind: str) -> None:
    [message] = asked(**with_file(kind, "naïve".encode())).log
    assert message.content == "notes.txt:\nnaïve\n\nRead."


def test_the_earlier_field_for_tools_is_named_as_left_out() -> None:
    assert asked(functions=[{"name": "add"}], function_call="auto").skipped == ("functions",)


def test_an_image_may_have_parameters() -> None:
    url = f"data:image/PNG;charset=utf-8;base64,{b64encode(b'x').decode()}"
    [message] = asked(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]).log
    assert message.images == (b"x",)


def test_the_messages_become_our_log() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    odd = {"id": "c2", "type": "function", "function": {"name": "add", "arguments": "{broken"}}
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{b64encode(b'PNG').decode()}"}}
    log = asked(
        messages=[
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Look"}, picture]},
            {"role": "assistant", "content": None, "tool_calls": [call, odd]},
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "1"}]},
        ]
    ).log
    assert [message.role for message in log] == [Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL]
    assert (log[1].content, log[1].images) == ("Look", (b"PNG",))
    assert [made.arguments for made in log[2].calls] == [{"a": 1}, {"arguments": "{broken"}]
    assert (log[3].call_id, log[3].content) == ("c1", "1")


@every(
    "fields, text",
    [
        ({"content": None, "refusal": "I cannot help."}, "I cannot help."),
        ({"refusal": "I cannot help."}, "I cannot help."),
        ({"content": "", "refusal": "I cannot help."}, "I cannot help."),
        ({"content": "Yes.", "refusal": None}, "Yes."),
        ({"content": "I cannot", "refusal": "I cannot help."}, "I cannot"),
        ({"content": [{"type": "refusal", "refusal": "No."}], "refusal": None}, "No."),
    ],
)
def test_a_refusal_beside_the_content_stays_in_the_conversation(fields: dict[str, Any], text: str) -> None:
    # Programs send the message back as OpenAI wrote it, when they change the model.
    [_, answer, _] = asked(messages=[HELLO, {"role": "assistant", **fields}, HELLO]).log
    assert answer.content == text


def test_custom_tools_are_read_in_a_choice_and_in_earlier_calls() -> None:
    custom = {"id": "c1", "type": "custom", "custom": {"name": "patch", "input": "***"}}
    allowed = {"mode": "auto", "tools": [{"type": "custom", "custom": {"name": "patch"}}, {"type": "function"} | OTHER]}
    found = asked(
        messages=[HELLO, {"role": "assistant", "tool_calls": [custom]}, {"role": "tool", "tool_call_id": "c1"}],
        tools=[TOOL, OTHER, {"type": "custom", "custom": {"name": "patch"}}],
        tool_choice={"type": "allowed_tools", "allowed_tools": allowed},
    )
    assert ([tool.name for tool in found.tools], found.choice, found.skipped) == (["other", "patch"], "auto", ())
    assert [(call.name, call.arguments) for call in found.log[1].calls] == [("patch", {"input": "***"})]


@every("made", [{"type": "custom"}, {"type": "custom", "custom": {}}, {"type": "custom", "custom": {"name": "a"}}])
def test_a_wrong_custom_call_is_refused(made: dict[str, Any]) -> None:
    with pytest.raises(InvalidField) as wrong:
        asked(messages=[{"role": "assistant", "tool_calls": [{"id": "c1"} | made]}])
    assert wrong.value.param.startswith("messages[0].tool_calls[0].custom")


def test_a_refusal_is_a_text() -> None:
    with pytest.raises(InvalidField) as wrong:
        asked(messages=[{"role": "assistant", "refusal": {"text": "No."}}])
    assert wrong.value.param == "messages[0].refusal"


@pytest.mark.parametrize("url", ["https://example.org/a.png", "file:///etc/passwd", "data:text/html;base64,AA==", "x"])
def test_an_image_is_never_fetched(url: str) -> None:  # SAFETY (Gateway)
    with pytest.raises(InvalidField, match="data URL"):
        asked(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}])


@every(
    "kind",
    ["web_search", "computer_use_preview", "mcp", "local_shell", "retrieval", "天气", "x" * 300],
)
def test_tools_of_hosted_services_are_left_out_and_named(kind: str) -> None:
    # Clients send them beside their own tools: an error would end their work.
    found = asked(tools=[{"type": kind, kind: {"name": "a"}}, TOOL, {"type": kind}])
    assert ([tool.name for tool in found.tools], found.skipped) == (["add"], (kind,))
