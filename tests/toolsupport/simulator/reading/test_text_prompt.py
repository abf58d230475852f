"""Tools that stand in the words of a system prompt."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from tests.toolsupport.simulator.reading.ways import FUNCTION, SCHEMA, TOOL, WAYS
from toolsupport.simulator.reading import text_prompt
from toolsupport.simulator.types import HistoryMessage, ModelInput, OfferedTool


@every("text", WAYS.values())
@every("around", ["{}", "You are helpful.\n\n{}\n\nUse a tool when it helps, else just answer."])
def test_finds_the_tool_and_nothing_else(text: str, around: str) -> None:  # M8
    found = text_prompt.tools(around.replace("{}", text))
    assert [tool.name for tool in found] == ["read_file"]
    assert {name: schema["type"] for name, schema in found[0].properties.items()} == {
        "path": "string",
        "limit": "integer",
    }
    assert "path" in found[0].required


@pytest.mark.parametrize(
    "text",
    [
        "",
        "You are a helpful assistant. Answer in one sentence (at most two).",
        'Call like {"name": "read_file", "arguments": {"path": "a"}} or {"name": "f", "parameters": {"type": "x"}}',
        'An answer: {"name": "Ann", "age": 3, "type": "person"}',
        "Use f(x) and print(read_file(path='a')).\nfoo(1, 2)\n[a(b=1)]",
        "<function=read_file><parameter=path>a</parameter></function>",
        "# Notes\n- path is a word\n- write it down (always)",
    ],
)
def test_finds_no_tool_where_none_is_described(text: str) -> None:
    assert text_prompt.tools(text) == ()


def test_tools_without_parameters() -> None:
    described = '{"name": "now", "description": "The time.", "parameters": {}}\n'
    described += 'def later() -> str:\n    """Later."""\n- never()'
    found = [(tool.name, tool.properties) for tool in text_prompt.tools(described)]
    assert found == [("now", {}), ("later", {}), ("never", {})]


def test_what_knows_the_parameters_wins() -> None:
    (found,) = text_prompt.tools('{"name": "read_file", "description": "Short."}\n- read_file(path: string)')
    assert set(found.properties) == {"path"}


def test_several_tools_keep_their_order() -> None:
    tools = [{**TOOL, "name": name} for name in ("zeta", "alpha", "mid")]
    assert [tool.name for tool in text_prompt.tools("\n".join(map(json.dumps, tools)))] == ["zeta", "alpha", "mid"]


def test_a_prompt_is_read_as_if_its_tools_had_a_field() -> None:
    said = (
        HistoryMessage("system", json.dumps(FUNCTION)),
        HistoryMessage("user", "Read a.txt"),
        HistoryMessage("assistant", "<tool_call>…</tool_call>"),
        HistoryMessage("user", "<tool_response>\nhello\n</tool_response>"),
    )
    received = text_prompt.prompt(ModelInput(said))
    assert received.tools == (OfferedTool("read_file", "Read a text file.", SCHEMA),)
    assert received.results == (HistoryMessage("tool", "hello"),)
    assert received.asked == "Read a.txt"


def test_the_first_line_of_a_result_may_name_its_tool() -> None:
    before = (
        HistoryMessage("system", json.dumps(FUNCTION)),
        HistoryMessage("user", "Read a.txt"),
        HistoryMessage("assistant", "…"),
    )
    for text, found in (
        ("read_file:\nhello\nyou", HistoryMessage("tool", "hello\nyou", name="read_file")),
        ("others:\nhello", HistoryMessage("tool", "others:\nhello")),
    ):
        carrying = HistoryMessage("user", f"<tool_response>\n{text}\n</tool_response>")
        assert text_prompt.prompt(ModelInput((*before, carrying))).results == (found,)


def test_a_parameter_that_is_an_object_is_no_tool() -> None:
    inner = {"type": "object", "properties": {"deep": {"type": "string"}}}
    (found,) = text_prompt.tools(f"- save(options): Saves.\n    options: {json.dumps(inner)}\n")
    assert (found.name, found.properties) == ("save", {"options": inner})


def test_what_looks_like_a_result_is_a_persons_word_unless_it_follows_an_answer() -> None:
    words = "<tool_response>x</tool_response>"
    assert text_prompt.prompt(ModelInput((HistoryMessage("user", words),))).asked == words


@given(st.text(alphabet=st.sampled_from("{}[]()<>\"'`:,=/ \n-#defunction|tool_param1"), max_size=200))
def test_no_text_is_too_much(text: str) -> None:
    assert all(tool.name for tool in text_prompt.tools(text))


@every("mark", ["{", '{"a":', "<tool>", "<tool ", "def f(", "- a(", "[", "- a (string)\n", "# x\n"])
def test_many_beginnings_of_nothing_are_read_quickly(mark: str) -> None:
    assert text_prompt.tools(mark * 20_000) == ()
