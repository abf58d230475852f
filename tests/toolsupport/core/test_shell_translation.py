"""Which tools a model is offered instead of those it does not take, and what serves the calls that it makes (T6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from toolsupport.core import shell_translation
from toolsupport.core.format_fallback import without_tools
from toolsupport.core.shell_translation import COMMANDS, after_refusal, only_commands, rerouted, serve
from toolsupport.core.types import Capabilities, Capability, Exclusion, RequestSpec, ToolCall, ToolSpec

READ, LIST, WRITE, EDIT = (ToolSpec(name) for name in ("read_file", "list_directory", "write_file", "edit_file"))
SEARCH, BASH = ToolSpec("tool_search"), ToolSpec("bash", "A shell")
FILES = (READ, LIST, WRITE, EDIT)
ALL_SHELL: dict[str, Any] = {
    "tool:read_file": "via_bash",
    "tool:list_directory": "via_bash",
    "tool:write_file": "via_bash",
}


def request_spec(tools: tuple[ToolSpec, ...] = (*FILES, SEARCH), **known: Any) -> RequestSpec:
    values = {name.replace("__", ":"): value for name, value in {"tools": True, **known}.items()}
    capabilities = Capabilities({name: Capability(name, value, "declared", "") for name, value in values.items()})
    return RequestSpec("m", capabilities, tools=tools, format="native")


def names(specs: tuple[ToolSpec, ...]) -> list[str]:
    return [spec.name for spec in specs]


def bash(command: str) -> ToolCall:
    return ToolCall("1", "bash", {"command": command})


def test_nothing_known_leaves_the_tools_as_they_are() -> None:  # D13
    found = rerouted(request_spec())
    assert found.tools == (*FILES, SEARCH) and found.hidden == (COMMANDS,) and found.excluded == ()


def test_a_model_that_does_it_through_bash_is_offered_that() -> None:
    found = rerouted(request_spec(**ALL_SHELL))
    assert found.tools == (SEARCH, COMMANDS) and found.hidden == FILES and only_commands(found)
    assert {(left.tool, left.rule) for left in found.excluded} == {(name, "translated") for name in names(FILES)}


def test_only_what_it_does_not_take_goes() -> None:
    found = rerouted(request_spec(tool__read_file="native", tool__write_file="via_bash"))
    assert names(found.tools) == ["read_file", "list_directory", "tool_search", "bash"]
    assert names(found.hidden) == ["write_file", "edit_file"]


@pytest.mark.parametrize("speaks", [None, "refused"])
def test_a_tool_is_not_taken_away_where_nobody_knows_that_bash_works(speaks: str | None) -> None:
    assert rerouted(request_spec(tool__read_file="refused", tool__bash=speaks)).tools == (*FILES, SEARCH)


def test_a_refused_tool_goes_where_bash_is_called() -> None:
    found = rerouted(request_spec(tool__read_file="refused", tool__bash="native"))
    assert "read_file" not in names(found.tools) and COMMANDS in found.tools


def test_a_real_shell_stays_the_one_that_is_told_of() -> None:
    found = rerouted(request_spec((*FILES, BASH), **ALL_SHELL))
    assert found.tools == (BASH,) and not only_commands(found)
    assert serve(bash("cat a"), found).call == ToolCall("1", "read_file", {"path": "a"})
    assert serve(bash("make"), found).call == bash("make")


def test_who_is_offered_nothing_stays_so() -> None:  # F6
    nothing = without_tools(request_spec(), "unsupported", "")
    assert rerouted(nothing) == nothing
    assert without_tools(rerouted(request_spec(**ALL_SHELL)), "refused", "").callable == ()


def test_a_command_is_served_by_the_tool_that_does_the_same() -> None:
    for found in (rerouted(request_spec()), rerouted(request_spec(**ALL_SHELL))):
        served = serve(bash("cat config.json"), found)
        assert served.call == ToolCall("1", "read_file", {"path": "config.json"})
        assert served.reason == "called as bash, run by read_file"
        assert serve(bash("make"), found) == shell_translation.TranslatedCall(bash("make"))


def test_a_tool_that_is_switched_off_serves_nothing() -> None:
    found = rerouted(request_spec((LIST, SEARCH), **ALL_SHELL))
    assert serve(bash("cat config.json"), found).call.name == "bash"
    assert serve(bash("ls"), found).call.name == "list_directory"


def test_a_call_of_a_tool_it_was_not_told_of_is_served_all_the_same() -> None:  # F11
    call = ToolCall("1", "read_file", {"path": "a"})
    served = serve(call, rerouted(request_spec(**ALL_SHELL)))
    assert served.call == call and "not offered" in served.reason
    assert serve(call, rerouted(request_spec())).reason == ""


def test_without_translation_everything_is_as_it_was_asked() -> None:
    assert serve(bash("cat a"), request_spec((*FILES, BASH))) == shell_translation.TranslatedCall(bash("cat a"))


@pytest.mark.parametrize("arguments", [{}, {"command": 3}, {"command": None}, {"command": ["cat", "a"]}])
def test_arguments_that_are_no_command(arguments: dict[str, Any]) -> None:
    call = ToolCall("1", "bash", arguments)
    assert serve(call, rerouted(request_spec())).call == call


def test_after_a_refusal_in_words_bash_is_offered_once() -> None:
    again = after_refusal(rerouted(request_spec()))
    assert again is not None and again.tools == (SEARCH, COMMANDS) and again.hidden == FILES
    assert after_refusal(again) is None
    assert after_refusal(request_spec()) is None
    assert after_refusal(rerouted(request_spec((SEARCH,)))) is None


@pytest.mark.parametrize(("rule", "again"), [("filtered", False), ("disabled", False), ("max_tools", True)])
def test_a_model_may_say_that_it_lacks_what_people_took_away(rule: str, again: bool) -> None:
    left_out = replace(rerouted(request_spec((READ, SEARCH))), excluded=(Exclusion("list_directory", rule, "why"),))
    assert (after_refusal(left_out) is not None) is again


def test_no_shell_is_offered_to_a_model_that_writes_programs() -> None:  # T9
    found = rerouted(replace(request_spec(**ALL_SHELL), format="code_mode"))
    assert found.tools == (*FILES, SEARCH)
    assert after_refusal(found) is None
