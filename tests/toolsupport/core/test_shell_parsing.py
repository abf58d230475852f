"""Words of shell commands, on every version of Python."""

from __future__ import annotations

import pytest

from toolsupport.core import shell_parsing
from toolsupport.core.formats import python_literals


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("a'''", 3),
        ("'b'\"c", 3),
        ('a"0\t$b', 1),
        ('"a\\\n"', None),
        ('"a\\', None),
        ("a\\\n", 1),
        ("é'ü''", 4),
    ],
)
def test_a_word_ends_before_a_quote_that_stays_open(text: str, end: int | None) -> None:
    found = shell_parsing.POSIX.match(text)
    assert (found.end() if found else None) == end


@pytest.mark.parametrize(("text", "end"), [('a"0\t$b', 1), ("a''\"b", 3), ("C:\\a'b", 4), ('"a b"c', 6)])
def test_a_windows_word_ends_there_too(text: str, end: int) -> None:
    found = shell_parsing.WINDOWS.match(text)
    assert found is not None and found.end() == end


@pytest.mark.parametrize(("text", "end"), [("0_;", 1), ("1_000_", 5), ("-1_0__1", 4), ("12", 2)])
def test_an_integer_ends_before_a_line_without_a_digit(text: str, end: int) -> None:
    found = python_literals.INTEGER.match(text)
    assert found is not None and found.end() == end
