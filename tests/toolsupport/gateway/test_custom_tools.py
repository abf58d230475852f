"""Custom tools take one free text: models get them, and earlier calls of them, as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from tests.tables import every
from tests.toolsupport.gateway.conftest import LIST, PATH
from tests.toolsupport.gateway.test_namespaces import space
from toolsupport.core.types import ChatMessage, Role, ToolCall
from toolsupport.gateway import chat_request
from toolsupport.gateway.parsed_request import GatewayRequest, NamespacedName
from toolsupport.gateway.request_errors import InvalidField
from toolsupport.gateway.responses import request as responses_request

LARK = 'start: "*** Begin Patch" LF'
GRAMMAR = {"syntax": "lark", "definition": LARK}
FLAT = {"type": "custom", "name": "apply_patch", "description": "Edits."}
FLAT_GRAMMAR = FLAT | {"format": {"type": "grammar", **GRAMMAR}}
NESTED = {"type": "custom", "custom": {"name": "apply_patch", "description": "Edits."}}
NESTED_GRAMMAR = {
    "type": "custom",
    "custom": {**NESTED["custom"], "format": {"type": "grammar", "grammar": GRAMMAR}},  # type: ignore[dict-item]
}
FUNCTION = {"type": "function", "name": "list_directory", "parameters": PATH}
PATCH = '*** Begin Patch\n*** Add File: "ä" 😀\n+\\d\t{}\n*** End Patch\n'
ASKED: list[dict[str, Any]] = [{"role": "user", "content": "Change the file."}]


def asked_in_chat(**fields: Any) -> GatewayRequest:
    return chat_request.read(orjson.dumps({"model": "m", "messages": ASKED} | fields))


def asked_with_items(**fields: Any) -> GatewayRequest:
    return chat_request.read(orjson.dumps({"model": "m", "input": ASKED} | fields))


def asked_in_responses(**fields: Any) -> GatewayRequest:
    return responses_request.read(orjson.dumps({"model": "m", "input": ASKED} | fields))


ASK: dict[str, Callable[..., GatewayRequest]] = {
    "chat": asked_in_chat,
    "items in chat": asked_with_items,
    "responses": asked_in_responses,
}


@every(
    ("api", "tool", "words"),
    [
        ("chat", NESTED, ()),
        ("chat", NESTED_GRAMMAR, ("Lark grammar", LARK)),
        ("chat", FLAT, ()),
        ("chat", FLAT_GRAMMAR, ("Lark grammar", LARK)),
        ("items in chat", FLAT_GRAMMAR, ("Lark grammar", LARK)),
        ("responses", FLAT, ()),
        ("responses", FLAT | {"format": None}, ()),
        ("responses", FLAT | {"format": {"type": "text"}}, ()),
        ("responses", FLAT_GRAMMAR, ("Lark grammar", LARK)),
        (
            "responses",
            FLAT | {"format": {"type": "grammar", "syntax": "regex", "definition": r"^\d+$"}},
            ("regular expression", r"^\d+$"),
        ),
    ],
)
def test_a_custom_tool_is_offered_as_a_function_of_one_text(api: str, tool: Any, words: tuple[str, ...]) -> None:
    found = ASK[api](tools=[tool])
    [spec] = found.tools
    assert (spec.name, spec.description, found.custom) == ("apply_patch", "Edits.", frozenset({"apply_patch"}))
    assert list(spec.parameters["properties"]) == spec.parameters["required"] == ["input"]
    parameter = spec.parameters["properties"]["input"]
    assert parameter["type"] == "string" and all(word in parameter["description"] for word in words)
    # The grammar is not enforced, which is not hidden from the program.
    assert found.skipped == (("grammar",) if words else ())


def test_a_tool_of_the_messages_api_is_a_function_whatever_its_type() -> None:
    tool = {"type": "custom", "name": "list_directory"}
    for schema, needed in ((PATH, ["path"]), ({}, [])):
        found = asked_in_chat(tools=[tool | {"input_schema": schema, "function": {"name": "a"}, "parameters": 3}])
        assert ([one.parameters["required"] for one in found.tools], found.custom) == ([needed], frozenset())


@every(
    ("api", "tools", "place"),
    [
        ("chat", [{"type": "custom"}], "tools[0].custom"),
        ("chat", [{"type": "custom", "custom": {}}], "tools[0].custom.name"),
        ("chat", [{"type": "custom", "custom": {"name": "a b"}}], "tools[0].custom.name"),
        ("chat", [{"type": "custom", "custom": "a"}], "tools[0].custom"),
        ("chat", [{"type": "custom", "name": "a b"}], "tools[0].name"),
        ("chat", [{"type": "custom", "custom": {"name": "a", "format": "x"}}], "tools[0].custom.format"),
        ("chat", [{"type": "custom", "custom": {"name": "a", "format": {"type": "x"}}}], "tools[0].custom.format"),
        ("chat", [{"type": "custom", "custom": {"name": "a", "format": {"type": "grammar"}}}], "tools[0].custom"),
        ("chat", [FLAT | {"format": {"type": "grammar"}}], "tools[0].format"),
        ("chat", [NESTED, LIST, NESTED], "tools"),
        ("chat", [NESTED, {"type": "function", "function": {"name": "apply_patch"}}], "tools"),
        ("responses", [{"type": "custom"}], "tools[0].name"),
        ("responses", [FLAT | {"name": "a b"}], "tools[0].name"),
        ("responses", [FLAT | {"description": 3}], "tools[0].description"),
        ("responses", [FLAT | {"format": {"type": "grammar", "syntax": "lark"}}], "tools[0].format"),
        ("responses", [FLAT | {"format": {"type": "grammar", **GRAMMAR, "syntax": "bnf"}}], "tools[0].format"),
        ("responses", [FLAT | {"format": {"type": "grammar", **GRAMMAR, "definition": 3}}], "tools[0].format"),
        ("responses", [FLAT, FUNCTION | {"name": "apply_patch"}], "tools"),
        ("responses", [space("a", {"type": "custom"})], "tools[0].tools[0].name"),
        # As for other schemas, and named.
        ("responses", [FLAT | {"format": {"type": "grammar", **GRAMMAR, "definition": "x" * 200_000}}], "tools"),
        ("items in chat", [{"type": "custom"}], "tools[0].name"),
    ],
)
def test_a_wrong_custom_tool_is_named(api: str, tools: list[Any], place: str) -> None:
    with pytest.raises(InvalidField) as wrong:
        ASK[api](tools=tools)
    assert wrong.value.param.startswith(place) and str(wrong.value), wrong.value


NAMED, NAMED_FLAT = {"type": "custom", "custom": {"name": "apply_patch"}}, {"type": "custom", "name": "apply_patch"}


@every(
    ("api", "choice", "expected"),
    [
        ("chat", NAMED, ("required", ["apply_patch"])),
        ("chat", NAMED_FLAT, ("required", ["apply_patch"])),
        ("chat", NAMED | {"function": {"name": "list_directory"}}, ("required", ["apply_patch"])),
        ("chat", {"type": "function", "name": "list_directory", "function": {}}, ("required", ["list_directory"])),
        ("chat", {"type": "tool", "name": "list_directory", "tool": {}}, ("required", ["list_directory"])),
        ("chat", {"type": "auto", "function": 3}, ("auto", ["apply_patch", "list_directory"])),
        (
            "chat",
            {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [NAMED]}},
            ("auto", ["apply_patch"]),
        ),
        (
            "chat",
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [NAMED_FLAT]}},
            ("required", ["apply_patch"]),
        ),
        ("responses", NAMED_FLAT, ("required", ["apply_patch"])),
        ("items in chat", NAMED_FLAT, ("required", ["apply_patch"])),
        ("responses", {"type": "allowed_tools", "mode": "auto", "tools": [NAMED_FLAT]}, ("auto", ["apply_patch"])),
    ],
)
def test_a_choice_names_a_custom_tool(api: str, choice: Any, expected: tuple[str, list[str]]) -> None:
    tools = [NESTED, LIST] if api == "chat" else [FLAT, FUNCTION]
    found = ASK[api](tools=tools, tool_choice=choice)
    assert (found.choice, [tool.name for tool in found.tools]) == expected


def allowing(tool: Any) -> dict[str, Any]:
    return {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [tool]}}


WRONG_ALLOWED: list[Any] = [
    NAMED | {"custom": 3},
    NAMED_FLAT | {"name": []},
    NAMED_FLAT | {"type": "tool"},
    {"type": "custom"},
]


@every(
    ("api", "choice"),
    [
        ("chat", NAMED | {"custom": {"name": "other"}}),
        ("chat", {"type": "custom"}),
        ("chat", {"type": "custom", "custom": {}}),
        ("chat", {"type": "custom", "custom": 3}),
        ("chat", {"type": "custom", "name": 3}),
        ("chat", {"type": "function", "name": "other", "function": 3}),
        *(("chat", allowing(one)) for one in WRONG_ALLOWED),
        ("responses", NAMED_FLAT | {"name": "other"}),
        ("responses", {"type": "custom"}),
    ],
)
def test_a_choice_that_names_no_tool_is_refused(api: str, choice: Any) -> None:
    with pytest.raises(InvalidField) as wrong:
        ASK[api](tools=[NESTED] if api == "chat" else [FLAT], tool_choice=choice)
    assert wrong.value.param.startswith("tool_choice")


def test_a_custom_tool_of_a_namespace_has_a_flat_name() -> None:
    call = {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "namespace": "edit", "input": "x"}
    found = asked_in_responses(tools=[space("edit", FLAT)], input=[*ASKED, call])
    assert [tool.name for tool in found.tools] == ["edit__apply_patch"] and found.custom == {"edit__apply_patch"}
    assert found.namespaced == {"edit__apply_patch": NamespacedName("edit", "apply_patch")}
    assert found.log[1].calls == (ToolCall("c", "edit__apply_patch", {"input": "x"}),)


def test_an_earlier_call_and_its_result_are_those_of_the_function() -> None:
    made = {"id": "c", "type": "custom", "custom": {"name": "apply_patch", "input": PATCH}}
    messages = [
        *ASKED,
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": "c", "content": "Done"},
    ]
    items = [
        *ASKED,
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "apply_patch", "input": PATCH},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "Done"},
    ]
    expected = (
        ChatMessage(Role.ASSISTANT, "", calls=(ToolCall("c", "apply_patch", {"input": PATCH}),)),
        ChatMessage(Role.TOOL, "Done", call_id="c"),
    )
    assert asked_in_chat(tools=[NESTED], messages=messages).log[1:] == expected
    assert asked_in_responses(tools=[FLAT], input=items).log[1:] == expected
