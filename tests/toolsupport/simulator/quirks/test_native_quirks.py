"""Models that call tools natively, and not as they should."""

from __future__ import annotations

import pytest

from tests.tables import every
from tests.toolsupport.simulator.raw import TOOLS
from toolsupport.simulator.models import MODELS
from toolsupport.simulator.quirks import flaky, hallucinates, honest, shell
from toolsupport.simulator.types import HistoryMessage, ModelInput, OfferedTool, SimulatedCall, SimulatedReply

OFFERED = tuple(OfferedTool(item["function"]["name"], "", item["function"]["parameters"]) for item in TOOLS)
FILES = OFFERED[:-1]
READ = SimulatedCall("read_file", {"path": "a.txt"})
TWO = "List src/ and read a.txt"


def asked(name: str, words: str, *results: str, tools: tuple[OfferedTool, ...] = OFFERED) -> SimulatedReply:
    said = (HistoryMessage("user", words), *(HistoryMessage("tool", result) for result in results))
    return MODELS[name].reply(ModelInput(said, tools))


@every(
    ("words", "command"),
    [
        ("Read a.txt", "cat a.txt"),
        ("Call read_file with path=a.txt", "cat a.txt"),
        ("What's in src/?", "ls src/"),
        ("Use list_directory on `src`", "ls src"),
        ('Write "hi" to a.txt', "printf '%s\\n' hi > a.txt"),
        ("run `pwd`", "pwd"),
        ("Replace kettle with teapot in a.txt", "sed -i s/kettle/teapot/ a.txt"),
        ("Replace `a.b/c` with `d&e` in a.txt", r"sed -i 's/a\.b\/c/d\&e/' a.txt"),
    ],
)
def test_the_shell_does_what_tools_for_files_would(words: str, command: str) -> None:  # D13
    assert asked("sim-shell", words).calls == (SimulatedCall("bash", {"command": command}),)


@pytest.mark.parametrize("words", ["Read a.txt", "Call write_file with path=a.txt, content=x", "List the files"])
def test_without_a_shell_it_refuses_files_in_words(words: str) -> None:  # D13
    assert asked("sim-shell", words, tools=FILES) == SimulatedReply(shell.CANNOT)


def test_the_shell_answers_from_what_it_printed_and_uses_other_tools() -> None:
    assert "q-9931" in asked("sim-shell", "Read a.txt", "q-9931").content
    note = OfferedTool("record_note", "", {"type": "object", "properties": {"code": {"type": "string"}}})
    assert asked("sim-shell", "Call record_note with code=x", tools=(note,)).calls == (
        SimulatedCall("record_note", {"code": "x"}),
    )


def test_names_that_nobody_offered() -> None:  # F4
    called = {call.name for number in range(12) for call in asked("sim-hallucinates", f"Read a{number}.txt").calls}
    assert called == {"readfile", "mcp_read_file", hallucinates.MADE_UP}


def test_after_did_you_mean_it_uses_the_right_name() -> None:  # F4
    corrected = asked("sim-hallucinates", "Read a.txt", 'There is no tool called "readfile". Did you mean "read_file"?')
    assert corrected.calls == (READ,)
    rejection, listing = 'There is no tool called "x".', "The tools you can call are: read_file."
    assert asked("sim-hallucinates", "Read a.txt", f"{rejection} {listing}").calls[0].name == "readfile"
    assert asked("sim-hallucinates", "Read a.txt", f"{rejection} {listing}", rejection).calls == (READ,)


def test_the_result_of_the_right_call_is_answered_from() -> None:
    rejection = 'There is no tool called "readfile". Did you mean "read_file"?'
    assert "q-9931" in asked("sim-hallucinates", "Read a.txt", rejection, "q-9931").content


@pytest.mark.parametrize("results", [(), ("x",), ("x", "y", "You made this call before.")])
def test_the_same_call_whatever_comes_back(results: tuple[str, ...]) -> None:
    assert asked("sim-loops", TWO, *results).calls == (SimulatedCall("list_directory", {"path": "src/"}),)


def test_a_loop_ends_when_no_tools_are_offered() -> None:
    assert "holds 1 entry" in asked("sim-loops", "List src/", "a.txt", tools=()).content


def test_flaky_two_times_out_of_three_and_always_the_same() -> None:
    words = [f"Read a{number}.txt" for number in range(300)]
    called = [bool(asked("sim-flaky", text).calls) for text in words]
    assert 170 < sum(called) < 230
    assert called == [bool(asked("sim-flaky", text).calls) for text in words]
    spoken = asked("sim-flaky", words[called.index(False)])
    assert spoken.content == "Let me use read_file for that."


def test_flaky_finishes_what_it_began() -> None:
    for number in range(9):
        assert "q-9931" in asked("sim-flaky", f"Read a{number}.txt", "q-9931").content
    assert {flaky.works(ModelInput((HistoryMessage("user", str(number)),))) for number in range(9)} == {True, False}


def test_never_two_calls_at_once() -> None:
    assert asked("sim-parallel-less", TWO).calls == (SimulatedCall("list_directory", {"path": "src/"}),)
    assert asked("sim-parallel-less", TWO, "a.txt").calls == (READ,)
    assert "holds 1 entry" in asked("sim-parallel-less", TWO, "a.txt", "x").content


GET = OfferedTool("get_code", "", {"type": "object", "properties": {}})
NUMBERS = {"code": {"type": "string"}, "count": {"type": "integer"}}
NOTE = OfferedTool("record_note", "", {"type": "object", "properties": NUMBERS, "required": ["code"]})
HAND_ON = "Call get_code, then call record_note with the code it returns and count 3"


def test_a_secret_is_handed_on_to_the_next_call() -> None:  # D6
    assert asked("sim-honest", HAND_ON, tools=(GET, NOTE)).calls == (SimulatedCall("get_code", {}),)
    for result in ("zk-81b7", "The code is zk-81b7.", '{"code": "zk-81b7"}', "ok: code=zk-81b7"):
        said = asked("sim-honest", HAND_ON, result, tools=(GET, NOTE))
        assert said.calls == (SimulatedCall("record_note", {"code": "zk-81b7", "count": 3}),), result
    assert "zk-81b7" in asked("sim-honest", HAND_ON, "zk-81b7", "done", tools=(GET, NOTE)).content


def test_two_calls_that_need_nothing_of_each_other_come_at_once() -> None:  # D6
    words = "Call get_code and record_note with code=x and tell me what they return"
    assert len(honest.reply(ModelInput((HistoryMessage("user", words),), (GET, NOTE))).calls) == 2


def test_one_tool_called_twice_at_once() -> None:  # D6
    words = 'Call record_note twice: once with code "a-1" and count 2, and once with code "b-2" and count 5.'
    said = honest.reply(ModelInput((HistoryMessage("user", words),), (GET, NOTE)))
    assert [call.arguments for call in said.calls] == [{"code": "a-1", "count": 2}, {"code": "b-2", "count": 5}]
