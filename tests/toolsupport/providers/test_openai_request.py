"""The body of a request to an OpenAI-compatible server, field by field and kind by kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from tests.tables import every
from toolsupport.core.errors import ToolsupportError
from toolsupport.core.types import JSON, ChatMessage, Request, Role, Signature, ToolCall, ToolSpec
from toolsupport.providers import PROVIDERS, codec

TOOL = ToolSpec("f", "Does f.")
KINDS = [kind for kind, row in PROVIDERS.items() if row.wire == "openai"]
CHOSEN = {"tool_choice": "any", "parallel_tool_calls": False}


def body(request: Request, kind: str = "openai") -> JSON:
    return orjson.loads(codec(kind).encode(request))


def messages(*given: ChatMessage, kind: str = "openai") -> list[JSON]:
    return body(Request("m", given), kind)["messages"]


def with_tools(options: JSON, kind: str) -> JSON:
    return body(Request("m", (), (TOOL,), options=options, supports_tools=True), kind)


def test_what_is_not_set_is_not_sent() -> None:
    plain = {"model": "m", "messages": [], "stream": True, "stream_options": {"include_usage": True}}
    assert body(Request("m", (), supports_tools=True)) == plain
    assert body(Request("m", (), keep_alive="5m", think=True)) == plain
    assert body(Request("m", (), stream=False)) == {"model": "m", "messages": [], "stream": False}


@every("kind", KINDS)
def test_no_server_is_sent_what_only_ollama_knows(kind: str) -> None:  # F8
    options = {"num_ctx": 8192, "temperature": 0.3, "num_predict": -1, "mirostat": 2}
    sent = body(Request("m", (), options=options, keep_alive="5m"), kind)
    assert set(sent) <= {"model", "messages", "stream", "stream_options", "temperature"}
    assert sent["temperature"] == 0.3


def test_sampling_options() -> None:
    options = {"temperature": 0, "top_p": 0.9, "seed": 7, "stop": ["x"], "num_predict": 50}
    sent = body(Request("m", (), options=options))
    assert {name: sent[name] for name in ("temperature", "top_p", "seed", "stop", "max_tokens")} == {
        "temperature": 0,
        "top_p": 0.9,
        "seed": 7,
        "stop": ["x"],
        "max_tokens": 50,
    }


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [("openai.com", "max_completion_tokens", 50), ("mistral", "random_seed", 7), ("groq", "max_tokens", 50)],
)
def test_options_that_are_called_otherwise(kind: str, name: str, value: int) -> None:
    assert body(Request("m", (), options={"max_tokens": 50, "seed": 7}), kind)[name] == value


@pytest.mark.parametrize(("kind", "sent"), [("vllm", True), ("llamacpp", True), ("openai.com", False), ("groq", False)])
def test_top_k_goes_to_local_servers(kind: str, sent: bool) -> None:
    assert ("top_k" in body(Request("m", (), options={"top_k": 5}), kind)) is sent


@pytest.mark.parametrize(("model", "sent"), [("gpt-4.1", True), ("gpt-5-mini", False), ("o3", False), ("opal", True)])
def test_a_model_that_wants_its_own_temperature(model: str, sent: bool) -> None:
    assert ("temperature" in body(Request(model, (), options={"temperature": 0.3}), "openai.com")) is sent


def test_a_strict_server_is_not_asked_for_its_counts() -> None:
    assert "stream_options" not in body(Request("m", ()), "mistral")


def test_each_kind_of_message() -> None:
    call = ToolCall("abcDEF123", "f", {"a": {"b": ["é"]}})
    assert messages(
        ChatMessage(Role.SYSTEM, "s"),
        ChatMessage(Role.USER, "u"),
        ChatMessage(Role.ASSISTANT, "", "hm", (call, ToolCall("abcDEF124", "g", {}))),
        ChatMessage(Role.TOOL, "r", call_id="abcDEF123", name="f"),
        ChatMessage(Role.ASSISTANT, "a"),
    ) == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "abcDEF123", "type": "function", "function": {"name": "f", "arguments": '{"a":{"b":["é"]}}'}},
                {"id": "abcDEF124", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "content": "r", "tool_call_id": "abcDEF123"},
        {"role": "assistant", "content": "a"},
    ]


@pytest.mark.parametrize(
    ("image", "media"),
    [(b"\x89PNG", "png"), (b"\xff\xd8\xff", "jpeg"), (b"GIF89a", "gif"), (b"RIFF", "webp"), (b"?", "png")],
)
def test_images_are_data_urls(image: bytes, media: str) -> None:
    [sent] = messages(ChatMessage(Role.USER, "Look", images=(image,)))
    text, shown = sent["content"]
    assert text == {"type": "text", "text": "Look"}
    assert shown["image_url"]["url"].startswith(f"data:image/{media};base64,")


@pytest.mark.parametrize(("kind", "field"), [("llamacpp", "reasoning_content"), ("openrouter", "reasoning")])
def test_thoughts_are_sent_back_where_they_are_wanted(kind: str, field: str) -> None:
    [sent] = messages(ChatMessage(Role.ASSISTANT, "a", "hm"), kind=kind)
    assert sent == {"role": "assistant", "content": "a", field: "hm"}


def test_vllm_gets_thoughts_in_the_fields_of_all_its_versions() -> None:
    [sent] = messages(ChatMessage(Role.ASSISTANT, "a", "hm"), kind="vllm")
    assert sent == {"role": "assistant", "content": "a", "reasoning_content": "hm", "reasoning": "hm"}
    assert messages(ChatMessage(Role.ASSISTANT, "a"), kind="vllm") == [{"role": "assistant", "content": "a"}]


def test_mistral_continues_an_answer_at_the_end() -> None:
    asked, begun = ChatMessage(Role.USER, "As JSON."), ChatMessage(Role.ASSISTANT, "{")
    assert messages(asked, begun, kind="mistral")[-1] == {"role": "assistant", "content": "{", "prefix": True}
    assert not any("prefix" in one for one in messages(asked, begun, asked, kind="mistral"))
    assert messages(asked, begun)[-1] == {"role": "assistant", "content": "{"}


def test_no_message_of_deepseeks_history_is_without_thoughts() -> None:
    call = ToolCall("1", "f", {})
    history = (ChatMessage(Role.ASSISTANT, "a"), ChatMessage(Role.ASSISTANT, "", calls=(call,)))
    sent = messages(*history, ChatMessage(Role.ASSISTANT, "b", "hm"), ChatMessage(Role.USER, "c"), kind="deepseek")
    assert [message.get("reasoning_content") for message in sent] == [" ", " ", "hm", None]
    assert all("reasoning_content" not in message for message in messages(*history, kind="llamacpp"))


@pytest.mark.parametrize("kind", ["openai", "mistral", "openai.com"])
def test_thoughts_are_not_sent_where_they_would_be_refused(kind: str) -> None:
    sent = messages(ChatMessage(Role.ASSISTANT, "a", "hm"), ChatMessage(Role.USER, "b"), kind=kind)
    assert sent == [{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}]


@every(
    ("kind", "think", "sent"),
    [
        ("llamacpp", False, {"chat_template_kwargs": {"enable_thinking": False}}),
        ("vllm", "low", {"chat_template_kwargs": {"reasoning_effort": "low"}}),
        ("openai.com", "high", {"reasoning_effort": "high"}),
        ("groq", False, {"reasoning_effort": "none"}),
        ("openai.com", True, {"reasoning_effort": "medium"}),
        ("openrouter", True, {"reasoning": {"enabled": True}}),
        ("openrouter", "low", {"reasoning": {"effort": "low"}}),
        ("lmstudio", True, {}),
        ("mistral", False, {}),
    ],
)
def test_thinking_in_the_words_of_the_server(kind: str, think: bool | str, sent: JSON) -> None:
    plain = body(Request("m", ()), kind)
    assert body(Request("m", (), think=think), kind) == plain | sent


@pytest.mark.parametrize(
    ("kind", "sent"),
    [
        ("openai", {}),
        ("llamacpp", {}),
        ("deepseek", {}),
        ("sglang", {"tool_choice": "required"}),
        ("vllm", {"tool_choice": "required", "parallel_tool_calls": False}),
    ],
)
def test_choices_go_only_where_they_are_honoured(kind: str, sent: JSON) -> None:  # F6
    assert with_tools(CHOSEN, kind) == with_tools({}, kind) | sent


@pytest.mark.parametrize("choice", [{"type": "function", "function": {"name": "f"}}, "none", "f", None, ["f"]])
def test_no_other_choice_is_ever_sent(choice: Any) -> None:
    assert all("tool_choice" not in with_tools({"tool_choice": choice}, kind) for kind in KINDS)


def test_choices_are_nothing_without_tools() -> None:
    assert "tool_choice" not in body(Request("m", (), options=CHOSEN), "vllm")


def test_a_result_keeps_the_id_of_its_call() -> None:
    call = ToolCall("call_00000000", "f", {})
    asked, result = messages(ChatMessage(Role.ASSISTANT, calls=(call,)), ChatMessage(Role.TOOL, "r", call_id=call.id))
    assert asked["tool_calls"][0]["id"] == result["tool_call_id"]


@pytest.mark.parametrize("supports", [None, False])
def test_tools_without_a_permit(supports: bool | None) -> None:
    with pytest.raises(ToolsupportError, match="not known to support"):
        codec("openai").encode(Request("m", (), (TOOL,), supports_tools=supports))


def test_a_notice_never_reaches_a_model() -> None:
    with pytest.raises(ToolsupportError, match="for people"):
        messages(ChatMessage(Role.NOTICE, "Switched to m."))


def test_half_a_character_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be written as JSON"):
        messages(ChatMessage(Role.USER, "\ud800"))


# model of Gemini's service → the extra content of the calls in its history
SIGNED = {
    "gemini-3-pro-preview": True,
    "models/gemini-3.1-flash": True,
    "gemini-flash-latest": True,
    "gemini-2.5-flash": False,
    "gemini-1.5-pro": False,
    "gemma-3-27b-it": False,
}


@every("model", SIGNED)
def test_calls_that_gemini_did_not_sign_are_marked(model: str) -> None:
    calls = (ToolCall("1", "f", {}), ToolCall("2", "f", {}))
    history = (ChatMessage(Role.USER, "Hi"), ChatMessage(Role.ASSISTANT, "", calls=calls))
    first, second = body(Request(model, history), "gemini")["messages"][1]["tool_calls"]
    mark = {"google": {"thought_signature": "skip_thought_signature_validator"}}
    assert first.get("extra_content") == (mark if SIGNED[model] else None) and "extra_content" not in second
    assert "extra_content" not in str(body(Request(model, history))), "only there"
    signed = tuple(replace(call, signature=Signature(model, "c2ln")) for call in calls)
    sent = body(Request(model, (history[0], replace(history[1], calls=signed))), "gemini")["messages"][1]["tool_calls"]
    own = {"google": {"thought_signature": "c2ln"}} if SIGNED[model] else None
    assert [call.get("extra_content") for call in sent] == [own, own]
    for other in (Signature("another", "c2ln"), Signature(model, "c2ln", account="another server")):
        foreign = replace(history[1], calls=tuple(replace(call, signature=other) for call in calls))
        sent = body(Request(model, (history[0], foreign)), "gemini")["messages"][1]["tool_calls"]
        assert [call.get("extra_content") for call in sent] == [mark if SIGNED[model] else None, None]


# model of OpenRouter → whether calls without encrypted reasoning get placeholders
ROUTED = {
    "google/gemini-3-pro-preview": True,
    "google/gemini-3.1-flash": True,
    "google/gemini-2.5-flash": False,
    "anthropic/claude-sonnet-4.6": False,
}
THOUGHT = {"type": "reasoning.text", "text": "Hm.", "index": 0}
SEALED = {"type": "reasoning.encrypted", "data": "x", "id": "1", "index": 1}


@every("model", ROUTED)
def test_blocks_of_reasoning_go_back_to_their_model(model: str) -> None:
    def sent(blocks: tuple[JSON, ...], writer: str = model, account: str = "") -> JSON:
        call = ToolCall("1", "f", {}, signature=Signature(writer, blocks=blocks, account=account))
        history = (ChatMessage(Role.USER, "Hi"), ChatMessage(Role.ASSISTANT, "", "Hm.", (call, ToolCall("2", "f", {}))))
        found: JSON = body(Request(model, history), "openrouter")["messages"][1]
        return found

    assert sent((THOUGHT, SEALED))["reasoning_details"] == [THOUGHT, SEALED]
    assert "reasoning" not in sent((THOUGHT, SEALED)), "the blocks hold it"
    marks: list[JSON] = [
        {"type": "reasoning.encrypted", "format": "google-gemini-v1", "data": "skip_thought_signature_validator"}
        | {"id": name, "index": place}
        for place, name in enumerate("12")
    ]
    for foreign in (sent((THOUGHT, SEALED), "another"), sent((THOUGHT, SEALED), account="another server")):
        assert foreign.get("reasoning_details") == (marks if ROUTED[model] else None)
        assert foreign.get("reasoning") == (None if ROUTED[model] else "Hm.")
    without = sent((THOUGHT,))["reasoning_details"]
    assert without == [THOUGHT, *({**mark, "index": mark["index"] + 1} for mark in marks if ROUTED[model])]
