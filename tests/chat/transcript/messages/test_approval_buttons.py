"""The buttons of an approval name the act of its question, in one term for one meaning."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from chat.sentences import ANSWERED
from chat.tools import BUILTINS
from chat.transcript.messages import call_phrases
from chat.transcript.messages.view_models import ShownQuestion
from chat.transcript.questions.questions import APPROVALS, IN_PROSE
from tests.tables import every

BUTTON = re.compile(r"<(?:button|summary)[^>]*>(.*?)</(?:button|summary)>", re.DOTALL)


def buttons(page: str) -> list[str]:
    """Return the words of each button, without its key."""
    found = (re.sub(r"<kbd.*?</kbd>|<[^>]+>", "", button) for button in BUTTON.findall(page))
    return [" ".join(words.split()) for words in found]


@every(
    ("name", "arguments", "basis", "act", "scope"),
    [
        ("write_file", {"path": "a"}, "no file", "Create", "Create and replace files in this chat"),
        ("write_file", {"path": "a"}, "digest", "Replace", "Replace files in this chat"),
        ("write_file", {"path": "a", "append": True}, "digest", "Add", "Add to and replace files in this chat"),
        ("edit_file", {"path": "a"}, "digest", "Edit", "Edit files in this chat"),
        ("bash", {"command": "ls"}, "", "Run", "Run commands in this chat"),
        ("python_execution", {"code": "1"}, "", "Run", "Run programs in this chat"),
        ("execute_sql", {"query": "SELECT 1"}, "", "Query", "Query databases in this chat"),
        ("search_schemas", {"query": "x"}, "", "Search", "Search tables for phrases in this chat"),
        ("memory_dump", {"text": "x"}, "digest", "Remember", "Change the memory in this chat"),
        ("memory_dump", {"text": " \n"}, "digest", "Forget", "Change the memory in this chat"),
        ("hot_swap", {"prompts": ["x"]}, "", "Use", "Change the prompts in this chat"),
        ("hot_swap", {"prompts": []}, "", "Remove", "Change the prompts in this chat"),
        ("box__draw", {}, "", "Use", "Use draw of box in this chat"),
    ],
)
def test_buttons_name_the_act(name: str, arguments: dict[str, object], basis: str, act: str, scope: str) -> None:
    verb = call_phrases.verb_of(name, arguments, basis)
    assert (call_phrases.act_of(verb), call_phrases.scope_of(name, verb)) == (act, scope)


@given(st.sampled_from([*BUILTINS, "box__draw"]), st.dictionaries(st.text(), st.none() | st.text() | st.booleans()))
def test_an_act_is_one_word_whatever_the_arguments(name: str, arguments: dict[str, object]) -> None:
    assert re.fullmatch("[A-Z][a-z]+", call_phrases.act_of(call_phrases.verb_of(name, arguments)))


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        (
            "approval",
            APPROVALS,
            ["Run once", "Run commands in this chat", "Deny", "Deny with a reason", "Deny with this reason"],
        ),
        ("prose_call", IN_PROSE, ["Run once", "Don’t run", "Don’t run, with a reason", "Don’t run, with this reason"]),
    ],
)
def test_an_approval_refuses_in_one_term(kind: str, options: tuple[str, ...], words: list[str]) -> None:
    question = ShownQuestion(1, kind, "Run this command?", options, scope="Run commands in this chat")
    assert buttons(render_to_string("chat/approval.html", {"question": question})) == words


def test_a_permission_ends_with_the_words_of_a_tool_that_asks() -> None:
    grant = {"tool": "write_file", "path": "notes.md"}
    page = render_to_string("chat/grants.html", {"conversation": {"id": uuid4()}, "grants": [grant]})
    assert buttons(page) == ["Ask every time"] and 'aria-label="Ask every time: write_file for notes.md"' in page


def test_text_mode_has_one_name() -> None:
    question = ShownQuestion(1, "runtime_learning", "m: x?", ("save", "session", "text"))
    found = buttons(render_to_string("chat/learning_question.html", {"question": question}))
    assert found[-1] == "Use text mode" and ANSWERED["text"] == found[-1].lower()
