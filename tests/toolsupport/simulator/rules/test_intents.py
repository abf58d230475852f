"""The intents that are recognised in a person's words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.processor_time import must_cost_at_most
from tests.tables import every
from toolsupport.simulator.rules.intents import LONGEST, IntentKind, clauses, understand

ONE: list[tuple[str, IntentKind, dict[str, str]]] = [
    ("What's in this folder?", IntentKind.LIST, {"path": "."}),
    ("what is in this directory", IntentKind.LIST, {"path": "."}),
    ("list files", IntentKind.LIST, {"path": "."}),
    ("List all the files in the current directory.", IntentKind.LIST, {"path": "."}),
    ("ls", IntentKind.LIST, {"path": "."}),
    ("ls -la src", IntentKind.LIST, {"path": "src"}),
    ("show me the directory", IntentKind.LIST, {"path": "."}),
    ("which files are here?", IntentKind.LIST, {"path": "."}),
    ("what's in the docs folder?", IntentKind.LIST, {"path": "docs"}),
    ("list src/", IntentKind.LIST, {"path": "src/"}),
    ("can you see what's in /tmp?", IntentKind.LIST, {"path": "/tmp"}),
    ("Read config.json and tell me the version", IntentKind.READ, {"path": "config.json", "topic": "version"}),
    ("What is the version in pyproject.toml?", IntentKind.READ, {"path": "pyproject.toml", "topic": "version"}),
    ("open README", IntentKind.READ, {"path": "README", "topic": ""}),
    ("show me `my file.txt`", IntentKind.READ, {"path": "my file.txt", "topic": ""}),
    ("what's in src/app.py?", IntentKind.READ, {"path": "src/app.py", "topic": ""}),
    ("write hello to notes.md", IntentKind.WRITE, {"path": "notes.md", "content": "hello"}),
    ("Write 'this and that' to notes.md", IntentKind.WRITE, {"path": "notes.md", "content": "this and that"}),
    ("create notes.md with the text good day", IntentKind.WRITE, {"path": "notes.md", "content": "good day"}),
    ("replace foo with bar in a.txt", IntentKind.EDIT, {"path": "a.txt", "old": "foo", "new": "bar"}),
    ("Remember that I like tea.", IntentKind.REMEMBER, {"content": "I like tea."}),
    ("please don't forget: the key is under the mat", IntentKind.REMEMBER, {"content": "the key is under the mat"}),
    ("run `ls -l`", IntentKind.RUN, {"command": "ls -l"}),
    ("Please run git status.", IntentKind.RUN, {"command": "git status"}),
    ("What is 17*23?", IntentKind.COMPUTE, {"expression": "17*23"}),
    ("17 times 23", IntentKind.COMPUTE, {"expression": "17*23"}),
    ("show me a table", IntentKind.TABLE, {}),
    ("Planets as a table, please", IntentKind.TABLE, {}),
    ("Book a table for four at Chez Anna on 2026-12-05 at 19:30.", IntentKind.UNKNOWN, {}),
    ("Is there a table for two?", IntentKind.UNKNOWN, {}),
    ("Which rows in the table orders are open?", IntentKind.UNKNOWN, {}),
    ("write some Python code", IntentKind.CODE, {}),
    ("Tell me a long story", IntentKind.LONG, {}),
    ("Who are you?", IntentKind.ABOUT, {}),
    ("hello", IntentKind.GREET, {}),
    ("Good morning!", IntentKind.GREET, {}),
    ("Thank you", IntentKind.THANKS, {}),
    ("What is love?", IntentKind.UNKNOWN, {}),
    ("", IntentKind.UNKNOWN, {}),
]


@every(("text", "kind", "values"), ONE)
def test_understands_one_wish(text: str, kind: IntentKind, values: dict[str, Any]) -> None:
    assert [(intent.kind, intent.values) for intent in understand(text)] == [(kind, values)]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("What's in this folder? Then read config.json", [IntentKind.LIST, IntentKind.READ]),
        ("Read a.txt and b.txt", [IntentKind.READ, IntentKind.READ]),
        ("Write hi to a.txt and then read a.txt", [IntentKind.WRITE, IntentKind.READ]),
        ("List this folder and what is 2+2?", [IntentKind.LIST, IntentKind.COMPUTE]),
        ("Hi! What's in this folder?", [IntentKind.LIST]),
        ("What's in this folder? Thanks!", [IntentKind.LIST]),
    ],
)
def test_understands_several_at_once(text: str, kinds: list[IntentKind]) -> None:
    assert [intent.kind for intent in understand(text)] == kinds


def test_the_second_path_is_the_second_wish() -> None:
    assert [intent["path"] for intent in understand("Read a.txt and b.txt")] == ["a.txt", "b.txt"]


def test_quotations_are_never_parted() -> None:
    assert clauses("write 'a; then read b' to c.txt; read d.txt") == ["write 'a; then read b' to c.txt", "read d.txt"]


NAMES = ["get_weather", "record"]


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("Call get_weather for Paris", ["get_weather"]),
        ("Please use the tool `record` with code=1", ["record"]),
        ("Call record, then call get_weather", ["record", "get_weather"]),
        ("Do not call get_weather. Hello!", []),
        ("Hello without using record", []),
        ("I keep a record of it", []),
        ("call get_weather_now", []),
    ],
)
def test_a_tool_may_be_named_outright(text: str, called: list[str]) -> None:
    assert [intent["tool"] for intent in understand(text, NAMES) if intent.kind == IntentKind.CALL] == called


@given(st.text(max_size=300))
def test_any_words_are_a_wish(text: str) -> None:
    assert understand(text, NAMES)


REPEATED = [
    "a/",
    ".",
    "-",
    "(",
    "1+",
    "read ",
    "tell me the ",
    "in the ",
    "`",
    "' ",
    " ",
    "\n",
    "a\n",
    "? ",
    "call record ",
]


@every("piece", REPEATED)
def test_no_words_take_long(piece: str) -> None:
    # What backtracks takes the better part of a minute, what does not a few milliseconds.
    with must_cost_at_most(15):
        understand(piece * LONGEST, NAMES)
