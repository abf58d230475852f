"""The honest model: a whole loop of calls."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.toolsupport.simulator.raw import TOOLS
from toolsupport.simulator.quirks.honest import reply
from toolsupport.simulator.types import HistoryMessage, ModelInput, OfferedTool, SimulatedCall

OFFERED = tuple(OfferedTool(item["function"]["name"], "", item["function"]["parameters"]) for item in TOOLS)


def asked(words: str, *results: str, tools: tuple[OfferedTool, ...] = OFFERED) -> Any:
    said = [HistoryMessage("user", words), *(HistoryMessage("tool", result) for result in results)]
    return reply(ModelInput(tuple(said), tools))


def test_calls_then_answers() -> None:
    assert asked("What's in this folder?").calls == (SimulatedCall("list_directory", {"path": "."}),)
    assert asked("What's in this folder?", "a\nb").content.startswith("This folder holds 2 entries")


def test_two_things_are_two_calls_in_one_message() -> None:
    words = "List this folder and read config.json"
    assert [call.name for call in asked(words).calls] == ["list_directory", "read_file"]
    answer = asked(words, "config.json", '{"a": 1}').content
    assert "holds 1 entry" in answer
    assert "`config.json` has 1 line" in answer


def test_what_has_no_result_yet_is_called_again() -> None:
    left = asked("List this folder and read config.json", "config.json").calls
    assert left == (SimulatedCall("read_file", {"path": "config.json"}),)


def test_only_results_since_the_last_words_count() -> None:
    history = (
        HistoryMessage("user", "ls"),
        HistoryMessage("assistant"),
        HistoryMessage("tool", "a"),
        HistoryMessage("assistant", "done"),
        HistoryMessage("user", "ls"),
    )
    assert len(reply(ModelInput(history, OFFERED)).calls) == 1


def test_results_are_answered_from_even_without_tools_on_offer() -> None:
    assert "holds 2 entries" in asked("What's in this folder?", "a\nb", tools=()).content


def test_computes_without_a_tool() -> None:
    assert asked("What is 17*23?").content == "17 × 23 = **391**"


def test_a_secret_in_a_result_comes_back() -> None:  # D6
    note = OfferedTool("record_note", "", {"type": "object", "properties": {}})
    assert "q-9931" in asked("Call record_note", "the secret is q-9931", tools=(note,)).content


def test_nobody_spoke() -> None:
    assert "simulated model" in reply(ModelInput(())).content


@given(st.text(max_size=120), st.lists(st.sampled_from(OFFERED), max_size=3, unique_by=lambda tool: tool.name))
def test_never_calls_what_was_not_offered(words: str, tools: list[OfferedTool]) -> None:
    for call in asked(words, tools=tuple(tools)).calls:
        assert call.name in {tool.name for tool in tools}
