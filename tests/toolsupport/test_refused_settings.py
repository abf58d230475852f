"""A setting that a server refuses is left out, and stays out for an hour."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import orjson
import pytest

from tests.tables import every
from tests.toolsupport.test_exchange import HI, QUESTION, SERVER, TOOLS, ask, recorder, request_spec  # noqa: F401
from toolsupport import providers, refused_settings
from toolsupport.core.events import Event, Failed, SettingsLeftOut
from toolsupport.core.types import ChatMessage, Permit, Request, Role, ToolCall
from toolsupport.refused_settings import refused_fields

AZURE = replace(SERVER, kind="openai")
TOKENS = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
HEAT = "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is supported."
EXTRA = {"loc": ["body", "stream_options", "include_usage"], "msg": "Extra inputs are not permitted"}


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refused_settings, "_refused", {})


def no(words: str, status: int = 400) -> Failed:
    return Failed("refused", "No.", status, json.dumps({"error": {"message": words}}))


# the server's words → the field that is left out
WORDS = {
    TOKENS: "max_tokens",
    HEAT: "temperature",
    f"litellm.BadRequestError: AzureException BadRequestError - {TOKENS}. Received Model Group=m": "max_tokens",
    "litellm.UnsupportedParamsError: gpt-5 models (including gpt-5-codex) don't support temperature=0.7. Only "
    "temperature=1 is supported. To drop unsupported params set `litellm.drop_params = True`": "temperature",
    "litellm.UnsupportedParamsError: m does not support parameters: ['seed'], for model=m.": "seed",
    "Unrecognized request argument supplied: stream_options": "stream_options",
    "Unknown parameter: 'stream_options'.": "stream_options",
    "Argument not supported: stream_options": "stream_options",
    "Validation error at #/stream_options: Extra inputs are not permitted": "stream_options",
    "Argument not supported on this model: presencePenalty": "presence_penalty",
    'Invalid JSON payload received. Unknown name "seed": Cannot find field.': "seed",
    "`temperature` and `top_p` cannot both be specified for this model. Please use only one.": "top_p",
    "`temperature` is deprecated for this model.": "temperature",
    "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. Please use "
    "/v1/responses instead.": "reasoning_effort",
    "Function tools with reasoning_effort are not supported for gpt-5.6-terra in /v1/chat/completions. To use function "
    "tools, use /v1/responses or set reasoning_effort to 'none'.": "reasoning_effort",
    "Unsupported value: 'reasoning_effort' does not support 'none' with this model.": "",
    "The `reasoning_content` in the thinking mode must be passed back to the API.": "thoughts",
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2": "thoughts",
    "Missing `reasoning_content` field in the assistant message at message index 1.": "thoughts",
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, "
    "and missing thought_signature may lead to degraded model performance.": "signatures",
    "Corrupted thought signature.": "signatures",
    "Unable to submit request because Thought signature is not valid": "signatures",
    # The words of the server may be behind many of a proxy.
    f"{'Read our manual. ' * 60}Function call is missing a thought_signature in functionCall parts.": "signatures",
    "Invalid `thought_signature` in the request.": "signatures",
    "Unable to submit request because function call `x` in the 2. content block is missing a `thought_signature`.": (
        "signatures"
    ),
    "Unsupported parameter: 'stop' is not supported with this model.": "",
    "max_tokens is too large: 5000. This model supports at most 4096 completion tokens.": "",
    "'max_tokens' or 'max_completion_tokens' is too large: 5000 (5000 > 4096 - 30).": "",
    "Invalid value for temperature: 3. It must be at most 2.": "",
    "This model does not support tools.": "",
    "The image is not supported. Set a seed.": "",
    "tools.0.function.parameters.properties.temperature: unsupported type 'float'": "",
    "('body', 'tools', 0, 'properties', 'temperature'): extra inputs are not permitted": "",
    "The model bytedance-seed/seed-oss-36b is not available.": "",
}


@every("words", WORDS)
def test_the_refused_field(words: str) -> None:
    assert (*refused_fields(no(words)), "")[0] == WORDS[words]
    assert refused_fields(no(words, 500)) == []


def test_a_field_in_a_validators_place() -> None:
    assert refused_fields(Failed("refused", "No.", 422, json.dumps({"detail": [EXTRA]}))) == ["stream_options"]
    spelled = EXTRA | {"loc": ["body", "messages", 0, "name"]}
    assert refused_fields(Failed("refused", "No.", 422, json.dumps({"detail": [spelled]}))) == []
    assert refused_fields(HI[0]) == []


@pytest.mark.asyncio
@pytest.mark.parametrize("permit", Permit)
async def test_the_request_is_repeated_without_it(recorder, permit: Permit) -> None:  # noqa: F811
    made = recorder([[no(TOKENS)]], [[no(HEAT)]], [HI], [HI])
    asked = request_spec(permit=permit, options={"num_predict": 50, "temperature": 0.0, "stop": ["x"]})
    assert (await ask(AZURE, asked))[-1] == HI[-1]
    assert (await ask(AZURE, asked))[-1] == HI[-1]
    assert (await ask(AZURE, replace(asked, model="other")))[-1] == HI[-1]
    found = [request.left_out for request in made.requests]
    both = {"max_tokens", "temperature"}
    assert found == [set(), {"max_tokens"}, both, both, set()]


@pytest.mark.asyncio
async def test_of_several_refused_settings_one_that_was_sent_is_left_out(recorder) -> None:  # noqa: F811
    made = recorder([[no("temperature and top_p are not supported with this model")]], [HI])
    assert (await ask(AZURE, request_spec(options={"temperature": 0.5})))[-1] == HI[-1]
    assert [request.left_out for request in made.requests] == [set(), {"temperature"}]


@pytest.mark.asyncio
async def test_a_setting_that_another_excludes_is_left_out_once(recorder) -> None:  # noqa: F811
    made = recorder([[no("`temperature` and `top_p` cannot both be specified for this model.")]], [HI], [HI])
    await ask(AZURE, request_spec(options={"temperature": 0.5, "top_p": 0.5}))
    await ask(AZURE, request_spec(options={"top_p": 0.5}))
    assert [request.left_out for request in made.requests] == [set(), {"top_p"}, set()]


@pytest.mark.asyncio
async def test_what_did_not_help_is_not_remembered(recorder) -> None:  # noqa: F811
    made = recorder([[no(HEAT)]], [[no(HEAT)]], [HI])
    asked = request_spec(options={"temperature": 0.5})
    last: Event = (await ask(AZURE, asked))[-1]
    assert isinstance(last, Failed) and last.status == 400
    await ask(AZURE, asked)
    assert [request.left_out for request in made.requests] == [set(), {"temperature"}, set()]


@pytest.mark.asyncio
async def test_an_event_before_the_reply_names_what_was_chosen(recorder) -> None:  # noqa: F811
    recorder([[no(TOKENS)]], [[no(HEAT)]], [HI], [HI])
    asked = request_spec(options={"num_predict": 50, "temperature": 0.0})
    named = SettingsLeftOut(("temperature",), HEAT)
    assert [event for event in await ask(AZURE, asked) if isinstance(event, SettingsLeftOut)] == [named]
    assert (await ask(AZURE, asked))[0] == named
    assert not isinstance((await ask(AZURE, replace(asked, options={"num_predict": 50})))[0], SettingsLeftOut)


# (what is asked, the error) → what the event names
NAMED: dict[str, tuple[dict[str, Any], str, tuple[str, ...]]] = {
    "thinking": ({"think": True}, "m does not support thinking", ("think",)),
    "thinking off": ({"think": False}, "Reasoning is mandatory and cannot be disabled", ("think_off",)),
    "thinking beside tools": ({"think": True}, "tools with reasoning_effort are not supported", ("reasoning_effort",)),
    "thinking by default": ({}, "tools with reasoning_effort are not supported", ()),
    "no thinking": ({"think": False}, "tools with reasoning_effort are not supported", ()),
    "no thinking beside tools": ({"think": False}, "tools use /v1/responses or set reasoning_effort to 'none'.", ()),
    "a temperature by default": ({}, HEAT, ()),
}


@every("case", NAMED)
@pytest.mark.asyncio
async def test_what_is_named_of_thinking(recorder, case: str) -> None:  # noqa: F811
    given, words, named = NAMED[case]
    refused_settings._refused.clear()
    recorder([[no(words)]], [HI])
    found = [event for event in await ask(AZURE, request_spec(**given)) if isinstance(event, SettingsLeftOut)]
    assert [event.settings for event in found] == ([named] if named else [])


@pytest.mark.asyncio
async def test_a_refused_setting_for_thinking_is_remembered(recorder) -> None:  # noqa: F811
    """Each answer of a model that always thinks began with a refused request; other values may be taken."""
    made = recorder([[no("Reasoning is mandatory and cannot be disabled")]], [HI], [HI], [HI], [[no(HEAT)]], [HI], [HI])
    off, high = request_spec(think=False), request_spec(think="high", options={"temperature": 0.5})
    for _ in range(2):
        [left, *_] = await ask(AZURE, off)
        assert isinstance(left, SettingsLeftOut) and left.settings == ("think_off",) and "mandatory" in left.message
    await ask(AZURE, high)
    await ask(AZURE, replace(high, model="m"))
    [left, *_] = await ask(AZURE, off)
    assert isinstance(left, SettingsLeftOut) and "mandatory" in left.message
    await ask(AZURE, replace(off, permit=Permit.PROBE))
    found = [(request.think, set(request.left_out)) for request in made.requests]
    assert found == [
        *((False, set()), (None, set()), (None, set())),
        *(("high", set()), ("high", set()), ("high", {"temperature"})),
        (None, {"temperature"}),
        (False, {"temperature"}),  # a test of thinking asks for it
    ]


# what was refused → the keys of the options in the body
BODIES = {
    (): {"max_tokens": 50, "temperature": 0.0, "seed": 1, "stop": ["x"], "stream_options": {"include_usage": True}},
    ("max_tokens", "temperature"): {
        "max_completion_tokens": 50,
        "seed": 1,
        "stop": ["x"],
        "stream_options": {"include_usage": True},
    },
    ("stream_options", "seed"): {"max_tokens": 50, "temperature": 0.0, "stop": ["x"]},
}


@every("refused", BODIES)
def test_the_body_has_the_rest(refused: tuple[str, ...]) -> None:
    options = {"num_predict": 50, "temperature": 0.0, "seed": 1, "stop": ["x"]}
    request = Request("m", QUESTION, options=options, left_out=frozenset(refused))
    body = orjson.loads(providers.codec("openai").encode(request))
    assert {key: value for key, value in body.items() if key not in ("model", "messages", "stream")} == BODIES[refused]
    assert "random_seed" not in orjson.loads(
        providers.codec("mistral").encode(replace(request, left_out=frozenset({"seed"})))
    )


@every("kind", ["openai", "openai.com", "openrouter"])
def test_tools_that_go_without_reasoning_only(kind: str) -> None:
    request = Request("m", QUESTION, TOOLS, supports_tools=True, think=True, left_out=frozenset({"reasoning_effort"}))
    sent = orjson.loads(providers.codec(kind).encode(request))
    assert sent["reasoning_effort"] == "none" and "reasoning" not in sent
    without = orjson.loads(providers.codec("openai.com").encode(replace(request, tools=())))
    assert without["reasoning_effort"] == "medium"


def test_a_history_has_what_its_model_demands() -> None:
    said = (ChatMessage(Role.ASSISTANT, "a"), ChatMessage(Role.ASSISTANT, "b", "hm", calls=(ToolCall("1", "f", {}),)))
    request = Request("m", (*QUESTION, *said), left_out=frozenset({"thoughts", "signatures"}))
    _, first, second = orjson.loads(providers.codec("openai").encode(request))["messages"]
    assert (first["reasoning_content"], second["reasoning_content"]) == (" ", "hm")
    assert second["tool_calls"][0]["extra_content"]["google"]["thought_signature"]
    plain = orjson.loads(providers.codec("openai").encode(replace(request, left_out=frozenset())))["messages"]
    assert "reasoning_content" not in str(plain) and "extra_content" not in str(plain)


@pytest.mark.asyncio
@pytest.mark.parametrize("status", [400, 422, 500])
async def test_a_system_message_that_is_refused_goes_into_the_question(recorder, status: int) -> None:  # noqa: F811
    """Gemma 2 and Gemma in Google's API have no such role: each answer of them failed."""
    made = recorder([[no("System role not supported", status)]], [HI], [HI])
    asked = request_spec(system="Be brief.")
    assert (await ask(AZURE, asked))[-1] == (await ask(AZURE, asked))[-1] == HI[-1]
    first, *others = made.requests
    assert [message.role for message in first.messages] == [Role.SYSTEM, Role.USER]
    for request in others:
        [question] = request.messages
        assert question.role is Role.USER and question.content.startswith("Be brief.")
        assert question.content.endswith(QUESTION[-1].content)


