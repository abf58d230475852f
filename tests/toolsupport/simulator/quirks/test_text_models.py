"""Models that find tools in words, and write calls as text."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable

import pytest

from tests.tables import every
from tests.toolsupport.simulator.raw import TOOLS
from toolsupport.simulator.languages.objects import hermes
from toolsupport.simulator.models import MODELS, TEXT
from toolsupport.simulator.quirks import broken_json, hopeless_json
from toolsupport.simulator.types import HistoryMessage, ModelInput, SimulatedCall, SimulatedReply

SYSTEM = HistoryMessage("system", "Tools:\n" + "\n".join(map(json.dumps, TOOLS)))
NAMES = [model.name for model in TEXT]
GOOD = [name for name in NAMES if name != "sim-hopeless-json"]


def asked(name: str, words: str, *results: str) -> SimulatedReply:
    """What a model says after calls that each gave one of the results."""
    said = [SYSTEM, HistoryMessage("user", words)]
    for result in results:
        said += [
            HistoryMessage("assistant", "(a call)"),
            HistoryMessage("user", f"<tool_response>\n{result}\n</tool_response>"),
        ]
    return MODELS[name].reply(ModelInput(tuple(said)))


@every("name", NAMES)
def test_calls_are_text_cut_in_awkward_places(name: str) -> None:  # M8
    said = asked(name, "Read config.json")
    assert said.calls == ()
    assert said.awkward
    assert "".join(said.pieces) == said.content
    assert name == "sim-hopeless-json" or ("read_file" in said.content and "config.json" in said.content)


@every("name", GOOD)
def test_answers_from_the_result(name: str) -> None:
    answer = asked(name, "Read config.json and tell me the version", '{"version": "q-9931"}')
    assert answer.content == "The version in `config.json` is **q-9931**."
    assert not answer.awkward


@every("name", GOOD)
def test_two_things_are_two_calls(name: str) -> None:
    content = asked(name, "List src/ and read a.txt").content
    assert content.index("list_directory") < content.index("read_file")


@every("name", NAMES)
@every("words", ["hello", "What is 17*23?", "thanks"])
def test_a_greeting_and_a_sum_call_nothing(name: str, words: str) -> None:  # D6
    said = asked(name, words)
    assert not said.awkward
    assert "list_directory" not in said.content


@every("name", NAMES)
def test_without_tools_in_the_prompt_it_writes_no_call(name: str) -> None:
    said = MODELS[name].reply(
        ModelInput((HistoryMessage("system", "Be brief."), HistoryMessage("user", "Read config.json")))
    )
    assert "no tool for it was offered" in said.content


def test_a_demand_in_plain_words_is_obeyed_with_types_of_the_schema() -> None:  # D6
    note = {"type": "object", "properties": {"code": {"type": "string"}, "count": {"type": "integer"}}}
    system = HistoryMessage("system", json.dumps({"name": "record_note", "description": "", "parameters": note}))
    said = MODELS["sim-json"].reply(
        ModelInput((system, HistoryMessage("user", 'Call record_note with code "q-7" and count 3')))
    )
    assert json.loads(said.content) == {"name": "record_note", "arguments": {"code": "q-7", "count": 3}}


def test_code_calls_what_is_offered() -> None:
    program = asked("sim-code", "List src/ and read a.txt").content.removeprefix("```python\n").removesuffix("```")
    assert ast.unparse(ast.parse(program)) == "print(list_directory(path='src/'))\nprint(read_file(path='a.txt'))"


def test_code_does_without_tools_where_programs_are_run() -> None:
    system = HistoryMessage("system", "Write Python in a fence:\n```python\nprint(6 * 7)\n```")
    said = MODELS["sim-code"].reply(ModelInput((system, HistoryMessage("user", "Read a.txt"))))
    assert said.content == "```python\nprint(open('a.txt').read())\n```"
    results = (
        HistoryMessage("assistant", said.content),
        HistoryMessage("user", "<tool_response>\nq-9931\n</tool_response>"),
    )
    answer = MODELS["sim-code"].reply(ModelInput((system, HistoryMessage("user", "Read a.txt"), *results)))
    assert "q-9931" in answer.content
    assert not answer.awkward
    assert "```" not in MODELS["sim-code"].reply(ModelInput((system, HistoryMessage("user", "hello")))).content


def test_what_a_program_printed_answers_all_its_calls_at_once() -> None:
    assert "b.txt" in asked("sim-code", "List src/ and read a.txt", "b.txt\nq-9931").content
    assert "q-9931" in asked("sim-code", "List src/ and read a.txt", "b.txt\nq-9931").content


LIST = SimulatedCall("list_directory", {"path": "."})
CALL = SimulatedCall("write_file", {"path": "it's.md", "content": "one\ntwo", "all": True})


@pytest.mark.parametrize("way", broken_json.BREAKS)
def test_every_break_breaks(way: Callable[[SimulatedCall], str]) -> None:
    with pytest.raises((ValueError, AssertionError)):
        body = way(CALL).removeprefix("<tool_call>\n")
        assert body.endswith("\n</tool_call>")
        assert isinstance(json.loads(body.removesuffix("\n</tool_call>"))["arguments"], dict)


def test_breaks_rotate_with_the_answers_and_never_leave_the_call_whole() -> None:
    texts = {broken_json.broken([CALL], turn) for turn in range(6)}
    assert len(texts) == 6
    assert hermes([LIST]) not in {broken_json.broken([LIST], turn) for turn in range(6)}
    first, second = asked("sim-broken-json", "Read a.txt"), asked("sim-broken-json", "List src/ and read a.txt", "x")
    assert first.content == broken_json.single_quotes(SimulatedCall("read_file", {"path": "a.txt"}))
    assert second.content == broken_json.trailing_comma(SimulatedCall("read_file", {"path": "a.txt"}))


def test_the_hopeless_one_gives_up_in_words() -> None:
    said = [asked("sim-hopeless-json", "Read a.txt", *["The call could not be read."] * count) for count in range(4)]
    assert [reply.content == hopeless_json.GIVES_UP for reply in said] == [False, False, True, True]
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(said[0].content.removeprefix("<tool_call>").removesuffix("</tool_call>"))
