"""The prompt of a model besides the chat, how much of the chat it gets, and the options."""

from __future__ import annotations

import pytest

from tests.tables import every
from toolsupport.core.families.table import PROMPT_STYLES
from toolsupport.core.formats import FORMATS
from toolsupport.core.prompt import GO_ON, messages, options, system
from toolsupport.core.prompt.system_prompt import ALL_AT_ONCE, EXAMPLE, ONE_CALL, SHORT, WITHOUT_TOOLS
from toolsupport.core.prompt.tool_styles import NUDGE, STANDARD, STRONG_NUDGE, STYLES, about
from toolsupport.core.prompt.turn_context import CALL_FIRST
from toolsupport.core.types import (
    Capabilities,
    Capability,
    ChatMessage,
    Exclusion,
    Permit,
    RequestSpec,
    Role,
    ToolCall,
    ToolSpec,
)

NOTHING_KNOWN = Capabilities({})
TOOL = ToolSpec("f")
WITH_TOOLS = f"{STYLES[STANDARD]} {NUDGE}"


def request_spec(**given: object) -> RequestSpec:
    return RequestSpec(**({"model": "m", "capabilities": NOTHING_KNOWN} | given))  # type: ignore[arg-type]


def with_tools(format_: str = "native", known: dict[str, object] | None = None, **given: object) -> RequestSpec:
    capabilities = Capabilities({name: Capability(name, value, "", "") for name, value in (known or {}).items()})
    return request_spec(tools=(TOOL,), format=format_, capabilities=capabilities, **given)


def excluded(rule: str) -> tuple[Exclusion, ...]:
    return (Exclusion("f", rule, "because"),)


@every(
    ("request_spec", "text"),
    [
        (request_spec(), ""),
        (request_spec(system=" Be kind. "), "Be kind."),
        (with_tools(), WITH_TOOLS),
        (with_tools(system="Be kind."), f"Be kind.\n\n{WITH_TOOLS}"),
        (with_tools(strong_nudge=True), f"{STYLES[STANDARD]} {STRONG_NUDGE}"),
        (request_spec(excluded=excluded("unsupported")), WITHOUT_TOOLS),
        (request_spec(excluded=excluded("unknown")), WITHOUT_TOOLS),
        (request_spec(excluded=excluded("refused")), WITHOUT_TOOLS),
        (request_spec(excluded=excluded("disabled")), ""),
        (request_spec(excluded=excluded("tools_off")), ""),
        (with_tools(excluded=excluded("max_tools")), WITH_TOOLS),
        (with_tools(known={"parallel": False}), f"{WITH_TOOLS}\n\n{ONE_CALL}"),
        (with_tools(known={"multi_turn": "poor"}), f"{WITH_TOOLS}\n\n{ALL_AT_ONCE}"),
        (with_tools(known={"multi_turn": "poor", "parallel": False}), f"{WITH_TOOLS}\n\n{ONE_CALL}"),
        (with_tools(known={"multi_turn": "poor"}, turn_context="full"), WITH_TOOLS),
    ],
)
def test_system_text(request_spec: RequestSpec, text: str) -> None:
    assert system(request_spec) == text


def test_every_style_of_the_family_table_has_words() -> None:  # F6
    assert set(STYLES) == PROMPT_STYLES


@every("style", sorted(STYLES))
def test_a_style_speaks_of_the_tools_that_are_offered(style: str) -> None:
    words = about(style, [ToolSpec("read_file"), ToolSpec("{odd}")])
    assert style == STANDARD or "read_file, {odd}" in words or "- read_file\n- {odd}" in words
    assert "{names}" not in words and "{definitions}" not in words
    assert "ReAct" not in words


def test_the_hermes_style_lists_descriptions() -> None:  # F6
    tools = [ToolSpec("read_file", "Reads a text file.\nLong story."), ToolSpec("add", " {names} "), ToolSpec("bare")]
    words = about("hermes", tools)
    assert "\n- read_file: Reads a text file.\n- add: {names}\n- bare\n" in words


@pytest.mark.parametrize("style", [None, "", "baroque", 3, True])
def test_an_unknown_style_is_the_standard_one(style: object) -> None:
    assert about(style, [TOOL]) == STYLES[STANDARD]


