"""Any input is parsed as the number of a row or as nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.core.row_ids import row_number


@given(st.integers(0, 10**18 - 1))
def test_numbers_come_back(number: int) -> None:
    assert row_number(str(number)) == number


@every("text", ["", " 1", "-1", "1.0", "0x1", "²", "１", "٣", "1" * 19, "9" * 5000, "one"])
def test_what_is_none_is_nothing(text: str) -> None:
    assert row_number(text) == 0
