"""JSON that two readers would understand differently is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.processor_time import must_cost_at_most
from tests.tables import every
from toolsupport.core.strict_json import OversizedJson, read, too_many

REFUSED = [
    *("", "{", "nonsense", "{'a': 1}", "[1,]", "01", "NaN", "Infinity", "-Infinity", "1e999", "-1e999"),
    *("1" + "0" * 400, "-1" + "0" * 400, "1" + "0" * 5000, "18446744073709551616", "-9223372036854775809"),
    *('{"a": 1, "a": 1}', '[{"b": {"a": 1, "c": 2, "a": 3}}]', '{"a": 1, "\\u0061": 2}', '{"": 1, "": 2}'),
    *(
        '"\\ud800"',
        '"\\udc00\\ud800"',
        '{"\\ud83d": 1}',
        '"\x01"',
        "[" * 2000 + "]" * 2000,
        '{"a":' * 2000 + "1" + "}" * 2000,
    ),
]


@every("text", REFUSED)
def test_it_is_refused_as_text_and_as_bytes(text: str) -> None:
    for given_as in (text, text.encode()):
        with pytest.raises(ValueError, match=r"\S"):
            read(given_as)


@pytest.mark.parametrize("data", [b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf{}", '{"a": 1}'.encode("utf-16")])
def test_bytes_are_utf_8(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        read(data)


@pytest.mark.parametrize("number", [0, -1, 2**64 - 1, -(2**63), 2**53 + 1])
def test_a_number_of_64_bits_is_exact(number: int) -> None:
    assert read(f'{{"n": {number}}}') == {"n": number}


def test_a_wider_number_is_read_as_wanted() -> None:
    assert read("[18446744073709551616, 1]", wide=float) == [2.0**64, 1]
    with pytest.raises(ValueError, match=r"\S"):
        read("1" + "0" * 400, wide=float)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_written_is_read_again(value: Any) -> None:
    assert read(json.dumps(value)) == value
    assert read(json.dumps(value, ensure_ascii=False).encode()) == value


MANY = 650_000


@pytest.mark.parametrize(
    "data",
    [b"[" + b"[]," * MANY + b"1]", b"[" + b"1," * MANY + b"1]", b'{"a": [' + b'{"b": {}},' * MANY + b"1]}"],
    ids=["lists", "numbers", "objects"],
)
def test_too_many_parts_are_not_read(data: bytes) -> None:  # S1
    for given_as in (data, data.decode()):
        with pytest.raises(OversizedJson, match="more than 200,000 objects and lists, or more than 600,000 values"):
            read(given_as)


def test_marks_within_strings_are_no_parts() -> None:
    value = {"code": "{a[0], b};" * MANY, 'a "key" {': ['x\\", {[', "\\"] * 1000}
    assert read(json.dumps(value)) == value


@pytest.mark.parametrize("data", [b'"' + b'\\"' * 2_000_000, b'"{' * 2_000_000, b'"' + b'\\"{[' * 1_500_000 + b"\\"])
def test_strings_without_an_end_take_no_longer(data: bytes) -> None:  # S1
    with must_cost_at_most(2):
        too_many(data)
