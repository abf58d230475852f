"""A model that lacks a tool looks for it once."""

from __future__ import annotations

from toolsupport.simulator.nouns import Call, Prompt, Said, Tool
from toolsupport.simulator.quirks.honest import reply

TEXT = {"type": "string"}


def tool(name: str, description: str, parameter: str) -> Tool:
    return Tool(name, description, {"type": "object", "properties": {parameter: TEXT}, "required": [parameter]})


FINDER = tool("tool_search", "Find more tools", "query")
CLOCK = tool("clock__get_current_time", "", "timezone")
ASKS = Said("user", "What time is it in Tokyo?")
FOUND = Said("tool", "These tools can be called from now on: …", name="tool_search")


def calls(*messages: Said, tools: tuple[Tool, ...]) -> tuple[Call, ...]:
    return reply(Prompt(messages, tools)).calls


def test_it_searches_and_then_calls_what_was_found() -> None:
    assert calls(ASKS, tools=(FINDER,)) == (Call("tool_search", {"query": "What time is it in Tokyo"}),)
    assert calls(ASKS, FOUND, tools=(FINDER, CLOCK)) == (Call("clock__get_current_time", {"timezone": "Asia/Tokyo"}),)
    told = Said("tool", '{"datetime": "2026-11-22T18:30:00+09:00"}', name="clock__get_current_time")
    assert "18:30" in reply(Prompt((ASKS, FOUND, told), (FINDER, CLOCK))).content


def test_what_is_not_found_is_not_searched_again() -> None:
    said = reply(Prompt((ASKS, FOUND), (FINDER,)))
    assert not said.calls and "no tool for it was offered" in said.content


def test_a_search_that_was_wanted_is_answered_from() -> None:
    wanted = Said("user", "Call tool_search with query=clocks")
    assert calls(wanted, tools=(FINDER,)) == (Call("tool_search", {"query": "clocks"}),)
    assert "can be called from now on" in reply(Prompt((wanted, FOUND), (FINDER,))).content


def test_nothing_is_searched_for_what_needs_no_tool() -> None:
    assert calls(Said("user", "What is 17*23?"), tools=(FINDER,)) == ()
