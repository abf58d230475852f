"""What a program may send, and that a field that is wrong is named."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import orjson
import pytest

from toolsupport.core.types import Role
from toolsupport.gateway.chat_request import ChatCompletionRequest, read
from toolsupport.gateway.field_errors import InvalidField

HELLO = {"role": "user", "content": "Hello"}
TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
OTHER = {"type": "function", "function": {"name": "other"}}


def asked(**fields: Any) -> ChatCompletionRequest:
    return read(orjson.dumps({"model": "m", "messages": [HELLO]} | fields))


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"model": None}, "model"),
        ({"model": 3}, "model"),
        ({"messages": []}, "messages"),
        ({"messages": ["Hello"]}, "messages[0].role"),
        ({"messages": [HELLO, {"role": "function"}]}, "messages[1].role"),
        ({"messages": [{"role": "user", "content": 3}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "audio"}]}]}, "messages[0].content[0]"),
        ({"messages": [{"role": "tool", "content": "3"}]}, "messages[0].tool_call_id"),
        ({"messages": [{"role": "assistant", "tool_calls": [{}]}]}, "messages[0].tool_calls[0]"),
        ({"n": 2}, "n"),
        ({"stream": "yes"}, "stream"),
        ({"stream_options": []}, "stream_options"),
        ({"temperature": 3}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"seed": 1.5}, "seed"),
        ({"stop": ["a", 1]}, "stop"),
        ({"parallel_tool_calls": 1}, "parallel_tool_calls"),
        ({"tools": {}}, "tools"),
        ({"tools": [TOOL, TOOL]}, "tools"),
        ({"tools": [{"type": "web_search"}]}, "tools[0]"),
        ({"tools": [{"type": "function", "function": {}}]}, "tools[0]"),
        ({"tools": [TOOL], "tool_choice": "any"}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "sub"}}}, "tool_choice"),
        ({"tool_choice": "required"}, "tool_choice"),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, Any], param: str) -> None:  # G4
    with pytest.raises(InvalidField) as wrong:
        asked(**fields)
    assert wrong.value.param == param


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"text"', b'{"model": NaN}', b"\xff"])
def test_a_body_that_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidField):
        read(body)


def test_what_has_no_word_here_is_left_unread() -> None:  # G1
    assert asked(user="me", logprobs=False, metadata={"a": 1}, base_url="http://other", api_key="k") == asked()


def test_options_get_our_words() -> None:
    given = asked(max_completion_tokens=5, stop="END", temperature=0, top_p=None, seed=7).options
    assert given == {"num_predict": 5, "stop": ["END"], "temperature": 0, "seed": 7}


def test_a_named_tool_is_the_only_one() -> None:  # G3
    choice = {"type": "function", "function": {"name": "other"}}
    named = asked(tools=[TOOL, OTHER], tool_choice=choice)
    assert ([tool.name for tool in named.tools], named.choice) == (["other"], "required")


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


@pytest.mark.parametrize("url", ["https://example.org/a.png", "file:///etc/passwd", "data:text/html;base64,AA==", "x"])
def test_an_image_is_never_fetched(url: str) -> None:  # SAFETY (Gateway)
    with pytest.raises(InvalidField, match="data URL"):
        asked(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}])
