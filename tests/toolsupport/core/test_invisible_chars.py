"""Invisible characters are written out as numbers, each unambiguously."""

from __future__ import annotations

import pytest

from toolsupport.core import invisible_chars


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a\u200bb", "a\\u200bb"),
        ("\u200b1", "\\u200b1"),
        ("\U000e0041", "\\U000e0041"),
        ("a\tb\nä 😀", "a\tb\nä 😀"),
        ("", ""),
    ],
)
def test_it_is_written_as_python_does(text: str, read: str) -> None:
    assert invisible_chars.written_out(text) == read
