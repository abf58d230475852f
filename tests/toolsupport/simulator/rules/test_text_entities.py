"""Paths, quotations and topics in words."""

from __future__ import annotations

import pytest

from tests.tables import every
from toolsupport.simulator.rules import text_entities


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("Run the tests with bash", "python3 -m unittest discover -v"),
        ("use bash to run my unit tests.", "python3 -m unittest discover -v"),
        ("run `ls | wc -l` with bash", "ls | wc -l"),
        ("Please execute the command date in the shell", "date"),
        ("run make test", "make test"),
        ("read a.txt", ""),
    ],
)
def test_finds_a_command(text: str, command: str) -> None:
    assert text_entities.command(text) == command


@every(
    ("text", "found"),
    [
        ("read a.txt", ["a.txt"]),
        ("read src/app/main.py.", ["src/app/main.py"]),
        ("look at ./x.md and ../y.md", ["./x.md", "../y.md"]),
        ("open 'my notes.txt'", ["my notes.txt"]),
        ("the Makefile", ["Makefile"]),
        ("show .env.local", [".env.local"]),
        ("mail a@b.com", []),
        ("This is it. And more", []),
        ("what is 3.14", []),
    ],
)
def test_finds_files(text: str, found: list[str]) -> None:
    assert text_entities.files(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("what's in this folder?", "."),
        ("list the files in the src directory", "src"),
        ("the folder called docs", "docs"),
        ("list docs/api/", "docs/api/"),
        ("what is in ..", "."),
        ("show `a b` folder", "a b"),
        ("which files are in docs?", "docs"),
    ],
)
def test_finds_the_folder(text: str, found: str) -> None:
    assert text_entities.folder(text) == found


@every(
    ("text", "found"),
    [
        ("tell me the version", "version"),
        ("tell me what the author is", "author"),
        ("give me its license.", "license"),
        ("what is the port in it?", "port"),
        ("tell me the contents", ""),
        ("Which version does config.json name?", "version"),
        ("What does README say?", ""),
        ("hello", ""),
    ],
)
def test_finds_the_topic(text: str, found: str) -> None:
    assert text_entities.topic(text) == found
