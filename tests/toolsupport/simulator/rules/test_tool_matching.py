"""Which offered tool serves an intent."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tables import every
from toolsupport.simulator.rules.intents import Intent, IntentKind, understand
from toolsupport.simulator.rules.tool_matching import find
from toolsupport.simulator.types import OfferedTool


def tool(name: str, description: str = "", *parameters: str) -> OfferedTool:
    schemas: dict[str, Any] = {name: {"type": "string"} for name in parameters}
    return OfferedTool(name, description, {"type": "object", "properties": schemas, "required": [*parameters]})


LIST = tool("list_directory", "", "path")
READ = tool("read_file", "", "path")
WRITE = tool("write_file", "", "path", "content")
EDIT = tool("edit_file", "", "path", "old", "new")
BASH = tool("bash", "", "command")
ALL = [BASH, EDIT, WRITE, READ, LIST]

ASKED = {
    "What's in this folder?": LIST,
    "Read a.txt": READ,
    "Write hi to a.txt": WRITE,
    "replace a with b in c.txt": EDIT,
    "run `ls`": BASH,
}


@pytest.mark.parametrize("words", ASKED)
def test_each_wish_finds_its_tool_among_all(words: str) -> None:
    found = find(understand(words)[0], ALL)
    assert found and found[0] is ASKED[words]


@every(
    ("words", "other"),
    [
        ("What's in this folder?", tool("ls", "Lists the entries of a folder", "directory")),
        ("What's in this folder?", tool("browseFolder", "", "dirname")),
        ("What's in this folder?", tool("fs1", "Show the files in a folder.", "path")),
        ("Read a.txt", tool("openDocument", "Returns the contents of a file", "filename")),
        ("Read a.txt", tool("cat", "Shows the text of a file", "file_path")),
        ("Write hi to a.txt", tool("save_document", "Stores text in a file", "filename", "text")),
        ("run `ls`", tool("terminal", "Executes a shell command", "cmd")),
        ("What is 2+2?", tool("calculator", "", "expression")),
    ],
)
def test_a_tool_is_known_by_what_it_says_and_takes(words: str, other: OfferedTool) -> None:
    found = find(understand(words)[0], [tool("unrelated", "Sends a letter", "address"), other])
    assert found and found[0] is other


def test_only_the_purpose_of_a_tool_counts() -> None:
    """Long descriptions name other work too, after their first sentence."""
    about = "Use this only in a worktree. Lists worktrees and shows their folders and files."
    aside = tool("EnterWorktree", about, "name")
    found = find(understand("List the files in this folder")[0], [aside, BASH])
    assert found and found[0] is BASH


def test_a_shell_serves_where_nothing_else_does() -> None:
    found = find(understand("Read `it's.txt`")[0], [BASH])
    assert found and found[1]["command"] == "cat 'it'\"'\"'s.txt'"
    found = find(understand("What's in this folder?")[0], [BASH])
    assert found and found[1]["command"] == "ls ."


@pytest.mark.parametrize("words", ["hello", "Show me a table", "What is love?", "Who are you?", "What is 2+2?"])
def test_what_needs_no_tool_finds_none(words: str) -> None:
    assert find(understand(words)[0], ALL) is None


def test_a_telling_word_in_the_name_is_enough() -> None:
    weather = tool("get_weather", "", "city")
    assert find(Intent(IntentKind.UNKNOWN, "How is the weather?"), [LIST, weather]) == (
        weather,
        Intent(IntentKind.UNKNOWN, "How is the weather?"),
    )
    assert find(Intent(IntentKind.UNKNOWN, "Can you get me a pony?"), [weather]) is None


def test_nothing_is_found_among_nothing() -> None:
    assert all(find(understand(words)[0], []) is None for words in ASKED)
