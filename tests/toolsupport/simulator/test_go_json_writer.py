"""JSON as Go writes it; the first line was printed by Go itself."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsupport.simulator import go_json_writer


def test_escapes_as_go_does() -> None:
    value = {"z": 1, "a": "<b>&\u2028\x01\x08\t\x7f", "é": 1.0, "i": 100000000.0}
    written = '{"a":"\\u003cb\\u003e\\u0026\\u2028\\u0001\\b\\t\x7f","i":100000000,"z":1,"é":1}'
    assert go_json_writer.text(go_json_writer.as_map(value)) == written


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_735_689_600_000_000_000, "2025-01-01T00:00:00Z"),
        (1_735_689_600_500_000_000, "2025-01-01T00:00:00.5Z"),
        (1_735_689_600_000_000_001, "2025-01-01T00:00:00.000000001Z"),
    ],
)
def test_moments_lose_their_trailing_zeros(nanoseconds: int, text: str) -> None:
    assert go_json_writer.timestamp(nanoseconds) == text


def test_half_a_surrogate_pair_does_not_break_the_line() -> None:
    assert go_json_writer.encode("a\ud800b") == b'"a?b"'


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.dictionaries(st.text(), x), max_leaves=10
    )
)
def test_what_is_written_reads_back_the_same(value: Any) -> None:
    assert json.loads(go_json_writer.text(go_json_writer.as_map(value))) == value
