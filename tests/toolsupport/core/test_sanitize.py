"""Sanitised texts can be stored in every database and sent over every socket."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsupport.core import sanitize

ANY = st.text(st.characters(codec=None, categories=None))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("plain", "plain"),
        ("a\0b\ud800c😀", "a\ufffdb\ufffdc😀"),
        ("\ud83d\ude00", "😀"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("", ""),
    ],
)
def test_what_nothing_can_keep_is_marked(text: str, kept: str) -> None:
    assert sanitize.text(text) == kept
    assert sanitize.replaced({text: [text, 1, None]}) == {kept: [kept, 1, None]}


@given(ANY)
def test_whatever_is_left_can_be_sent(text: str) -> None:
    kept = sanitize.text(text)
    assert orjson.loads(orjson.dumps(kept)) == kept and "\0" not in kept
    assert sanitize.text(kept) == kept


def test_halves_that_belong_together_are_joined_and_nothing_else_is_changed() -> None:
    assert sanitize.joined({"a": ["\ud83d\ude00", "\ud83d", "\0", 1]}) == {"a": ["😀", "\ud83d", "\0", 1]}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"content": "a\0b"}, "'content' holds a NUL character (U+0000)"),
        ({"edits": [{"new": "\ud83d"}]}, "'edits' holds half of a character (the surrogate U+D83D)"),
        ({"a\0": 1}, "the name of an argument holds a NUL character"),
        ({"limits": [1, float("-inf")]}, "'limits' holds -inf, a number that JSON has not"),
        ({"content": "a\\0b", "n": 1, "x": 0.5}, ""),
    ],
)
def test_a_model_is_told_where_the_character_stands(arguments: dict[str, object], named: str) -> None:
    told = sanitize.complaint(arguments)
    assert named in told and bool(told) is bool(named)
