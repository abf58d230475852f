"""Values that leave a program are JSON, and never too large."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.tools.sandbox.json_values import CHARACTERS, LARGEST, UnsupportedValue, plain, readable_copy

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=20) | st.dates()
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers() | st.none(), inner, max_size=5)
    ),
    max_leaves=30,
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-LARGEST, LARGEST)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.just("key") | st.just("other"), inner),
    max_leaves=30,
)


@given(ANYTHING)
def test_what_comes_out_can_be_written_and_read_again(value: object) -> None:
    try:
        found = plain(value)
    except UnsupportedValue:
        return
    written = json.dumps(found, allow_nan=False, ensure_ascii=False).encode()
    assert json.loads(written) == found and b"\\u0000" not in written


@given(ANYTHING)
def test_everything_can_be_told(value: object) -> None:
    assert json.dumps(readable_copy(value), allow_nan=False, ensure_ascii=False).encode()


@given(JSON)
def test_json_stays_what_it_is(value: object) -> None:
    assert plain(value) == value


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def shared(levels: int) -> list[Any]:
    """A list of a few parts that has 2 ** levels of them when it is written out."""
    value: list[Any] = [1]
    for _ in range(levels):
        value = [value, value]
    return value


def endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (deep(5000), "nested"),
        (shared(60), "parts"),
        (endless(), "nested"),
        (["x" * CHARACTERS, "x"], "characters"),
        ({"x" * CHARACTERS: "x"}, "characters"),
    ],
    ids=["deep", "shared", "endless", "long", "long keys"],
)
def test_too_much_is_refused_and_not_walked_through(value: object, words: str) -> None:
    for copy in (plain, readable_copy):
        with pytest.raises(UnsupportedValue, match=words):
            copy(value)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({1}, [1]),
        (b"ab", "b'ab'"),
        (date(2025, 3, 1), "2025-03-01"),
        (float("inf"), "inf"),
        (2**64, str(2**64)),
        (10**5000, "a number of 16,610 bits"),
        ({1: "a", None: "b", (2, 3): "c"}, {"1": "a", "None": "b", "[2, 3]": "c"}),
    ],
    ids=["set", "bytes", "date", "infinity", "65 bits", "too long for Python", "keys"],
)
def test_what_is_no_json_is_told_but_does_not_travel(value: object, shown: object) -> None:
    assert readable_copy(value) == shown
    with pytest.raises(UnsupportedValue):
        plain(value)


@pytest.mark.parametrize("value", ["a\0b", "\ud800", ["\0"], {"\0": 1}])
def test_what_cannot_be_kept_is_no_argument_and_never_replaced(value: object) -> None:
    with pytest.raises(UnsupportedValue, match=r"cannot be stored|JSON"):
        plain(value)
