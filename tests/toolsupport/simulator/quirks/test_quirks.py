"""The models that differ from the honest one."""

from __future__ import annotations

import pytest

from toolsupport.simulator.quirks import dies, honest, long, thinks
from toolsupport.simulator.types import HistoryMessage, ModelInput, OfferedTool, ReplyEnding, tokens

LIST = OfferedTool("list_directory", "", {"type": "object", "properties": {"path": {"type": "string"}}})


def asked(words: str, *tools: OfferedTool, think: bool = False) -> ModelInput:
    return ModelInput((HistoryMessage("user", words),), tools, think)


@pytest.mark.parametrize("words", ["hello", "What is 2+2?", "show me a table"])
def test_dying_always_comes_in_the_middle(words: str) -> None:
    said = dies.reply(asked(words))
    assert said.ending == ReplyEnding.CUT
    assert 0 < said.tokens < len(tokens(said.content))


def test_dying_with_an_error_line_when_asked_for() -> None:
    assert dies.reply(asked("Give me an error in mid-stream")).ending == ReplyEnding.ERROR


def test_long_answers_have_about_600_tokens_and_something_to_render() -> None:
    said = long.reply(asked("hello"))
    assert 550 < len(tokens(said.content)) < 700
    assert all(mark in said.content for mark in ("\n## ", "\n1. ", "\n- ", "```python", "\n\n"))
    assert said.content.startswith(honest.reply(asked("hello")).content)


def test_long_calls_as_the_honest_one_does() -> None:
    assert long.reply(asked("ls", LIST)) == honest.reply(asked("ls", LIST))


def test_thinks_before_it_calls() -> None:
    said = thinks.reply(asked("ls", LIST, think=True))
    assert "I call list_directory" in said.thinking
    assert said.calls == honest.reply(asked("ls", LIST)).calls


def test_does_not_think_when_told_not_to() -> None:
    assert thinks.reply(asked("ls", LIST)) == honest.reply(asked("ls", LIST))


@pytest.mark.parametrize("text", ["", "a", "hello there  world\n\n", "x" * 100, " \n"])
def test_tokens_are_the_text_again(text: str) -> None:
    assert "".join(tokens(text)) == text
