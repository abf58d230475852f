"""Arithmetic in sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.simulator.rules.arithmetic import expression, work_out


@every(
    ("text", "found", "value"),
    [
        ("What is 17*23?", "17*23", "391"),
        ("what's 17 × 23", "17*23", "391"),
        ("17 times 23", "17*23", "391"),
        ("10 divided by 4", "10/4", "2.5"),
        ("3 plus 4 minus 5", "3+4-5", "2"),
        ("2^10", "2**10", "1024"),
        ("(2+3)*4", "(2+3)*4", "20"),
        ("what is (2+3", "2+3", "5"),
        ("1,000 + 1", "1000+1", "1001"),
        ("-3 * -4", "-3*-4", "12"),
        ("0.1 + 0.2", "0.1+0.2", "0.3"),
        ("7 % 4", "7%4", "3"),
        ("8:2", "8/2", "4"),
        ("On 2026-11-30 at 22:40 I asked for 3 + 4", "3+4", "7"),
    ],
)
def test_finds_and_works_out(text: str, found: str, value: str) -> None:
    assert expression(text) == found
    assert work_out(found) == value


@every(
    "text",
    [
        *("", "no numbers", "42", "file-2024-01-02.txt", "a1*b2", "version 1.2.3"),
        *("What is on my calendar on 2026-11-30?", "It is 22:40.", "From 09:00 to 17:30"),
    ],
)
def test_finds_none_where_there_is_none(text: str) -> None:
    assert expression(text) == ""


@every("text", ["1/0", "9**999", "2**2**99", "(-8)**0.5", "1+", "a", "f(1)", "'a'*9", "1.2.3+1", "1+" * 150 + "1"])
def test_refuses_in_words(text: str) -> None:
    with pytest.raises(ValueError, match=r"^(?:that|nothing|I) "):
        work_out(text)


@given(st.integers(-999, 999), st.sampled_from("+-*"), st.integers(0, 999))
def test_agrees_with_python(left: int, sign: str, right: int) -> None:
    assert work_out(expression(f"what is {left} {sign} {right}?")) == str(eval(f"{left}{sign}{right}"))
