"""A model that lacks a tool looks for it once."""

from __future__ import annotations

from toolsupport.simulator.quirks.honest import reply
from toolsupport.simulator.types import HistoryMessage, ModelInput, OfferedTool, SimulatedCall

TEXT = {"type": "string"}


def tool(name: str, description: str, parameter: str) -> OfferedTool:
    return OfferedTool(name, description, {"type": "object", "properties": {parameter: TEXT}, "required": [parameter]})


FINDER = tool("tool_search", "Find more tools", "query")
CLOCK = tool("clock__get_current_time", "", "timezone")
ASKS = HistoryMessage("user", "What time is it in Tokyo?")
FOUND = HistoryMessage("tool", "These tools can be called from now on: …", name="tool_search")


def calls(*messages: HistoryMessage, tools: tuple[OfferedTool, ...]) -> tuple[SimulatedCall, ...]:
    return reply(ModelInput(messages, tools)).calls


def test_it_searches_and_then_calls_what_was_found() -> None:
    assert calls(ASKS, tools=(FINDER,)) == (SimulatedCall("tool_search", {"query": "What time is it in Tokyo"}),)
    assert calls(ASKS, FOUND, tools=(FINDER, CLOCK)) == (
        SimulatedCall("clock__get_current_time", {"timezone": "Asia/Tokyo"}),
    )
    told = HistoryMessage("tool", '{"datetime": "2026-11-22T18:30:00+09:00"}', name="clock__get_current_time")
    assert "18:30" in reply(ModelInput((ASKS, FOUND, told), (FINDER, CLOCK))).content


def test_what_is_not_found_is_not_searched_again() -> None:
    said = reply(ModelInput((ASKS, FOUND), (FINDER,)))
    assert not said.calls and "no tool for it was offered" in said.content


def test_a_search_that_was_wanted_is_answered_from() -> None:
    wanted = HistoryMessage("user", "Call tool_search with query=clocks")
    assert calls(wanted, tools=(FINDER,)) == (SimulatedCall("tool_search", {"query": "clocks"}),)
    assert "can be called from now on" in reply(ModelInput((wanted, FOUND), (FINDER,))).content


def test_nothing_is_searched_for_what_needs_no_tool() -> None:
    assert calls(HistoryMessage("user", "What is 17*23?"), tools=(FINDER,)) == ()
