"""Names are cut where people and programs set words apart, and forms of one word become one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.core.tokenize import MOST_CHARACTERS, alike, stem, terms


@every(
    ("text", "words"),
    [
        ("delete_branch", ["delet", "branch"]),
        ("deleteBranch", ["delet", "branch"]),
        ("DELETE-BRANCH", ["delet", "branch"]),
        ("HTTPServerError", ["http", "server", "error"]),
        ("mcp__git__git_log", ["mcp", "git", "git", "log"]),
        ("utf8ToBase64", ["utf", "8", "base", "64"]),
        ("list the files", ["list", "file"]),
        ("directories", ["directory"]),
        ("copied queries", ["copy", "query"]),
        ("running stopped", ["run", "stop"]),
        ("branches and boxes", ["branch", "box"]),
        ("Größe der Straße", ["gröss", "der", "strass"]),
        ("日本語", ["日本語"]),
        ("", []),
        ("the of to", []),
    ],
)
def test_a_name_is_cut_into_its_words(text: str, words: list[str]) -> None:  # T5
    assert terms(text) == words


@pytest.mark.parametrize(("one", "other"), [("files", "file"), ("calls", "calling"), ("creates", "created")])
def test_forms_of_a_word_are_one(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize("word", ["status", "class", "analysis", "is", "bus"])
def test_an_s_that_belongs_to_a_word_stays(word: str) -> None:
    assert stem(word) == word


def test_other_words_for_the_same_are_known() -> None:
    assert {"remov", "eras"} <= set(alike(["delet"]))
    assert "delet" not in alike(["delet"])
    assert alike(["kubernet"]) == []


@given(st.text(max_size=300))
def test_any_text_can_be_cut(text: str) -> None:
    assert all(word for word in terms(text))


def test_a_book_is_cut_only_at_its_beginning() -> None:
    assert len(terms("word " * 1_000_000)) == MOST_CHARACTERS // 5
