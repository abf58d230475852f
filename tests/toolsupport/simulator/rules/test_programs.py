"""Programs that the simulated models write."""

from __future__ import annotations

import contextlib
import io

import pytest

from toolsupport.simulator.quirks import codes, honest
from toolsupport.simulator.rules import programs
from toolsupport.simulator.types import HistoryMessage, ModelInput, OfferedTool

PYTHON = OfferedTool(
    "python_execution", "Run a Python program", {"properties": {"code": {"type": "string"}}, "required": ["code"]}
)
FILES = {"data.csv": "a,b\n1,2\n3,4.5\n", "whole.csv": "b\n2\n3\n"}


def asked(words: str, *results: str, tools: tuple[OfferedTool, ...] = (PYTHON,)) -> ModelInput:
    return ModelInput((HistoryMessage("user", words), *(HistoryMessage("tool", result) for result in results)), tools)


def printed(code: str) -> str:
    """What a program prints, with the tools as functions."""
    into = io.StringIO()
    with contextlib.redirect_stdout(into):
        exec(code, {"read_file": FILES.__getitem__, "write_file": lambda path, content: f"{path}: {content}"})
    return into.getvalue()


@pytest.mark.parametrize(
    ("words", "output"),
    [
        ("Sum column b of data.csv with Python", "6.5\n"),
        ("Use Python to sum the column b of whole.csv.", "5\n"),
        ("Add up `b` in whole.csv using Python", "5\n"),
        ("sum column b of whole.csv", "5\n"),
        ('Write "x" to new.md in Python', "new.md: x\n"),
        ("Show whole.csv with Python", "b\n2\n3\n\n"),
    ],
)
def test_the_program_does_what_was_asked(words: str, output: str) -> None:
    [call] = honest.reply(asked(words)).calls
    assert call.name == "python_execution"
    assert printed(call.arguments["code"]) == output


def test_the_sum_is_told_and_without_the_tool_it_is_said() -> None:
    words = "Sum column b of data.csv with Python"
    assert honest.reply(asked(words, "6.5\n")).content == "The sum of column `b` in `data.csv` is **6.5**."
    alone = honest.reply(asked(words, tools=()))
    assert alone.calls == () and "I cannot run Python here" in alone.content


def test_a_model_that_writes_code_writes_that_program() -> None:
    system = HistoryMessage("system", "Write Python in a fence:\n```python\nprint(6 * 7)\n```")
    said = codes.reply(ModelInput((system, HistoryMessage("user", "Sum column b of data.csv with Python")))).content
    code = said.removeprefix("```python\n").removesuffix("\n```")
    assert printed(code) == "6.5\n"


@pytest.mark.parametrize("words", ["Tell me about Python", "Write a function in Python", "What is 1 + 1 in Python?"])
def test_words_about_python_ask_for_no_program(words: str) -> None:
    assert programs.values(words) is None
    assert honest.reply(asked(words)).calls == ()
