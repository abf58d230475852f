"""The rules of the house for class names: one meaning each, and nouns of the field."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable

import pytest

from tests import house
from tests.house import Source

# Names that a framework looks for.
EXEMPT = {"Meta", "Command", "DatabaseWrapper"}

# A program has no ears, no desk and no memory of what was said; and "who" is no kind of object.
PERSONS = {"anew", "brief", "briefing", "careful", "clerk", "desk", "doorman", "ear", "elsewhere"}
PERSONS |= {"hands", "heard", "hearer", "here", "hosted", "judgement", "known", "knows", "laboratory", "listener"}
PERSONS |= {"looking", "quiet", "remembered", "said", "says", "somebody", "speaker", "subject", "surveyor", "teller"}
PERSONS |= {"told", "wanted", "whoever", "wish", "wishes", "happening"}
DRAWERS = {"base", "common", "data", "helper", "info", "manager", "misc", "object", "thing", "things", "util", "utils"}
NO_NOUN = {"asked", "asking", "done", "ended", "found", "given", "left", "made", "opened", "sent", "shown", "taken"}
NO_NOUN |= {"used", "written"}

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]*|[a-z]+|\d+")


def classes(sources: Iterable[Source]) -> list[tuple[str, str]]:
    """The name and the file of each class; what a framework names is left out."""
    return [
        (node.name, source.path)
        for source in sources
        if "class " in source.text  # the others need not be parsed
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef) and node.name not in EXEMPT
    ]


def shared(sources: Iterable[Source]) -> dict[str, tuple[str, ...]]:
    """The names that more than one class has, with their files."""
    places = defaultdict[str, list[str]](list)
    for name, path in classes(sources):
        places[name].append(path)
    return {name: tuple(sorted(paths)) for name, paths in places.items() if len(paths) > 1}


def odd(name: str) -> bool:
    """Whether a class name holds a word that no class name may hold, or is nothing but a participle."""
    words = [word.lower() for word in WORD.findall(name)]
    return bool((PERSONS | DRAWERS) & {*words}) or (len(words) == 1 and words[0] in NO_NOUN)


def test_a_class_name_means_one_thing() -> None:
    assert shared(house.sources("toolsupport", "chat")) == {}


def test_class_names_are_nouns_of_the_field() -> None:
    assert [f"{path} {name}" for name, path in classes(house.sources("toolsupport", "chat")) if odd(name)] == []


def test_a_name_in_two_files_is_found() -> None:
    first, second = Source("a.py", "class Row: ..."), Source("b.py", "def f():\n    class Row: ...\n")
    command = Source("c.py", "class Command: ...\nclass Cell:\n    class Meta: ...\n")
    assert shared([first, second, command, command]) == {"Row": ("a.py", "b.py"), "Cell": ("c.py", "c.py")}


@pytest.mark.parametrize("name", ["Hands", "TurnHands", "_Told", "PromptTold", "ChatBriefing", "DataRow", "Found"])
def test_an_odd_name_is_found(name: str) -> None:
    assert odd(name)


@pytest.mark.parametrize("name", ["ToolExecutor", "DatabaseSource", "FoundTable", "RequestSpec", "HTTPHandler", "_Row"])
def test_a_plain_name_is_let_through(name: str) -> None:
    assert not odd(name)