ALTERNATE = "Conversation roles must alternate user/assistant/user/assistant/..."


@pytest.mark.asyncio
async def test_roles_are_changed_as_long_as_that_changes_anything(recorder) -> None:  # noqa: F811
    made = recorder([[no(ALTERNATE)]], [[no(ALTERNATE)]])
    last: Event = (await ask(AZURE, request_spec(system="Be brief.")))[-1]
    assert isinstance(last, Failed) and last.status == 400
    assert [request.left_out for request in made.requests] == [set(), {"system"}]


SMALL = (
    "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens "
    "and your request has 17459 input tokens (32000 > 32768 - 17459)."
)


@pytest.mark.asyncio
async def test_an_output_limit_that_is_too_high_is_lowered_once_for_each_request(recorder) -> None:  # noqa: F811
    """Claude Code asks for 32,000 tokens, which vLLM refuses for a model with a context of that size."""
    made = recorder([[no(SMALL)]], [HI], [[no(SMALL)]], [[no(SMALL.replace("17459", "27459"))]])
    asked = request_spec(options={"num_predict": 32000})
    assert (await ask(AZURE, asked))[-1] == HI[-1]
    last: Event = (await ask(AZURE, asked))[-1]
    assert isinstance(last, Failed) and last.status == 400
    limits = [request.options.get("num_predict") for request in made.requests]
    assert limits == [32000, 15309, 32000, 15309]
    assert all(request.left_out == set() for request in made.requests)