@every("format_", FORMATS)
def test_a_text_format_tells_the_tools_and_shows_a_call_that_worked(format_: str) -> None:  # F12
    proven = (ToolCall("1", "gone", {"a": 1}), ToolCall("2", "f", {"path": "x"}))
    told = system(with_tools(format_, system="Be kind.", examples=proven))
    assert told.startswith("Be kind.\n\n")
    assert FORMATS[format_].instructions((TOOL,)) in told
    assert f"{EXAMPLE}\n{FORMATS[format_].write_calls(proven[1:])}" in told
    assert "gone" not in told
    assert EXAMPLE not in system(with_tools(examples=proven)), "native calls are written by the server"


def user(text: str) -> ChatMessage:
    return ChatMessage(Role.USER, text)


ASKED = (user("old"), ChatMessage(Role.ASSISTANT, "older answer"), user("new"))
RAN = (
    ChatMessage(Role.ASSISTANT, calls=(ToolCall("aaaaaaaa1", "f", {}),)),
    ChatMessage(Role.TOOL, "r", call_id="aaaaaaaa1"),
)


def shown(request_spec: RequestSpec, *log: ChatMessage) -> list[str]:
    return [message.content for message in messages(request_spec, log) if message.role is not Role.SYSTEM]


def test_a_minimal_context_is_the_latest_message_and_its_calls() -> None:  # F8
    minimal = with_tools(turn_context="minimal", system="Be kind.")
    assert shown(minimal, *ASKED, *RAN) == ["new", "", "r"]
    assert system(minimal).startswith("Be kind.")


def test_a_minimal_prompt_is_short_and_asks_for_a_call() -> None:  # F8
    documents = {"AGENTS.md": " Use tabs.\n", "SOUL.md": " "}
    minimal = with_tools(turn_context="minimal_system", system="Be kind.", documents=documents)
    told = system(minimal)
    assert told.startswith(SHORT) and "Read a file before you change it" in told.partition("\n")[0]
    assert told.endswith("\n\nFrom AGENTS.md:\nUse tabs.") and "Be kind." not in told
    assert shown(minimal, *ASKED, *RAN) == [f"{CALL_FIRST}\n\nnew", "", "r"]
    in_text = with_tools("hermes", turn_context="minimal_system")
    assert FORMATS["hermes"].instructions((TOOL,)) in system(in_text)


def test_without_tools_the_context_is_whole() -> None:
    whole = ["old", "older answer", "new"]
    assert shown(request_spec(turn_context="minimal"), *ASKED) == whole
    assert shown(with_tools(), *ASKED) == whole
    assert shown(with_tools(known={"multi_turn": "good"}), *ASKED) == whole
    assert shown(with_tools(known={"multi_turn": "poor"}), *ASKED) == ["new"]
    assert shown(with_tools(known={"multi_turn": "poor"}, permit=Permit.PROBE), *ASKED) == whole


def test_going_on_is_no_request_of_its_own() -> None:
    log = (*ASKED, ChatMessage(Role.ASSISTANT, "half"), user(GO_ON))
    assert shown(with_tools(turn_context="minimal"), *log) == ["new", "half", GO_ON]


@pytest.mark.parametrize(
    ("request_spec", "expected"),
    [
        (request_spec(), {"num_ctx": 8192}),
        (with_tools(), {"num_ctx": 8192, "temperature": 0.3}),
        (with_tools("hermes"), {"num_ctx": 8192, "temperature": 0.3}),
        (with_tools(options={"temperature": 0.0}), {"num_ctx": 8192, "temperature": 0.0}),
        (request_spec(options={"num_ctx": 4096, "seed": 1}), {"num_ctx": 4096, "seed": 1}),
    ],
)
def test_options(request_spec: RequestSpec, expected: dict) -> None:
    assert options(request_spec) == expected


@pytest.mark.parametrize(("choice", "then"), [("required", "auto"), ("any", "auto"), ("auto", "auto")])
def test_a_model_that_had_to_call_may_answer(choice: str, then: str) -> None:
    forced = with_tools(options={"tool_choice": choice})
    assert options(forced, ASKED)["tool_choice"] == choice
    assert options(forced, (*ASKED, *RAN))["tool_choice"] == then
