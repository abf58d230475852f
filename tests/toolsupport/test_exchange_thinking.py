"""A request to think reaches only models that can."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.tables import every
from tests.toolsupport.providers.scripted import DONE, HEAD, LAST_CHUNK, chunk, scripted
from tests.toolsupport.test_exchange import SERVER, ask, recorder, request_spec  # noqa: F401
from toolsupport import exchange
from toolsupport.core.events import Failed, Finished, ReasoningSeen, SettingsLeftOut, TextDelta, TextReclassified
from toolsupport.core.types import Capabilities, Capability, ChatMessage, Permit, Request, RequestSpec, Role
from toolsupport.providers import PROVIDERS
from toolsupport.thinking_setting import is_denied

DENIED = Failed("refused", "No.", 400, '{"error":"\\"m\\" does not support thinking"}')


@pytest.mark.asyncio
async def test_a_model_without_thinking_is_not_asked_to_think(recorder) -> None:  # noqa: F811
    made = recorder([[DENIED]], [[Finished("stop")]])
    left_out = SettingsLeftOut(("think",), '"m" does not support thinking')
    assert await ask(SERVER, request_spec(think=True)) == [left_out, Finished("stop")], (
        "not known before: asked once more without it"
    )
    known = {name: Capability(name, True, "declared", "") for name in ("tools",)}
    cannot = Capabilities(known | {"thinking": Capability("thinking", False, "declared", "The server says so.")})
    for think in (True, "high", False):
        await ask(SERVER, replace(request_spec(think=think), capabilities=cannot))
    assert [request.think for request in made.requests] == [True, None, None, None, False]
    probe = recorder([[DENIED]])
    assert await ask(SERVER, request_spec(think=True, permit=Permit.PROBE)) == [DENIED], "a probe judges by itself"
    assert len(probe.requests) == 1


# the server's words → whether they refuse to have the model think, or the setting whatever it is
WORDS = {
    "`reasoning_effort` must be one of `none` or `default`": True,
    '"gemma:2b" does not support thinking': True,
    "Unrecognized request argument supplied: reasoning_effort": True,
    "Unsupported parameter: 'reasoning_effort' is not supported with this model.": True,
    "Unknown parameter: 'reasoning'.": True,
    "Model grok-4-0709 does not support parameter reasoningEffort.": True,
    "Argument not supported on this model: reasoning_effort": True,
    "`reasoning_effort` is not supported with this model": True,
    'Invalid JSON payload received. Unknown name "reasoning_effort": Cannot find field.': True,
    "Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model.": False,
    "Unsupported reasoning format": False,
    "The image is not supported": False,
}


@every("words", WORDS)
def test_the_words_of_a_refusal(words: str) -> None:
    event = Failed("refused", "No.", 400, json.dumps({"error": {"message": words}}))
    for think in (True, False, "high"):
        assert is_denied(event, Request("m", (), think=think)) is WORDS[words]
    assert not is_denied(event, Request("m", ()))
    assert not is_denied(event, Request("m", (), think=True, permit=Permit.PROBE))


# the server's words → what they refuse: thinking off, thinking on, a level
VALUES: dict[str, set[bool | str]] = {
    "Reasoning is mandatory for this endpoint and cannot be disabled.": {False},
    "Thinking can't be disabled for this model.": {False},
    "Budget 0 is invalid. This model only works in thinking mode.": {False},
    "<400> InternalError.Algo.InvalidParameter: The value of the enable_thinking parameter is restricted to True.": {
        False
    },
    "Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'low', "
    "'medium', and 'high'.": {False},
    "Unsupported value: 'reasoning_effort' does not support 'medium' with this model. Supported values are: 'high'.": {
        True
    },
    "`reasoning_effort` must be one of `low`, `medium`, or `high`": {True, False},
    "Function tools with reasoning_effort are not supported for gpt-5.6-terra in /v1/chat/completions. To use function "
    "tools, use /v1/responses or set reasoning_effort to 'none'.": set(),
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2": set(),
}


@every("words", VALUES)
def test_the_words_of_a_refusal_of_one_value(words: str) -> None:
    event = Failed("refused", "No.", 400, json.dumps({"error": {"message": words}}))
    refused = {think for think in (True, False, "high", None) if is_denied(event, Request("m", (), think=think))}
    assert refused == VALUES[words]


SCHEMA = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", PROVIDERS)
@pytest.mark.parametrize(
    ("form", "tools", "turned_off"),
    [(SCHEMA, False, True), ({"type": "json_object"}, False, False), (SCHEMA, True, False), (None, False, False)],
)
async def test_a_programs_schema_turns_thinking_off_where_it_would_be_forced_on_thoughts(
    recorder,  # noqa: F811
    kind: str,
    form: Any,
    tools: bool,
    turned_off: bool,
) -> None:  # K6
    made = recorder([[Finished("stop")]])
    asked = request_spec(options={"response_format": form})
    asked = asked if tools else replace(asked, tools=(), format="")
    await ask(replace(SERVER, kind=kind), asked)
    [sent] = made.requests
    assert sent.think is (False if turned_off and kind == "llamacpp" else None)


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", PROVIDERS)
async def test_no_model_thinks_before_it_continues_an_answer_where_its_server_refuses_that(
    recorder,  # noqa: F811
    kind: str,
) -> None:
    asked, begun = ChatMessage(Role.USER, "As JSON."), ChatMessage(Role.ASSISTANT, "{")
    for log, refused in (((asked, begun), kind == "llamacpp"), ((asked, begun, asked), False)):
        made = recorder([[Finished("stop")]])
        async for _ in exchange.ask(replace(SERVER, kind=kind), request_spec(think=True), log):
            pass
        assert made.requests[0].think is not refused


JSON_TEXT = '{"tool": "list_directory", "arguments": {"path": "."}}'
FORM = {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}}
CONSTRAINED = {
    "calls": request_spec(format="forced_json", begins_inside=True),
    "a probe": request_spec(tools=(), format="", permit=Permit.PROBE, schema={"type": "object"}, begins_inside=True),
    "a program's form": request_spec(tools=(), format="", options=FORM, begins_inside=True),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("asked", CONSTRAINED.values(), ids=CONSTRAINED)
async def test_a_constrained_reply_does_not_show_how_others_begin(recorder, asked: RequestSpec) -> None:  # noqa: F811
    made = recorder([[TextDelta(JSON_TEXT)], [Finished("stop")]])
    found = await ask(SERVER, asked)
    [sent] = made.requests
    assert sent.schema is not None or sent.options["response_format"] == FORM["response_format"]
    assert [event for event in found if isinstance(event, ReasoningSeen)] == []
    if not asked.tools:
        assert "".join(event.text for event in found if isinstance(event, TextDelta | TextReclassified)) == JSON_TEXT


@pytest.mark.asyncio
async def test_a_reply_under_an_ignored_schema_shows_how_it_begins(recorder) -> None:  # noqa: F811
    recorder([[TextDelta("I should look.\n</think>\n\nHello")], [Finished("stop")]])
    found = await ask(SERVER, replace(CONSTRAINED["a probe"], begins_inside=None))
    assert [event.begins_inside for event in found if isinstance(event, ReasoningSeen)] == [True]


@pytest.mark.asyncio
@every("named", [False, True])
async def test_tags_around_the_answer_are_shown_only_if_the_request_names_them(named: bool) -> None:
    words = "Answer in <answer> tags." if named else "Answer."
    thought = {"role": "assistant", "content": "", "thinking": "Hm."}
    answered = {"role": "assistant", "content": "\n<answer>\nHi\n</answer>"}
    lines = (json.dumps({"message": one, "done": False}).encode() + b"\n" for one in (thought, answered))
    async with scripted((HEAD, *map(chunk, lines), DONE, LAST_CHUNK)) as server:
        events = await ask(server.endpoint(), request_spec(), [ChatMessage(Role.USER, words)])
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert text == ("\n<answer>\nHi\n</answer>" if named else "Hi")
