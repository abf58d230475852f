"""Which tables get bars, and how long these are."""

from __future__ import annotations

import pytest

from chat.transcript.messages.bars import fit, lengths, line


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([["Mon", "5"], ["Tue", "20"], ["Wed", "0"]], [25.0, 100.0, 0.0]),
        ([["2025-01", "31"], ["2025-02", "1.5"]], [100.0, 4.8]),
        ([["Mon", "5"]], None),
        ([["Mon", "5"], ["Tue", "-1"]], None),
        ([["Mon", "0"], ["Tue", "0"]], None),
        ([["1", "5"], ["2", "6"]], None),
        ([["Mon", "5"], ["Tue", "many"]], None),
        ([["Mon", "5", "x"], ["Tue", "6", "y"]], None),
        ([["Mon", "nan"], ["Tue", "1e999"]], None),
        ([["Mon", "5"], ["Tue"]], None),
        ([], None),
    ],
)
def test_bars_fit_names_beside_numbers(rows: list[list[str]], expected: list[float] | None) -> None:
    assert lengths(rows) == expected


def test_three_rows_or_more_have_a_line_with_its_sentence() -> None:
    drawn = line(["month", "orders"], [["June", "5"], ["July", "10"], ["May", "0"]])
    assert drawn is not None
    assert drawn.points == "0.0,20.0 50.0,0.0 100.0,40.0"
    assert drawn.text == "orders by month, 3 points: lowest 0 at May, highest 10 at July."
    assert line(["a", "b"], [["x", "1"], ["y", "2"]]) is None
    assert line(["a", "b"], [["x", "1"], ["y", "-2"], ["z", "1"]]) is None


@pytest.mark.parametrize(
    ("result", "drawn"),
    [
        ("month,orders\n2025-01,31\n2025-02,28\n2025-03,36\n\n[3 rows]", True),
        ("month,orders\n2025-01,31\n2025-02,28\n\n[2 rows]", False),
        ("month,orders,sum\n2025-01,31,2\n2025-02,28,3\n2025-03,36,3\n\n[3 rows]", False),
        ("name,orders\nAnn,many\nBob,few\nCy,some\n\n[3 rows]", False),
        ("", False),
        ("[No rows]", False),
    ],
)
def test_a_result_of_names_and_numbers_is_a_chart(result: str, drawn: bool) -> None:
    assert fit(result) is drawn
