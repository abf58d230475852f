"""The body of a request to Ollama, field by field."""

from __future__ import annotations

import orjson
import pytest

from toolsupport.core.errors import ToolsupportError
from toolsupport.core.types import JSON, ChatMessage, Permit, Request, Role, ToolCall, ToolSpec
from toolsupport.providers import codec

TOOL = ToolSpec("f", "Does f.")


def body(request: Request) -> JSON:
    return orjson.loads(codec("ollama").encode(request))


def messages(*given: ChatMessage) -> list[JSON]:
    return body(Request("m", given))["messages"]


def test_what_is_not_set_is_not_sent() -> None:
    assert body(Request("m", ())) == {"model": "m", "messages": [], "stream": True}
    assert body(Request("m", (), supports_tools=True)) == {"model": "m", "messages": [], "stream": True}


@pytest.mark.parametrize("think", [True, False, "low"])
def test_thinking_is_sent_where_it_was_set(think: bool | str) -> None:
    assert body(Request("m", (), think=think))["think"] == think


@pytest.mark.parametrize(("given", "sent"), [("5m", "5m"), ("-1", -1), ("0", 0), ("300", 300), ("1h30m", "1h30m")])
def test_keep_alive(given: str, sent: str | int) -> None:
    assert body(Request("m", (), keep_alive=given))["keep_alive"] == sent


def test_options_and_stream() -> None:
    sent = body(Request("m", (), options={"num_ctx": 8192}, stream=False))
    assert (sent["options"], sent["stream"]) == ({"num_ctx": 8192}, False)


def test_each_kind_of_message() -> None:
    call = ToolCall("call_1", "f", {"a": {"b": [1]}})
    assert messages(
        ChatMessage(Role.SYSTEM, "s"),
        ChatMessage(Role.USER, "u", images=(b"\x89PNG",)),
        ChatMessage(Role.ASSISTANT, "", "hm", (call,)),
        ChatMessage(Role.TOOL, "r", call_id="call_1", name="f"),
        ChatMessage(Role.ASSISTANT, "a"),
    ) == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u", "images": ["iVBORw=="]},
        {
            "role": "assistant",
            "content": "",
            "thinking": "hm",
            "tool_calls": [{"id": "call_1", "function": {"name": "f", "arguments": {"a": {"b": [1]}}}}],
        },
        {"role": "tool", "content": "r", "tool_name": "f", "tool_call_id": "call_1"},
        {"role": "assistant", "content": "a"},
    ]


@pytest.mark.parametrize("allowed", [{"supports_tools": True}, {"permit": Permit.PROBE}])
def test_tools_with_a_permit(allowed: dict) -> None:
    assert body(Request("m", (), (TOOL,), **allowed))["tools"] == [TOOL.to_openai()]


@pytest.mark.parametrize("supports", [None, False])
def test_tools_without_a_permit(supports: bool | None) -> None:
    with pytest.raises(ToolsupportError, match="not known to support"):
        codec("ollama").encode(Request("m", (), (TOOL,), supports_tools=supports))


def test_a_notice_never_reaches_a_model() -> None:
    with pytest.raises(ToolsupportError, match="for people"):
        messages(ChatMessage(Role.NOTICE, "Switched to m."))


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
def test_half_a_character_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="cannot be written as JSON"):
        messages(ChatMessage(Role.USER, text))


def test_choices_for_which_there_is_no_word_are_not_sent() -> None:  # F6
    choices = {"tool_choice": "required", "parallel_tool_calls": True}
    assert body(Request("m", (), options=choices | {"num_ctx": 1}))["options"] == {"num_ctx": 1}
    assert "options" not in body(Request("m", (), options=choices))


@pytest.mark.parametrize(
    ("wanted", "sent"),
    [
        ({"type": "json_object"}, "json"),
        ({"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "array"}}}, {"type": "array"}),
        ({"type": "text"}, None),
    ],
)
def test_a_response_format_is_no_option(wanted: dict, sent: object) -> None:  # G1
    asked = Request("m", (ChatMessage(Role.USER, "Hi"),), options={"response_format": wanted})
    body = orjson.loads(codec("ollama").encode(asked))
    assert (body.get("format"), "options" in body) == (sent, False)
